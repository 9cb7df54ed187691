"""Which sessions changed, and how far each stage has processed the changes."""

from __future__ import annotations

from holdfast.store.protocol.progress import SessionChange
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import insert, upsert

_UNSEEN = (
    "session_change.number > coalesce((SELECT number FROM stage_progress WHERE "
    "stage_progress.bank = session_change.bank "
    "AND stage = ? AND version = ?), 0)"
)


class StageProgress(StatementRunner):
    """The work lists of stages."""

    def unseen_changes(
        self, bank: str, stage: str, version: int, limit: int = 1000
    ) -> list[SessionChange]:
        found = self._all(
            f"SELECT number, session FROM session_change WHERE {_UNSEEN} AND bank = ? "
            "ORDER BY number LIMIT ?",
            *(stage, version, bank, limit),
        )
        return [SessionChange(*row) for row in found]

    def banks_behind(self, stage: str, version: int) -> list[str]:
        found = self._all(
            f"SELECT DISTINCT bank FROM session_change WHERE {_UNSEEN} ORDER BY bank",
            stage,
            version,
        )
        return [bank for (bank,) in found]

    def mark_seen(self, bank: str, stage: str, version: int, number: int) -> None:
        self._run(
            upsert("stage_progress", "bank, stage, version, number", "bank, stage"),
            bank,
            stage,
            version,
            number,
        )

    def has_progress(self, bank: str, stage: str) -> bool:
        return bool(
            self._one("SELECT 1 FROM stage_progress WHERE bank = ? AND stage = ?", bank, stage)
        )

    def mark_changed(self, bank: str, session: str) -> None:
        # As a new row, which has a higher number than every other.
        self._run("DELETE FROM session_change WHERE bank = ? AND session = ?", bank, session)
        self._run(insert("session_change", "bank, session"), bank, session)
