"""Which sessions changed, how far each stage has processed the changes, and the versions of rules
and prompts that derived rows were made with."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import insert, upsert


class SessionChange(NamedTuple):
    """A session whose derived rows changed, or that was removed; a later change has a higher
    number."""

    number: int
    session: str


class OutdatedSession(NamedTuple):
    """A session with something that an older version made."""

    bank: str
    session: str


_UNSEEN = (
    "session_change.number > coalesce((SELECT number FROM stage_progress WHERE "
    "stage_progress.bank = session_change.bank "
    "AND stage = ? AND version = ?), 0)"
)

# In place of a session: only vectors of the bank have changed.
_VECTORS = ":vectors"

_OLDER = (
    "FROM session AS s LEFT JOIN session_derivation ON session_derivation.bank = s.bank AND "
    "session_derivation.session = s.id "
    "WHERE coalesce(session_derivation.rules_version, 0) < ?"
)

_HAS_SUMMARY = (
    "EXISTS (SELECT 1 FROM model_summary AS m WHERE m.bank = r.bank AND m.record = r.id "
    "AND m.kind IN ('exchange', 'digest') AND m.{which})"
)

_HAS_OLDER_SUMMARY = _HAS_SUMMARY.format(which="content <> '' AND m.version < ?")

_HAS_CURRENT_SUMMARY = _HAS_SUMMARY.format(which="last_seq >= {last} AND m.version >= ?")

_LAST_SEQ = "(SELECT max(last_seq) FROM exchange WHERE bank = r.bank AND session = r.session)"


def _left_out(vectors: bool) -> str:
    """The name in place of a session whose changes are left out; one that nothing has for none."""
    return ":none" if vectors else _VECTORS


class StageProgress(Subject):
    """The work lists of stages."""

    def unseen_changes(
        self, bank: str, stage: str, version: int, limit: int = 1000, vectors: bool = False
    ) -> list[SessionChange]:
        """The changes of a bank that this version of a stage has not seen, oldest first; with
        `vectors` also that vectors have changed."""
        found = self._db.all(
            f"SELECT number, session FROM session_change WHERE {_UNSEEN} AND bank = ? "
            "AND session <> ? ORDER BY number LIMIT ?",
            (stage, version, bank, _left_out(vectors), limit),
        )
        return [SessionChange(*row) for row in found]

    def banks_behind(self, stage: str, version: int, vectors: bool = False) -> list[str]:
        """The banks with changes that this version of a stage has not seen; with `vectors` also
        those of which only vectors have changed."""
        found = self._db.all(
            f"SELECT DISTINCT bank FROM session_change WHERE {_UNSEEN} AND session <> ? "
            "ORDER BY bank",
            (stage, version, _left_out(vectors)),
        )
        return [bank for (bank,) in found]

    def revision(self, bank: str) -> int:
        """A number that grows with every change of a bank but of its vectors; 0 where there was
        none. Hooks read it, too: `bank_revision` in answer.py."""
        row = self._db.one(
            "SELECT max(number) FROM session_change WHERE bank = ? AND session <> ?",
            (bank, _VECTORS),
        )
        return row[0] or 0 if row else 0

    def mark_seen(self, bank: str, stage: str, version: int, number: int) -> None:
        """This version of a stage has seen everything up to a number; to be called in the
        transaction that writes its results."""
        self._db.run(
            upsert("stage_progress", "bank, stage, version, number", "bank, stage"),
            (bank, stage, version, number),
        )

    def has_progress(self, bank: str, stage: str) -> bool:
        """Whether a stage, in any version, has seen anything of a bank."""
        return bool(
            self._db.one("SELECT 1 FROM stage_progress WHERE bank = ? AND stage = ?", (bank, stage))
        )

    def mark_changed(self, bank: str, session: str) -> None:
        """The derived rows of a session, or with "" of the rest of the bank, have changed."""
        # As a new row, which has a higher number than every other.
        self._db.run("DELETE FROM session_change WHERE bank = ? AND session = ?", (bank, session))
        self._db.run(insert("session_change", "bank, session"), (bank, session))

    def mark_vectors_changed(self, bank: str) -> None:
        """Vectors of a bank have changed, and nothing else."""
        self.mark_changed(bank, _VECTORS)


class DerivationVersions(Subject):
    """Finds what was made with older versions."""

    def of_session(self, bank: str, session: str) -> int:
        """The version of the rules that made a session's derived rows."""
        row = self._db.one(
            "SELECT rules_version FROM session_derivation WHERE bank = ? AND session = ?",
            (bank, session),
        )
        return int(row[0]) if row else 0

    def record(self, bank: str, session: str, version: int) -> None:
        """All derived rows of a session are of this version; to be called in the transaction that
        writes them."""
        self._db.run(
            upsert("session_derivation", "bank, session, rules_version", "bank, session"),
            (bank, session, version),
        )

    def outdated_sessions(self, rules: int, limit: int = 100) -> list[OutdatedSession]:
        """Sessions whose derived rows were made by older rules, the latest first."""
        found = self._db.all(
            f"SELECT s.bank, s.id {_OLDER} ORDER BY s.ended DESC, s.id, s.bank LIMIT ?",
            (rules, limit),
        )
        return [OutdatedSession(*row) for row in found]

    def count_outdated_sessions(self, rules: int) -> int:
        """How many there are."""
        row = self._db.one(f"SELECT count(*) {_OLDER}", (rules,))
        return int(row[0]) if row else 0

    def outdated_summaries(self, prompts: int, limit: int = 100_000) -> list[OutdatedSession]:
        """Sessions with a summary or a digest that a model made with an older prompt and was not
        asked for again; the latest first. Records that a person corrected are left out."""
        found = self._db.all(
            "SELECT bank, id FROM session AS s WHERE EXISTS (SELECT 1 FROM exchange AS r "
            "WHERE r.bank = s.bank AND r.session = s.id AND r.status <> 'verified' "
            f"AND r.author <> '' AND NOT {_HAS_CURRENT_SUMMARY.format(last='r.last_seq')}) "
            "OR EXISTS (SELECT 1 FROM digest AS r WHERE r.bank = s.bank AND r.session = s.id "
            f"AND {_HAS_OLDER_SUMMARY} AND NOT {_HAS_CURRENT_SUMMARY.format(last=_LAST_SEQ)}) "
            "ORDER BY ended DESC, id, bank LIMIT ?",
            (prompts, prompts, prompts, limit),
        )
        return [OutdatedSession(*row) for row in found]
