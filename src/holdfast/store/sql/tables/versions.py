"""The versions of rules and prompts that derived rows were made with."""

from __future__ import annotations

from holdfast.store.protocol.progress import OutdatedSession
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import upsert

_OLDER = (
    "FROM session AS s LEFT JOIN session_derivation ON session_derivation.bank = s.bank AND "
    "session_derivation.session = s.id "
    "WHERE coalesce(session_derivation.rules_version, 0) < ?"
)
_HAS_SUMMARY = (
    "EXISTS (SELECT 1 FROM model_summary AS m WHERE m.bank = r.bank AND m.record = r.id "
    "AND m.{which})"
)
_HAS_OLDER_SUMMARY = _HAS_SUMMARY.format(which="content <> '' AND m.version < ?")
_HAS_CURRENT_SUMMARY = _HAS_SUMMARY.format(which="last_seq >= {last} AND m.version >= ?")
_LAST_SEQ = "(SELECT max(last_seq) FROM exchange WHERE bank = r.bank AND session = r.session)"


class DerivationVersions(StatementRunner):
    """Finds what was made with older versions."""

    def derived_version(self, bank: str, session: str) -> int:
        row = self._one(
            "SELECT rules_version FROM session_derivation WHERE bank = ? AND session = ?",
            bank,
            session,
        )
        return int(row[0]) if row else 0

    def set_derived_version(self, bank: str, session: str, version: int) -> None:
        self._run(
            upsert("session_derivation", "bank, session, rules_version", "bank, session"),
            bank,
            session,
            version,
        )

    def outdated_sessions(self, rules: int, limit: int = 100) -> list[OutdatedSession]:
        found = self._all(
            f"SELECT s.bank, s.id {_OLDER} ORDER BY s.ended DESC, s.id, s.bank LIMIT ?",
            *(rules, limit),
        )
        return [OutdatedSession(*row) for row in found]

    def count_outdated_sessions(self, rules: int) -> int:
        row = self._one(f"SELECT count(*) {_OLDER}", rules)
        return int(row[0]) if row else 0

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[OutdatedSession]:
        found = self._all(
            "SELECT bank, id FROM session AS s WHERE EXISTS (SELECT 1 FROM exchange AS r "
            "WHERE r.bank = s.bank AND r.session = s.id AND r.status <> 'verified' "
            f"AND r.author <> '' AND NOT {_HAS_CURRENT_SUMMARY.format(last='r.last_seq')}) "
            "OR EXISTS (SELECT 1 FROM digest AS r WHERE r.bank = s.bank AND r.session = s.id "
            f"AND {_HAS_OLDER_SUMMARY} AND NOT {_HAS_CURRENT_SUMMARY.format(last=_LAST_SEQ)}) "
            "ORDER BY ended DESC, id, bank LIMIT ?",
            *(prompts, prompts, prompts, limit),
        )
        return [OutdatedSession(*row) for row in found]
