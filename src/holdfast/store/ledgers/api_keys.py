"""The keys of a server of this memory."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.model.keys import ApiKey
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import Table

_KEY = Table("api_key", ApiKey, "id")


class ApiKeys(Subject):
    """Adds, lists and revokes keys, and records when they were used."""

    def all(self) -> list[ApiKey]:
        """Every key that was ever made, revoked ones included, the oldest first."""
        return _KEY.find(self._db, None, "ORDER BY created, id")

    def add(self, key: ApiKey) -> None:
        """Store a new key."""
        _KEY.add(self._db, [key])

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
