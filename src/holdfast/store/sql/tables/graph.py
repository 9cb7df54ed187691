"""The graph of entities: records, the spellings that they mention, and the entities of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from holdfast.model.graph import Entity, MentionRole, Node, ProvenAlias, SpellingSource
from holdfast.model.query import Passage
from holdfast.store.protocol.graph import (
    DatedAlias,
    GraphEntity,
    GraphMention,
    GraphRecord,
    ResolvedEntity,
    Spelling,
)
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import (
    batches,
    insert,
    insert_missing,
    placeholders,
    placeholders_for,
)
from holdfast.store.sql.tables.progress import StageProgress

STAGE = "entities"
_ENTITY = "entity.number, entity.id, entity.name, entity.mentions, entity.kind"
_NODE = "number, kind, id, session, time"
_PASSAGE = ", ".join(f"passage.{name}" for name in rows.PASSAGE.split(", "))
# Joins from an exchange to the memories retained from it, and to the opinions stated in it.
_WITHIN = (
    "ON own.bank = x.bank AND own.session = x.session "
    "AND own.seq BETWEEN x.first_seq AND x.last_seq"
)
_MEMORY_JOINS = (
    f"{{join}} memory_occurrence AS own {_WITHIN} "
    "{join} retained_memory AS m ON m.bank = own.bank AND m.key = own.key",
    f"{{join}} stance AS own {_WITHIN} {{join}} opinion AS m "
    "ON m.bank = own.bank AND m.target = own.target AND m.aspect = own.aspect",
)


class GraphReader(StatementRunner):
    """Reads the graph."""

    def entities(self, bank: str | None, limit: int = 100) -> list[Entity]:
        where, values = self._in_bank(bank)
        found = self._all(
            f"SELECT {rows.ENTITY} FROM entity WHERE {where} "
            "ORDER BY mentions DESC, name, id, bank LIMIT ?",
            *values,
            limit,
        )
        return [rows.entity_of(row) for row in found]

    def entity(self, bank: str, id: str) -> GraphEntity | None:
        row = self._one(
            f"SELECT {_ENTITY} FROM entity WHERE bank = ? AND (id = ? OR number IN "
            "(SELECT entity FROM entity_spelling WHERE bank = ? AND id = ?)) ORDER BY id <> ? "
            "LIMIT 1",
            *(bank, id, bank, id, id),
        )
        return GraphEntity(*row) if row else None

    def entities_by_spelling(self, bank: str, keys: Sequence[str]) -> list[tuple[str, GraphEntity]]:
        found: list[tuple[str, GraphEntity]] = []
        for some in batches(keys):
            found += [
                (row[0], GraphEntity(*row[1:]))
                for row in self._all(
                    f"SELECT DISTINCT key, {_ENTITY} FROM entity_spelling JOIN entity "
                    "ON entity.number = entity_spelling.entity WHERE entity_spelling.bank = ? "
                    f"AND key IN ({placeholders_for(some)}) ORDER BY key, entity.id",
                    bank,
                    *some,
                )
            ]
        return found

    def spelling_id(self, bank: str, id: str, text: str) -> str | None:
        row = self._one(
            "SELECT entity_spelling.id FROM entity_spelling JOIN entity ON entity.number = "
            "entity_spelling.entity "
            "WHERE entity_spelling.bank = ? AND entity.id = ? AND text = ? ORDER BY sort LIMIT 1",
            *(bank, id, text),
        )
        return row[0] if row else None

    def entities_by_number(self, bank: str, entities: Sequence[int]) -> list[GraphEntity]:
        found: list[GraphEntity] = []
        for some in batches(entities):
            rows_of = self._all(
                f"SELECT {_ENTITY} FROM entity WHERE number IN ({placeholders_for(some)}) AND "
                f"{self._dialect.no_index}bank = ?",
                *some,
                bank,
            )
            found += [GraphEntity(*row) for row in rows_of]
        return found

    def mentions_of(self, bank: str, entity: int, limit: int) -> list[GraphMention]:
        spellings = self._all(
            "SELECT number FROM entity_spelling WHERE entity = ? AND "
            f"{self._dialect.no_index}bank = ?",
            entity,
            bank,
        )
        latest: dict[int, tuple[str, int]] = {}
        for (spelling,) in spellings:
            for node, time, parts in self._all(
                "SELECT node, time, parts FROM entity_mention WHERE spelling = ? "
                "ORDER BY time DESC, node LIMIT ?",
                spelling,
                limit,
            ):
                latest[node] = (time, parts | latest.get(node, ("", 0))[1])
        ordered = sorted(latest.items(), key=lambda item: item[1][0], reverse=True)[:limit]
        return [GraphMention(entity, node, MentionRole(parts)) for node, (_, parts) in ordered]

    def mentions_in(self, bank: str, nodes: Sequence[int]) -> list[GraphMention]:
        found: list[GraphMention] = []
        for some in batches(nodes):
            raw = self._all(
                "SELECT entity, node, parts FROM entity_mention JOIN entity_spelling "
                "ON entity_spelling.number = entity_mention.spelling "
                f"WHERE node IN ({placeholders_for(some)}) AND entity > 0 AND "
                f"{self._dialect.no_index}bank = ? "
                "ORDER BY node, entity",
                *some,
                bank,
            )
            for (entity, node), same in groupby(raw, key=lambda row: row[:2]):
                parts = MentionRole.MENTIONED
                for row in same:
                    parts |= MentionRole(row[2])
                found.append(GraphMention(entity, node, parts))
        return found

    def cooccurring_entities(
        self, bank: str, entity: int, limit: int = 20
    ) -> list[tuple[GraphEntity, int]]:
        found = self._all(
            f"SELECT {_ENTITY}, count(DISTINCT other.node) AS n FROM entity_mention AS own "
            "JOIN entity_mention AS other ON other.node = own.node "
            "JOIN entity_spelling ON entity_spelling.number = other.spelling "
            "JOIN entity ON entity.number = entity_spelling.entity "
            "WHERE own.spelling IN (SELECT number FROM entity_spelling WHERE entity = ? AND "
            f"{self._dialect.no_index}bank = ?) "
            f"AND entity_spelling.entity <> ? GROUP BY {_ENTITY} "
            "ORDER BY n DESC, entity.mentions, entity.id LIMIT ?",
            *(entity, bank, entity, limit),
        )
        return [(GraphEntity(*row[:-1]), row[-1]) for row in found]

    def graph_records(self, bank: str, nodes: Sequence[int]) -> list[GraphRecord]:
        found: list[GraphRecord] = []
        for some in batches(nodes):
            rows_of = self._all(
                f"SELECT {_NODE} FROM graph_node WHERE number IN ({placeholders_for(some)}) AND "
                f"{self._dialect.no_index}bank "
                "= ?",
                *some,
                bank,
            )
            found += [GraphRecord(*row) for row in rows_of]
        return found

    def graph_record(self, bank: str, kind: str, id: str) -> GraphRecord | None:
        row = self._one(
            f"SELECT {_NODE} FROM graph_node WHERE bank = ? AND kind = ? AND id = ?",
            bank,
            kind,
            id,
        )
        return GraphRecord(*row) if row else None

    def graph_records_around(self, bank: str, record: GraphRecord, each: int) -> list[GraphRecord]:
        found: list[GraphRecord] = []
        at = (bank, record.time, record.kind, record.id)
        for sign, order in (("<", "DESC"), (">", "ASC")):
            rows_of = self._all(
                f"SELECT {_NODE} FROM graph_node WHERE bank = ? AND (time, kind, id) {sign} (?, "
                "?, ?) "
                f"AND time <> '' ORDER BY time {order}, kind {order}, id {order} LIMIT ?",
                *at,
                each,
            )
            found += [GraphRecord(*row) for row in rows_of]
        return found

    def graph_size(self, bank: str, most: int) -> int:
        row = self._one(
            "SELECT count(*) FROM (SELECT 1 FROM graph_node WHERE bank = ? LIMIT ?)", bank, most
        )
        return row[0] if row else 0

    def node_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        found: list[tuple[int, Passage]] = []
        for some in batches(nodes):
            rows_of = self._all(
                f"SELECT graph_node.number, {_PASSAGE} FROM graph_node "
                f"{self._dialect.ordered_join} passage "
                "ON passage.bank = graph_node.bank AND passage.kind = graph_node.kind "
                "AND passage.id = graph_node.id WHERE graph_node.number IN "
                f"({placeholders_for(some)}) "
                f"AND {self._dialect.no_index}graph_node.bank = ?",
                *some,
                bank,
            )
            found += [(row[0], rows.passage_of(row[1:])) for row in rows_of]
        return found

    def node_memory_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        found: list[tuple[int, Passage]] = []
        for some in batches(nodes):
            for resting in _MEMORY_JOINS:
                rows_of = self._all(
                    f"SELECT DISTINCT graph_node.number, {_PASSAGE} FROM graph_node "
                    f"{self._dialect.ordered_join} "
                    "exchange AS x "
                    "ON x.bank = graph_node.bank AND x.id = graph_node.id "
                    f"{resting.format(join=self._dialect.ordered_join)} "
                    f"{self._dialect.ordered_join} "
                    "passage "
                    "ON passage.bank = graph_node.bank AND passage.kind = 'memory' "
                    f"AND passage.id = m.id WHERE graph_node.number IN ({placeholders_for(some)}) "
                    "AND graph_node.kind = 'exchange' AND "
                    f"{self._dialect.no_index}graph_node.bank = ? ORDER BY 1, "
                    "passage.id",
                    *some,
                    bank,
                )
                found += [(row[0], rows.passage_of(row[1:])) for row in rows_of]
        return found


class GraphWriter(GraphReader, StageProgress):
    """Writes them."""

    def node_hashes(self, bank: str, session: str) -> dict[tuple[str, str], str]:
        found = self._all(
            "SELECT kind, id, hash FROM graph_node WHERE bank = ? AND session = ?", bank, session
        )
        return {(kind, id): hash for kind, id, hash in found}

    def passage_hashes(self, bank: str) -> list[tuple[str, str, str, str]]:
        found = self._all(
            "SELECT kind, id, time, hash FROM passage WHERE bank = ? AND session = '' "
            "ORDER BY kind, id",
            bank,
        )
        return [tuple(row) for row in found]  # pyright: ignore[reportReturnType]

    def put_nodes(self, bank: str, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self.drop_nodes(bank, [(node.kind, node.id)])
            ((number,),) = self._all(
                f"{insert('graph_node', 'bank, kind, id, session, time, hash')} RETURNING number",
                *(bank, node.kind, node.id, node.session, node.time, node.hash),
            )
            mentions = [m._replace(text=rows.text(m.text)) for m in node.mentions]
            self._run_many(
                insert_missing("entity_spelling", "bank, sort, text, key, id"),
                [(bank, m.source.value, m.text, rows.text(m.key), m.id) for m in mentions],
            )
            self._run_many(
                "INSERT INTO entity_mention SELECT number, ?, ?, ? FROM entity_spelling "
                "WHERE bank = ? AND sort = ? AND text = ? "
                "ON CONFLICT (spelling, time, node) DO UPDATE "
                "SET parts = entity_mention.parts | excluded.parts",
                [(node.time, number, int(m.roles), bank, m.source.value, m.text) for m in mentions],
            )
            self._run_many(
                insert_missing("spelling_equivalence", "node, sort, one, other"),
                [
                    (number, s.source.value, rows.text(s.one), rows.text(s.other))
                    for s in node.aliases
                ],
            )

    def drop_nodes(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        for kind, id in names:
            row = self._one(
                "SELECT number FROM graph_node WHERE bank = ? AND kind = ? AND id = ?",
                bank,
                kind,
                id,
            )
            if row is None:
                continue
            self._run(
                "DELETE FROM entity_mention WHERE (spelling, time, node) IN (SELECT spelling, "
                "(SELECT time FROM graph_node WHERE number = node), node FROM entity_mention "
                "WHERE node = ?)",
                row[0],
            )
            self._run("DELETE FROM spelling_equivalence WHERE node = ?", row[0])
            self._run("DELETE FROM graph_node WHERE number = ?", row[0])

    def spellings(self, bank: str) -> list[Spelling]:
        found = self._all(
            "SELECT entity_spelling.number, sort, text, key, entity_spelling.id, count(*), "
            "count(DISTINCT graph_node.session) FROM entity_spelling "
            "JOIN entity_mention ON entity_mention.spelling = entity_spelling.number "
            "JOIN graph_node ON graph_node.number = entity_mention.node "
            "WHERE entity_spelling.bank = ? GROUP BY entity_spelling.number, sort, text, key, "
            "entity_spelling.id "
            "ORDER BY sort, text",
            bank,
        )
        return [Spelling(row[0], SpellingSource(row[1]), *row[2:]) for row in found]

    def proven_aliases(self, bank: str) -> list[DatedAlias]:
        found = self._all(
            f"SELECT time, sort, one, other FROM graph_node {self._dialect.ordered_join} "
            "spelling_equivalence ON "
            "spelling_equivalence.node = graph_node.number "
            "WHERE bank = ? ORDER BY time, kind, id, sort, one, other",
            bank,
        )
        return [
            DatedAlias(row[0], ProvenAlias(SpellingSource(row[1]), row[2], row[3])) for row in found
        ]

    def put_entities(self, bank: str, resolved: Iterable[ResolvedEntity]) -> None:
        self._run(
            "DELETE FROM entity_spelling WHERE bank = ? AND NOT EXISTS "
            "(SELECT 1 FROM entity_mention WHERE spelling = entity_spelling.number)",
            bank,
        )
        wanted = list(resolved)
        counts = self._counts(bank, wanted)
        new = [_row(one.entity, counts[n]) for n, one in enumerate(wanted)]
        known = {
            row[1]: row
            for row in self._all(f"SELECT {rows.ENTITY} FROM entity WHERE bank = ?", bank)
        }
        kept = {row[1]: row for row in new}
        gone = [(bank, id) for id in known if id not in kept]
        self._run_many("DELETE FROM entity WHERE bank = ? AND id = ?", gone)
        self._run_many(
            f"INSERT INTO entity ({rows.ENTITY}) VALUES ({placeholders(rows.ENTITY)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET kind = excluded.kind, name = excluded.name, "
            "aliases = excluded.aliases, mentions = excluded.mentions",
            [row for row in new if known.get(row[1]) != row],
        )
        numbers = dict(self._all("SELECT id, number FROM entity WHERE bank = ?", bank))
        was = dict(self._all("SELECT number, entity FROM entity_spelling WHERE bank = ?", bank))
        now = {s: numbers[one.entity.id] for one in wanted for s in one.spellings}
        self._run_many(
            "UPDATE entity_spelling SET entity = ? WHERE number = ?",
            [(now.get(s, 0), s) for s, entity in was.items() if now.get(s, 0) != entity],
        )

    def _counts(self, bank: str, wanted: Sequence[ResolvedEntity]) -> list[int]:
        """In how many records each occurs; only those of several spellings must be counted."""
        alone = dict(
            self._all(
                "SELECT spelling, count(*) FROM entity_spelling "
                "JOIN entity_mention ON entity_mention.spelling = entity_spelling.number "
                "WHERE bank = ? GROUP BY spelling",
                bank,
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
                    for (node,) in self._all(
                        "SELECT node FROM entity_mention WHERE spelling IN "
                        f"({placeholders_for(some)})",
                        *some,
                    )
                )
            counts.append(len(nodes))
        return counts

    def drop_graph(self, bank: str | None = None) -> None:
        where, values = self._in_bank(bank)
        of = f"(SELECT number FROM graph_node WHERE {where})"
        for table in ("entity_mention", "spelling_equivalence"):
            self._run(f"DELETE FROM {table} WHERE node IN {of}", *values)
        for table in ("graph_node", "entity_spelling", "entity"):
            self._run(f"DELETE FROM {table} WHERE {where}", *values)
        self._run(f"DELETE FROM stage_progress WHERE {where} AND stage = ?", *values, STAGE)


def _row(entity: Entity, mentions: int) -> rows.Row:
    return (*rows.entity_row(entity)[:-1], mentions)
