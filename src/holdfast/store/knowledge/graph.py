"""The graph of a bank: which records mention which entities.

Mentions follow from each record alone. Entities follow from all mentions of a bank and from
people's decisions, and are resolved again whenever either changes. Links are not stored: they
follow from mentions (`recall.links`), so they can neither be stale nor outlive a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.graph import Entity, MentionRole, Node, ProvenAlias, SpellingSource
from holdfast.model.query import Passage
from holdfast.store.sql import rows
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    batches,
    insert,
    insert_missing,
    placeholders,
    placeholders_for,
)
from holdfast.store.sql.table import PASSAGE, Table

ENTITY = Table("entity", Entity)


class Spelling(NamedTuple):
    """A spelling in a bank: its number, and in how many records and sessions it occurs."""

    number: int
    source: SpellingSource
    text: str
    key: str
    id: str
    records: int
    sessions: int


class DatedAlias(NamedTuple):
    """A proven alias, with the time of the record that proves it."""

    time: str
    alias: ProvenAlias


class ResolvedEntity(NamedTuple):
    """An entity and the numbers of its spellings."""

    entity: Entity
    spellings: tuple[int, ...]


class GraphEntity(NamedTuple):
    """An entity for traversal: its number, and in how many records it occurs."""

    number: int
    id: str
    name: str
    records: int
    kind: str


class GraphMention(NamedTuple):
    """A mention of an entity in a record (`node`), both by number, with the roles it has there."""

    entity: int
    node: int
    roles: MentionRole


class GraphRecord(NamedTuple):
    """A record with its number in the graph."""

    node: int
    kind: str
    id: str
    session: str
    time: str


STAGE = "entities"

_ENTITY = "entity.number, entity.id, entity.name, entity.mentions, entity.kind"

_NODE = "number, kind, id, session, time"

_PASSAGE = PASSAGE.of("passage")

# Joins an exchange to the memories retained from it.
_WITHIN = (
    "ON own.bank = x.bank AND own.session = x.session "
    "AND own.seq BETWEEN x.first_seq AND x.last_seq"
)

_MEMORY_JOIN = (
    f"{{join}} memory_occurrence AS own {_WITHIN} "
    "{join} retained_memory AS m ON m.bank = own.bank AND m.key = own.key"
)


def _row(entity: Entity, mentions: int) -> rows.Row:
    return (*ENTITY.row(entity)[:-1], mentions)


class Graph(Subject):
    """Reads the graph."""

    def entities(self, bank: str | None, limit: int = 100) -> list[Entity]:
        """Entities, those in most records first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {ENTITY.columns} FROM entity WHERE {where} "
            "ORDER BY mentions DESC, name, id, bank LIMIT ?",
            (*values, limit),
        )
        return ENTITY.records(found)

    def entity(self, bank: str, id: str) -> GraphEntity | None:
        """The entity with an id: its own, or that of any of its spellings."""
        row = self._db.one(
            f"SELECT {_ENTITY} FROM entity WHERE bank = ? AND (id = ? OR number IN "
            "(SELECT entity FROM entity_spelling WHERE bank = ? AND id = ?)) ORDER BY id <> ? "
            "LIMIT 1",
            (bank, id, bank, id, id),
        )
        return GraphEntity(*row) if row else None

    def entities_by_spelling(self, bank: str, keys: Sequence[str]) -> list[tuple[str, GraphEntity]]:
        """The entities with a spelling of one of these keys, each with the key."""
        found: list[tuple[str, GraphEntity]] = []
        for some in batches(keys):
            found += [
                (row[0], GraphEntity(*row[1:]))
                for row in self._db.all(
                    f"SELECT DISTINCT key, {_ENTITY} FROM entity_spelling JOIN entity "
                    "ON entity.number = entity_spelling.entity WHERE entity_spelling.bank = ? "
                    f"AND key IN ({placeholders_for(some)}) ORDER BY key, entity.id",
                    (bank, *some),
                )
            ]
        return found

    def spelling_id(self, bank: str, id: str, text: str) -> str | None:
        """The id of a spelling that an entity has."""
        row = self._db.one(
            "SELECT entity_spelling.id FROM entity_spelling JOIN entity ON entity.number = "
            "entity_spelling.entity "
            "WHERE entity_spelling.bank = ? AND entity.id = ? AND text = ? ORDER BY sort LIMIT 1",
            (bank, id, text),
        )
        return row[0] if row else None

    def entities_by_number(self, bank: str, entities: Sequence[int]) -> list[GraphEntity]:
        """Entities by their numbers."""
        found: list[GraphEntity] = []
        for some in batches(entities):
            rows_of = self._db.all(
                f"SELECT {_ENTITY} FROM entity WHERE number IN ({placeholders_for(some)}) AND "
                f"{self._db.dialect.no_index}bank = ?",
                (*some, bank),
            )
            found += [GraphEntity(*row) for row in rows_of]
        return found

    def mentions_of(self, bank: str, entity: int, limit: int) -> list[GraphMention]:
        """The latest mentions of an entity."""
        spellings = self._db.all(
            "SELECT number FROM entity_spelling WHERE entity = ? AND "
            f"{self._db.dialect.no_index}bank = ?",
            (entity, bank),
        )
        latest: dict[int, tuple[str, int]] = {}
        for (spelling,) in spellings:
            for node, time, parts in self._db.all(
                "SELECT node, time, parts FROM entity_mention WHERE spelling = ? "
                "ORDER BY time DESC, node LIMIT ?",
                (spelling, limit),
            ):
                latest[node] = (time, parts | latest.get(node, ("", 0))[1])
        ordered = sorted(latest.items(), key=lambda item: item[1][0], reverse=True)[:limit]
        return [GraphMention(entity, node, MentionRole(parts)) for node, (_, parts) in ordered]

    def mentions_in(self, bank: str, nodes: Sequence[int]) -> list[GraphMention]:
        """All mentions in some records."""
        found: list[GraphMention] = []
        for some in batches(nodes):
            raw = self._db.all(
                "SELECT entity, node, parts FROM entity_mention JOIN entity_spelling "
                "ON entity_spelling.number = entity_mention.spelling "
                f"WHERE node IN ({placeholders_for(some)}) AND entity > 0 AND "
                f"{self._db.dialect.no_index}bank = ? "
                "ORDER BY node, entity",
                (*some, bank),
            )
            for (entity, node), same in groupby(raw, key=lambda row: row[:2]):
                parts = MentionRole.MENTIONED
                for row in same:
                    parts |= MentionRole(row[2])
                found.append(GraphMention(entity, node, parts))
        return found

    def cooccurring(self, bank: str, entity: int, limit: int = 20) -> list[tuple[GraphEntity, int]]:
        """The entities that occur most often in the same records as one, each with the number of
        these records."""
        found = self._db.all(
            f"SELECT {_ENTITY}, count(DISTINCT other.node) AS n FROM entity_mention AS own "
            "JOIN entity_mention AS other ON other.node = own.node "
            "JOIN entity_spelling ON entity_spelling.number = other.spelling "
            "JOIN entity ON entity.number = entity_spelling.entity "
            "WHERE own.spelling IN (SELECT number FROM entity_spelling WHERE entity = ? AND "
            f"{self._db.dialect.no_index}bank = ?) "
            f"AND entity_spelling.entity <> ? GROUP BY {_ENTITY} "
            "ORDER BY n DESC, entity.mentions, entity.id LIMIT ?",
            (entity, bank, entity, limit),
        )
        return [(GraphEntity(*row[:-1]), row[-1]) for row in found]

    def records(self, bank: str, nodes: Sequence[int]) -> list[GraphRecord]:
        """Records by their numbers."""
        found: list[GraphRecord] = []
        for some in batches(nodes):
            rows_of = self._db.all(
                f"SELECT {_NODE} FROM graph_node WHERE number IN ({placeholders_for(some)}) AND "
                f"{self._db.dialect.no_index}bank "
                "= ?",
                (*some, bank),
            )
            found += [GraphRecord(*row) for row in rows_of]
        return found

    def record(self, bank: str, kind: str, id: str) -> GraphRecord | None:
        """One record with its number."""
        row = self._db.one(
            f"SELECT {_NODE} FROM graph_node WHERE bank = ? AND kind = ? AND id = ?",
            (bank, kind, id),
        )
        return GraphRecord(*row) if row else None

    def records_around(self, bank: str, record: GraphRecord, each: int) -> list[GraphRecord]:
        """The `each` records before and after one in time."""
        found: list[GraphRecord] = []
        at = (bank, record.time, record.kind, record.id)
        for sign, order in (("<", "DESC"), (">", "ASC")):
            rows_of = self._db.all(
                f"SELECT {_NODE} FROM graph_node WHERE bank = ? AND (time, kind, id) {sign} (?, "
                "?, ?) "
                f"AND time <> '' ORDER BY time {order}, kind {order}, id {order} LIMIT ?",
                (*at, each),
            )
            found += [GraphRecord(*row) for row in rows_of]
        return found

    def size(self, bank: str, most: int) -> int:
        """How many records the graph has, counted up to `most`."""
        row = self._db.one(
            "SELECT count(*) FROM (SELECT 1 FROM graph_node WHERE bank = ? LIMIT ?)", (bank, most)
        )
        return row[0] if row else 0

    def node_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of records, each with the record's number; hidden ones are left out."""
        found: list[tuple[int, Passage]] = []
        for some in batches(nodes):
            rows_of = self._db.all(
                f"SELECT graph_node.number, {_PASSAGE} FROM graph_node "
                f"{self._db.dialect.ordered_join} passage "
                "ON passage.bank = graph_node.bank AND passage.kind = graph_node.kind "
                "AND passage.id = graph_node.id WHERE graph_node.number IN "
                f"({placeholders_for(some)}) "
                f"AND {self._db.dialect.no_index}graph_node.bank = ?",
                (*some, bank),
            )
            found += [(row[0], PASSAGE.record(row[1:])) for row in rows_of]
        return found

    def node_memory_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of retained memories that are based on exchanges, each with the
        exchange's number; hidden ones are left out."""
        found: list[tuple[int, Passage]] = []
        join = self._db.dialect.ordered_join
        for some in batches(nodes):
            rows_of = self._db.all(
                f"SELECT DISTINCT graph_node.number, {_PASSAGE} FROM graph_node "
                f"{join} exchange AS x "
                "ON x.bank = graph_node.bank AND x.id = graph_node.id "
                f"{_MEMORY_JOIN.format(join=join)} {join} passage "
                "ON passage.bank = graph_node.bank AND passage.kind = 'memory' "
                f"AND passage.id = m.id WHERE graph_node.number IN ({placeholders_for(some)}) "
                "AND graph_node.kind = 'exchange' AND "
                f"{self._db.dialect.no_index}graph_node.bank = ? ORDER BY 1, passage.id",
                (*some, bank),
            )
            found += [(row[0], PASSAGE.record(row[1:])) for row in rows_of]
        return found

    def node_hashes(self, bank: str, session: str) -> dict[tuple[str, str], str]:
        """By kind and id, the hashes of the records of a session that the graph has."""
        found = self._db.all(
            "SELECT kind, id, hash FROM graph_node WHERE bank = ? AND session = ?", (bank, session)
        )
        return {(kind, id): hash for kind, id, hash in found}

    def hashes_outside_sessions(self, bank: str) -> list[tuple[str, str, str]]:
        """Kind, id and hash of the passages of commits and of remembered texts. Memories of
        sessions, of which there are many more, are not read."""
        found = self._db.all(
            "SELECT kind, id, hash FROM passage WHERE bank = ? AND kind = 'commit' "
            "UNION ALL SELECT passage.kind, passage.id, passage.hash FROM remembered_memory "
            "JOIN passage ON passage.bank = remembered_memory.bank AND passage.kind = 'memory' "
            "AND passage.id = remembered_memory.id WHERE remembered_memory.bank = ? "
            "ORDER BY kind, id",
            (bank, bank),
        )
        return [(kind, id, hash) for kind, id, hash in found]

    def put_nodes(self, bank: str, nodes: Iterable[Node]) -> None:
        """Add records with their mentions, each in place of its earlier version."""
        for node in nodes:
            self.drop_nodes(bank, [(node.kind, node.id)])
            ((number,),) = self._db.all(
                f"{insert('graph_node', 'bank, kind, id, session, time, hash')} RETURNING number",
                (bank, node.kind, node.id, node.session, node.time, node.hash),
            )
            mentions = [m._replace(text=rows.text(m.text)) for m in node.mentions]
            self._db.run_many(
                insert_missing("entity_spelling", "bank, sort, text, key, id"),
                [(bank, m.source.value, m.text, rows.text(m.key), m.id) for m in mentions],
            )
            self._db.run_many(
                "INSERT INTO entity_mention SELECT number, ?, ?, ? FROM entity_spelling "
                "WHERE bank = ? AND sort = ? AND text = ? "
                "ON CONFLICT (spelling, time, node) DO UPDATE "
                "SET parts = entity_mention.parts | excluded.parts",
                [(node.time, number, int(m.roles), bank, m.source.value, m.text) for m in mentions],
            )
            self._db.run_many(
                insert_missing("spelling_equivalence", "node, sort, one, other"),
                [
                    (number, s.source.value, rows.text(s.one), rows.text(s.other))
                    for s in node.aliases
                ],
            )

    def drop_nodes(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Remove records, by kind and id."""
        for kind, id in names:
            row = self._db.one(
                "SELECT number FROM graph_node WHERE bank = ? AND kind = ? AND id = ?",
                (bank, kind, id),
            )
            if row is None:
                continue
            for table in ("entity_mention", "spelling_equivalence"):
                self._db.run(f"DELETE FROM {table} WHERE node = ?", row)
            self._db.run(
                "DELETE FROM graph_node WHERE bank = ? AND kind = ? AND id = ?", (bank, kind, id)
            )

    def spellings(self, bank: str) -> list[Spelling]:
        """All spellings that records mention."""
        found = self._db.all(
            "SELECT entity_spelling.number, sort, text, key, entity_spelling.id, count(*), "
            "count(DISTINCT graph_node.session) FROM entity_spelling "
            "JOIN entity_mention ON entity_mention.spelling = entity_spelling.number "
            "JOIN graph_node ON graph_node.number = entity_mention.node "
            "AND graph_node.bank = entity_spelling.bank "
            "WHERE entity_spelling.bank = ? GROUP BY entity_spelling.number, sort, text, key, "
            "entity_spelling.id "
            "ORDER BY sort, text",
            (bank,),
        )
        return [Spelling(row[0], SpellingSource(row[1]), *row[2:]) for row in found]

    def proven_aliases(self, bank: str) -> list[DatedAlias]:
        """All aliases that records prove, by time."""
        found = self._db.all(
            f"SELECT time, sort, one, other FROM graph_node {self._db.dialect.ordered_join} "
            "spelling_equivalence ON "
            "spelling_equivalence.node = graph_node.number "
            "WHERE bank = ? ORDER BY time, kind, id, sort, one, other",
            (bank,),
        )
        return [
            DatedAlias(row[0], ProvenAlias(SpellingSource(row[1]), row[2], row[3])) for row in found
        ]

    def put_entities(self, bank: str, resolved: Iterable[ResolvedEntity]) -> None:
        """Replace the entities of a bank."""
        self._db.run(
            "DELETE FROM entity_spelling WHERE bank = ? AND NOT EXISTS "
            "(SELECT 1 FROM entity_mention WHERE spelling = entity_spelling.number)",
            (bank,),
        )
        wanted = list(resolved)
        counts = self._counts(bank, wanted)
        new = [_row(one.entity, counts[n]) for n, one in enumerate(wanted)]
        known = {
            row[1]: row
            for row in self._db.all(f"SELECT {ENTITY.columns} FROM entity WHERE bank = ?", (bank,))
        }
        kept = {row[1]: row for row in new}
        gone = [(bank, id) for id in known if id not in kept]
        self._db.run_many("DELETE FROM entity WHERE bank = ? AND id = ?", gone)
        self._db.run_many(
            f"INSERT INTO entity ({ENTITY.columns}) VALUES ({placeholders(ENTITY.columns)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET kind = excluded.kind, name = excluded.name, "
            "aliases = excluded.aliases, mentions = excluded.mentions",
            [row for row in new if known.get(row[1]) != row],
        )
        numbers = dict(self._db.all("SELECT id, number FROM entity WHERE bank = ?", (bank,)))
        was = dict(
            self._db.all("SELECT number, entity FROM entity_spelling WHERE bank = ?", (bank,))
        )
        now = {s: numbers[one.entity.id] for one in wanted for s in one.spellings}
        self._db.run_many(
            "UPDATE entity_spelling SET entity = ? WHERE number = ?",
            [(now.get(s, 0), s) for s, entity in was.items() if now.get(s, 0) != entity],
        )

    def _counts(self, bank: str, wanted: Sequence[ResolvedEntity]) -> list[int]:
        """In how many records each occurs; only those of several spellings must be counted."""
        alone = dict(
            self._db.all(
                "SELECT spelling, count(*) FROM entity_spelling "
                "JOIN entity_mention ON entity_mention.spelling = entity_spelling.number "
                "WHERE bank = ? GROUP BY spelling",
                (bank,),
            )
        )
        counts: list[int] = []
        for one in wanted:
            if len(one.spellings) == 1:
                counts.append(alone.get(one.spellings[0], 0))
                continue
            nodes: set[int] = set()
            for some in batches(one.spellings):
                nodes.update(
                    node
                    for (node,) in self._db.all(
                        "SELECT node FROM entity_mention WHERE spelling IN "
                        f"({placeholders_for(some)})",
                        some,
                    )
                )
            counts.append(len(nodes))
        return counts

    def drop(self, bank: str | None = None) -> None:
        """Remove the graph of a bank, or of all banks; it is built again."""
        where, values = self._db.in_bank(bank)
        of = f"(SELECT number FROM graph_node WHERE {where})"
        for table in ("entity_mention", "spelling_equivalence"):
            self._db.run(f"DELETE FROM {table} WHERE node IN {of}", values)
        for table in ("graph_node", "entity_spelling", "entity"):
            self._db.run(f"DELETE FROM {table} WHERE {where}", values)
        self._db.run(f"DELETE FROM stage_progress WHERE {where} AND stage = ?", (*values, STAGE))
