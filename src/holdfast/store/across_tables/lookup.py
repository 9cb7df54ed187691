"""Finding a record of any kind by its id, its labels, and counting all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.corrections import corrected_commit, corrected_memory
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Memory
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, Turn
from holdfast.model.team import Commit
from holdfast.store.knowledge.concepts import Concepts
from holdfast.store.knowledge.facts import CLAIM, FACT
from holdfast.store.knowledge.memories import MEMORY, with_closings
from holdfast.store.knowledge.rules import PATTERN, RULE
from holdfast.store.records.curation import Curations
from holdfast.store.records.sessions import DIGEST, SAID, SESSION
from holdfast.store.records.turns import TURN, corrected_turns
from holdfast.store.sql import labels, rows
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import COMMIT, EXCHANGE, Table

if TYPE_CHECKING:
    from holdfast.model.forge import Issue, Pull, Remark
    from holdfast.model.graph import Entity
    from holdfast.model.imports import ImportedRecord
    from holdfast.model.knowledge import Claim, Concept, Fact, Pattern, Rule
    from holdfast.model.records import Digest, Session
    from holdfast.model.team import SharedRecord
    from holdfast.store.records.forge import ForgeRecords

    _Known = Memory | Concept | Fact | Claim | Entity | Rule | Pattern
    _FromOthers = Pull | Issue | Remark | SharedRecord | ImportedRecord
    Record = Turn | Exchange | Digest | Session | Commit | _FromOthers | _Known
else:
    # Nothing evaluates annotations, so nothing is imported for the classes that few recalls find.
    Record = object

_TABLES: dict[str, Table[Any]] = {
    "turn": TURN,
    "digest": DIGEST,
    "session": SESSION,
    "memory": MEMORY,
    "rule": RULE,
    "pattern": PATTERN,
    "exchange": EXCHANGE,
    "commit": COMMIT,
    "fact": FACT,
    "claim": CLAIM,
}
_OF_FORGES = ("pull", "issue", "remark")
# All kinds, in the order in which records of equal ids are returned. The modules of those that are
# not above are imported when they are looked for: most recalls find none of them.
_KINDS = (
    "turn", "exchange", "digest", "session", "commit", "memory", "shared", "rule", "pattern",
    "fact", "claim", "entity", "pull", "issue", "remark", "imported",
)  # fmt: skip


def _table(kind: str) -> Table[Any]:
    """The table of the records of a kind."""
    if kind in _TABLES:
        return _TABLES[kind]
    if kind == "shared":
        from holdfast.store.records.shares import SHARED

        return SHARED
    if kind == "entity":
        from holdfast.store.knowledge.graph import ENTITY

        return ENTITY
    if kind == "imported":
        from holdfast.store.records.imports import IMPORTED

        return IMPORTED
    from holdfast.store.records.forge import FINDABLE

    return FINDABLE[kind]


def _is_number(name: str) -> bool:
    """Whether a pull or an issue can have this number."""
    from holdfast.store.records.forge import is_number

    return is_number(name)


class Counts(NamedTuple):
    """How much there is in a bank."""

    sessions: int = 0
    turns: int = 0
    exchanges: int = 0
    digests: int = 0
    commits: int = 0
    raw_bytes: int = 0
    l1_bytes: int = 0
    memories: int = 0
    facts: int = 0
    retained: int = 0
    opinions: int = 0
    pulls: int = 0
    issues: int = 0
    shared: int = 0
    imported: int = 0


class Records(Subject):
    """Finds records of any kind."""

    _concepts: Concepts
    _curation: Curations
    _forge: ForgeRecords

    def find(self, bank: str | None, kind: str, id: str, limit: int = 5) -> list[Record]:
        """Records whose id is, or starts with, `id`; `kind` "" means all kinds."""
        if kind in ("pull", "issue") and _is_number(id):
            return [*self._forge.by_number(bank, kind, int(id), limit)]
        found: list[Record] = []
        span = (rows.text(id), rows.text(id) + "\U0010ffff", limit)
        for table in map(_table, [k for k in _KINDS if kind in ("", k)]):
            # A range, not LIKE: it uses the index and nothing in an id is a wildcard.
            hits = table.find(
                self._db, bank, "AND id >= ? AND id < ? ORDER BY id LIMIT ?", span, hidden=False
            )
            found += map(self._corrected, hits)
        if kind == "concept" or (not kind and len(found) < limit):
            concepts = self._concepts.by_id(bank, id, limit)
            found += [c for c in concepts if kind or c.id.startswith(id)]
        return sorted(found, key=lambda record: record.id != id)[:limit]

    def filter(
        self, bank: str | None, filter: RecordFilter, limit: int = 20
    ) -> list[Exchange | Commit]:
        """The exchanges that match a filter, and the commits where it names a file but neither
        concept nor type; the latest first, then by kind, id and bank."""
        found = labels.filter_records(self._db, self._db.bank_ids(bank), filter, limit)
        return [x if isinstance(x, Exchange) else self._corrected_commit(x) for x in found]

    def counts(self, bank: str | None = None, with_turns: bool = True) -> Counts:
        """How much there is. To count the turns takes nearly all of the time."""
        where, values = self._db.in_bank(bank)
        tables = (
            "visible_session", "visible_turn", "exchange", "digest", "visible_commit",
            "visible_remembered_memory", "fact", "retained_memory", "opinion", "visible_pull",
            "visible_issue", "visible_shared_record", "visible_imported_record",
        )  # fmt: skip
        said = {"visible_turn": f"{where} AND {SAID}" if with_turns else ""}
        numbers = [self._count(table, said.get(table, where), values) for table in tables]
        amounts = 'coalesce(sum("offset"), 0), coalesce(sum(l1_bytes), 0)'
        sizes = self._db.one(f"SELECT {amounts} FROM source WHERE {where}", values)
        return Counts(*numbers[:5], *(sizes or (0, 0)), *numbers[5:])

    def _count(self, table: str, where: str, values: Sequence[str]) -> int:
        """How many rows meet a condition; none where there is no condition."""
        if not where:
            return 0
        row = self._db.one(f"SELECT count(*) FROM {table} WHERE {where}", values)
        return row[0] if row else 0

    def _corrected(self, record: Record) -> Record:
        """A record with the words of its correction. Derived records have them already."""
        if isinstance(record, Turn):
            return corrected_turns(self._db, [record])[0]
        if not isinstance(record, Commit | Memory):
            return self._corrected_thread(record)
        kind = "commit" if isinstance(record, Commit) else "memory"
        if isinstance(record, Memory):
            (record,) = with_closings(self._db, record.bank, [record])
        known = self._curation.state(record.bank, kind, record.id)
        if known is None or not known.text:
            return record
        if isinstance(record, Commit):
            return corrected_commit(record, known)
        return corrected_memory(record, known)

    def _corrected_thread(self, record: Record) -> Record:
        """A record of a forge with the words of its correction; any other as it is."""
        if record_kind(record) not in _OF_FORGES:
            return record
        from holdfast.model.forge import Issue, Pull, Remark

        assert isinstance(record, Pull | Issue | Remark)
        return self._forge.corrected(record)

    def _corrected_commit(self, commit: Commit) -> Commit:
        corrected = self._corrected(commit)
        assert isinstance(corrected, Commit)
        return corrected
