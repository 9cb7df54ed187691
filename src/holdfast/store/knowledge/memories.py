"""Memories that were remembered, or retained from sessions.

Occurrences are derived: replacing the derived rows of a session removes them in the same
transaction, so that nothing outlives what it was made of. A memory that occurs in several
sessions is removed too, until it is made again from the occurrences that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.lazy_dataclass import replace
from holdfast.model.corrections import corrected_memory
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import RECAP_KEY, Kind, Memory, Network, Recap, Validity
from holdfast.model.opinions import (
    MemoryOccurrence,
    SessionOccurrence,
)
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.records.curation import (
    CURATION_STATE,
    Curations,
)
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database, Subject
from holdfast.store.sql.statements import (
    insert,
    insert_missing,
)
from holdfast.store.sql.table import Table


def _memory(
    bank: str,
    id: str,
    time: str,
    who: str,
    text: str,
    network: Network,
    place: str,
    why: str,
    confidence: float | None,
    trust: Trust,
    status: Status,
    favour: tuple[str, ...],
    against: tuple[str, ...],
    seen: int,
    kind: Kind | None,
) -> Memory:
    """A memory, which is valid from its time on."""
    return Memory(
        bank, id, network, text, trust, time, place, who, why, confidence, status,
        Validity(since=time, learned=time), favour, against, seen=seen, kind=kind,
    )  # fmt: skip


REMEMBERED = "bank, id, time, who, text, trust"
MEMORY = Table("visible_memory", _memory)
OCCURRENCE = Table(
    "memory_occurrence",
    MemoryOccurrence,
    "bank, session, key",
    renamed={"where": "place"},
    beside=("bank", "session"),
)
RETAINED = (
    "bank, id, key, time, network, what, trust, place, who, why, evidence, seen, confidence, kind, "
    "worth"
)

# `MEMORY` of what people asked to remember, and where it is found.
REMEMBERED_MEMORY = (
    "remembered_memory.bank, remembered_memory.id, time, who, text, coalesce(network, 'world'), "
    "coalesce(place, ''), coalesce(why, ''), confidence, remembered_memory.trust, "
    "CASE remembered_memory.trust WHEN 'user' THEN 'verified' ELSE 'observed' END, "
    "'[]', '[]', 1, '' "
    "FROM remembered_memory LEFT JOIN memory_dimension "
    "ON memory_dimension.bank = remembered_memory.bank AND memory_dimension.id = "
    "remembered_memory.id"
)

_STAGES = ("retain", "reflect")

NOT_HIDDEN = (
    "NOT EXISTS (SELECT 1 FROM hidden_record WHERE hidden_record.bank = {0}.bank AND kind = "
    "'memory' "
    "AND hidden_record.id = {0}.id)"
)

# Of tasks: no later deed closed it.
NOT_CLOSED = (
    "NOT EXISTS (SELECT 1 FROM status_period AS p WHERE p.bank = retained_memory.bank AND "
    "p.kind = 'memory' AND p.id = retained_memory.id)"
)


def memory_of(row: rows.Row) -> Memory:
    """`MEMORY`, and its worth where memories are ranked by it."""
    memory = MEMORY.record(row[: len(MEMORY.names)])
    return replace(memory, worth=row[-1]) if len(row) > len(MEMORY.names) else memory


def remembered_row(memory: Memory) -> rows.Row:
    """`REMEMBERED`."""
    return memory.bank, memory.id, memory.when, memory.who, memory.what, memory.trust.value


def retained_row(key: str, m: Memory) -> rows.Row:
    """`RETAINED`."""
    return (
        m.bank, m.id, key, m.when, m.network.value, m.what, m.trust.value, m.where, m.who, m.why,
        rows.as_list(m.evidence_for), m.seen, m.confidence, m.kind or "", m.worth,
    )  # fmt: skip


class Memories(Subject):
    """Reads memories without hidden ones and with corrections applied."""

    _passages: Passages
    _progress: StageProgress
    _curation: Curations

    def remembered(self, bank: str, limit: int = 100) -> list[Memory]:
        """The texts that people asked to remember, the latest first."""
        found = self._db.all(
            f"SELECT {REMEMBERED_MEMORY} WHERE remembered_memory.bank = ? AND "
            f"{NOT_HIDDEN.format('remembered_memory')} "
            "ORDER BY time DESC, remembered_memory.id LIMIT ?",
            (bank, limit),
        )
        return self._corrected_memories(bank, [memory_of(row) for row in found])

    def retained(
        self,
        bank: str,
        network: str = "",
        limit: int = 100,
        kind: str = "",
        *,
        only_open: bool = False,
    ) -> list[Memory]:
        """The memories retained from sessions, the latest first; of one network or kind, if one is
        named; with `only_open` without tasks that were done since."""
        still = f" AND {NOT_CLOSED}" if only_open else ""
        found = self._db.all(
            "SELECT bank, id, time, who, what, network, place, why, confidence, trust, 'observed', "
            "evidence, '[]', seen, kind, worth "
            "FROM retained_memory WHERE bank = ? AND ? IN ('', network) "
            "AND ? IN ('', retained_memory.kind) "
            f"AND {NOT_HIDDEN.format('retained_memory')}{still} ORDER BY time DESC, id LIMIT ?",
            (bank, network, kind, limit),
        )
        memories = self._corrected_memories(bank, [memory_of(row) for row in found])
        return with_closings(self._db, bank, memories)

    def recaps(self, bank: str, limit: int = 100, *, only_open: bool = True) -> list[Recap]:
        """The recaps of conversations, the latest first; with `only_open` without those that a
        later one changed."""
        still = f" AND {NOT_CLOSED}" if only_open else ""
        found = self._db.all(
            "SELECT bank, id, time, who, what, network, place, why, confidence, trust, 'observed', "
            "evidence, '[]', seen, kind, "
            "(SELECT min(session) FROM memory_occurrence AS o WHERE o.bank = ? "
            "AND o.key = retained_memory.key), "
            "(SELECT min(seq) FROM memory_occurrence AS o WHERE o.bank = ? "
            "AND o.key = retained_memory.key) "
            "FROM retained_memory WHERE bank = ? AND key LIKE ? "
            f"AND {NOT_HIDDEN.format('retained_memory')}{still} ORDER BY time DESC, id LIMIT ?",
            (bank, bank, bank, f"{RECAP_KEY}%", limit),
        )
        memories = self._corrected_memories(bank, [memory_of(row[:-2]) for row in found])
        memories = with_closings(self._db, bank, memories)
        places = [(session or "", seq or 0) for *_, session, seq in found]
        return [
            Recap(memory, session, seq)
            for memory, (session, seq) in zip(memories, places, strict=True)
        ]

    def counts_by_kind(self, bank: str) -> dict[str, int]:
        """How many memories of each kind were retained from sessions; those without a kind and
        tasks that were done since are not counted."""
        found = self._db.all(
            "SELECT kind, count(*) FROM retained_memory WHERE bank = ? AND kind <> '' "
            f"AND {NOT_HIDDEN.format('retained_memory')} AND {NOT_CLOSED} "
            "GROUP BY kind ORDER BY kind",
            (bank,),
        )
        return dict(found)

    def _corrected_memories(self, bank: str, memories: list[Memory]) -> list[Memory]:
        corrections = memory_corrections(self._db, bank)
        return [
            corrected_memory(m, corrections[m.id]) if m.id in corrections else m for m in memories
        ]

    def put_remembered(self, memory: Memory) -> None:
        """Keep a text that a person asked to remember; a known one stays as it is."""
        self._db.run(insert_missing("remembered_memory", REMEMBERED), remembered_row(memory))
        m = memory
        if m.network is not Network.WORLD or m.where or m.why:
            self._db.run(
                insert_missing("memory_dimension", "bank, id, network, confidence, place, why"),
                (m.bank, m.id, m.network.value, m.confidence, m.where, m.why),
            )
        self._progress.mark_changed(memory.bank, "")

    def remembered_uncurated(self, bank: str) -> list[Memory]:
        """All remembered texts as they were given, hidden or not, oldest first."""
        found = self._db.all(
            f"SELECT {REMEMBERED_MEMORY} WHERE remembered_memory.bank = ? ORDER BY time, "
            "remembered_memory.id",
            (bank,),
        )
        return [memory_of(row) for row in found]

    def shown_remembered(self, bank: str) -> list[Memory]:
        """All remembered texts that are not hidden, with corrections applied, oldest first."""
        found = self._db.all(
            f"SELECT {REMEMBERED_MEMORY} WHERE remembered_memory.bank = ? AND EXISTS (SELECT 1 "
            "FROM "
            "visible_remembered_memory AS m "
            "WHERE m.bank = remembered_memory.bank AND m.id = remembered_memory.id) ORDER BY "
            "time, remembered_memory.id",
            (bank,),
        )
        said = {c.id: c for c in self._curation.states_of_kind(bank, "memory") if c.text}
        memories = [memory_of(row) for row in found]
        return [corrected_memory(m, said[m.id]) if m.id in said else m for m in memories]

    def occurrences(self, bank: str, session: str) -> list[MemoryOccurrence]:
        """The occurrences of memories in one session, by key."""
        return OCCURRENCE.find(self._db, bank, "AND session = ? ORDER BY key", (session,))

    def put_occurrences(
        self,
        bank: str,
        session: str,
        occurrences: Iterable[MemoryOccurrence],
    ) -> None:
        """Replace the occurrences of a session."""
        self.clear_session(bank, session, 0)
        OCCURRENCE.add(self._db, occurrences, bank, session)
        self._hide_keys(bank, session, 0)

    def changed_keys(self, bank: str) -> list[str]:
        """The keys whose occurrences have changed since their memory was stored."""
        found = self._db.all("SELECT key FROM stale_memory WHERE bank = ? ORDER BY key", (bank,))
        return [key for (key,) in found]

    def occurrences_of_key(self, bank: str, key: str) -> list[SessionOccurrence]:
        """All occurrences of a key, by time and session."""
        found = self._db.all(
            f"SELECT session, {OCCURRENCE.columns} FROM memory_occurrence WHERE bank = ? AND key "
            "= ? "
            "ORDER BY time, session",
            (bank, key),
        )
        return [SessionOccurrence(row[0], OCCURRENCE.record(row[1:])) for row in found]

    def put_retained(
        self, bank: str, key: str, memory: Memory | None, passage: Passage | None
    ) -> None:
        """Store the memory of a key (None: there is none) with its passage."""
        self._db.run("DELETE FROM stale_memory WHERE bank = ? AND key = ?", (bank, key))
        if memory is None:
            return
        self._db.run(
            "DELETE FROM retained_memory WHERE bank = ? AND (id = ? OR key = ?)",
            (memory.bank, memory.id, key),
        )
        self._db.run(insert("retained_memory", RETAINED), retained_row(key, memory))
        self._passages.replace(memory, passage)

    def mark_retained_stale(self, bank: str, id: str) -> str | None:
        """Mark the key of a retained memory as changed; returns the memory's own text, None if
        there is none."""
        row = self._db.one(
            "SELECT key, what FROM retained_memory WHERE bank = ? AND id = ?", (bank, id)
        )
        if row is None:
            return None
        self._db.run(insert_missing("stale_memory", "bank, key"), (bank, row[0]))
        return row[1]

    def clear_session(self, bank: str, session: str, first: int) -> None:
        """Remove what was retained from a session from a turn on, and the memories made of it; the
        stage makes them again from what is left."""
        self._hide_keys(bank, session, first)
        self._db.run(
            "DELETE FROM memory_occurrence WHERE bank = ? AND session = ? AND seq >= ?",
            (bank, session, first),
        )

    def _hide_keys(self, bank: str, session: str, first: int) -> None:
        keys = "SELECT key FROM memory_occurrence WHERE bank = ? AND session = ? AND seq >= ?"
        own = (bank, bank, session, first)
        self._db.run(
            "DELETE FROM passage WHERE bank = ? AND kind = 'memory' AND id IN "
            f"(SELECT id FROM retained_memory WHERE bank = ? AND key IN ({keys}))",
            (bank, *own),
        )
        self._db.run(f"DELETE FROM retained_memory WHERE bank = ? AND key IN ({keys})", own)

    def drop_retained(self) -> None:
        self._db.run(
            "DELETE FROM passage WHERE kind = 'memory' AND EXISTS (SELECT 1 FROM retained_memory "
            "WHERE retained_memory.bank = passage.bank AND retained_memory.id = passage.id)"
        )
        for table in ("memory_occurrence", "retained_memory", "stale_memory"):
            self._db.run(f"DELETE FROM {table}")
        self._db.run(f"DELETE FROM stage_progress WHERE stage IN {_STAGES}")

    def drop_dimensions(self, bank: str, id: str) -> None:
        self._db.run("DELETE FROM memory_dimension WHERE bank = ? AND id = ?", (bank, id))


def memory_corrections(db: Database, bank: str) -> dict[str, CurationState]:
    """The corrections of memories and opinions, by id."""
    found = CURATION_STATE.find(db, bank, "AND kind = 'memory' AND text <> ''")
    return {known.id: known for known in found}


def with_closings(db: Database, bank: str, memories: list[Memory]) -> list[Memory]:
    """Memories with the status of those that a later deed closed, and with what closed them; what
    closed others has the URIs of those."""
    if all(memory.kind is None for memory in memories):
        return memories
    found = db.all(
        "SELECT id, time, status, because FROM status_period WHERE bank = ? AND kind = 'memory' "
        "ORDER BY time, id",
        (bank,),
    )
    ends = {id: (time, Status(status), because) for id, time, status, because in found}
    closed: dict[str, list[str]] = {}
    for id, (_, _, because) in ends.items():
        closed.setdefault(because, []).append(uri("memory", id))
    return [_with_closing(m, ends, closed) if m.kind is not None else m for m in memories]


def _with_closing(
    memory: Memory,
    ends: Mapping[str, tuple[str, Status, str]],
    closed: Mapping[str, Sequence[str]],
) -> Memory:
    supersedes = tuple(closed.get(uri("memory", memory.id), ()))
    if memory.id not in ends:
        return replace(memory, supersedes=supersedes) if supersedes else memory
    time, status, because = ends[memory.id]
    return replace(
        memory,
        status=status,
        superseded_by=because,
        supersedes=supersedes,
        validity=replace(memory.validity, until=time),
    )
