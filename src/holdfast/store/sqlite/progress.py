"""What changed and how far each stage has come, in SQLite."""

from __future__ import annotations

from holdfast.store.protocol.progress import Change
from holdfast.store.sqlite.asking import Asking

_UNSEEN = (
    "changed.number > coalesce((SELECT number FROM reached WHERE reached.bank = changed.bank "
    "AND stage = ? AND version = ?), 0)"
)


class ProgressWays(Asking):
    """The work lists of stages."""

    def changes(self, bank: str, stage: str, version: int, limit: int = 1000) -> list[Change]:
        found = self._all(
            f"SELECT number, session FROM changed WHERE {_UNSEEN} AND bank = ? "
            "ORDER BY number LIMIT ?",
            *(stage, version, bank, limit),
        )
        return [Change(*row) for row in found]

    def banks_behind(self, stage: str, version: int) -> list[str]:
        found = self._all(
            f"SELECT DISTINCT bank FROM changed WHERE {_UNSEEN} ORDER BY bank", stage, version
        )
        return [bank for (bank,) in found]

    def reach(self, bank: str, stage: str, version: int, number: int) -> None:
        self._run(
            "INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?)", bank, stage, version, number
        )

    def has_reached(self, bank: str, stage: str) -> bool:
        return bool(self._one("SELECT 1 FROM reached WHERE bank = ? AND stage = ?", bank, stage))

    def note_change(self, bank: str, session: str) -> None:
        self._run("INSERT OR REPLACE INTO changed (bank, session) VALUES (?, ?)", bank, session)
