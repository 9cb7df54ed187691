"""The keys of a server of this memory."""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.model.keys import ApiKey
from holdfast.principal import Level
from holdfast.store.sql.runner import StatementRunner

_KEY = "id, name, salt, hash, banks, level, created, expires, revoked, used"


class ApiKeys(StatementRunner):
    """Adds, lists and revokes keys, and notes when they were used."""

    def api_keys(self) -> list[ApiKey]:
        found = self._all(f"SELECT {_KEY} FROM api_key ORDER BY created, id")
        return [_key(row) for row in found]

    def add_key(self, key: ApiKey) -> None:
        banks = json.dumps(key.banks)
        values = (*key[:4], banks, key.level.value, *key[6:])
        self._run(f"INSERT INTO api_key ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *values)

    def revoke_key(self, id: str, time: str) -> bool:
        done = self._run("UPDATE api_key SET revoked = ? WHERE id = ? AND revoked = ''", time, id)
        return done > 0

    def record_key_uses(self, times: Mapping[str, str]) -> None:
        for id, time in sorted(times.items()):
            self._run("UPDATE api_key SET used = ? WHERE id = ? AND used < ?", time, id, time)


def _key(row: tuple[object, ...]) -> ApiKey:
    id, name, salt, hash, banks, level, *times = map(str, row)
    seen: list[str] | None = json.loads(banks)
    known = None if seen is None else tuple(seen)
    return ApiKey(id, name, salt, hash, known, Level(level), *times)
