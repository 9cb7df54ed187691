"""The keys of a server of this memory."""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.model.keys import ApiKey
from holdfast.principal import Level
from holdfast.store.sql.database import Database

_KEY = "id, name, salt, hash, banks, level, created, expires, revoked, used"


def _key(row: tuple[object, ...]) -> ApiKey:
    id, name, salt, hash, banks, level, *times = map(str, row)
    seen: list[str] | None = json.loads(banks)
    known = None if seen is None else tuple(seen)
    return ApiKey(id, name, salt, hash, known, Level(level), *times)


class ApiKeys:
    """Adds, lists and revokes keys, and records when they were used."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self) -> list[ApiKey]:
        """Every key that was ever made, revoked ones included, the oldest first."""
        found = self._db.all(f"SELECT {_KEY} FROM api_key ORDER BY created, id")
        return [_key(row) for row in found]

    def add(self, key: ApiKey) -> None:
        """Store a new key."""
        banks = json.dumps(key.banks)
        values = (*key[:4], banks, key.level.value, *key[6:])
        self._db.run(f"INSERT INTO api_key ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def revoke(self, id: str, time: str) -> bool:
        """Revoke a key; False if there is none, or it is revoked already."""
        done = self._db.run(
            "UPDATE api_key SET revoked = ? WHERE id = ? AND revoked = ''", (time, id)
        )
        return done > 0

    def record_uses(self, times: Mapping[str, str]) -> None:
        """Record when keys, by id, were last used; an earlier time than the known one changes
        nothing."""
        for id, time in sorted(times.items()):
            self._db.run("UPDATE api_key SET used = ? WHERE id = ? AND used < ?", (time, id, time))
