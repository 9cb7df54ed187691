"""The graph of a bank: which records mention which entities.

Mentions follow from each record alone. Entities follow from all mentions of a bank and from
people's decisions, and are resolved again whenever either changes. Links are not stored: they
follow from mentions (`recall.links`), so they can neither be stale nor outlive a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.graph import Entity, MentionRole, Node, ProvenAlias, SpellingSource
from holdfast.model.query import Passage


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


class GraphReader(Protocol):
    """Reads the graph of a bank."""

    def entities(self, bank: str | None, limit: int = 100) -> list[Entity]:
        """Entities, those in most records first."""
        ...

    def entity(self, bank: str, id: str) -> GraphEntity | None:
        """The entity with an id: its own, or that of any of its spellings."""
        ...

    def entities_by_spelling(self, bank: str, keys: Sequence[str]) -> list[tuple[str, GraphEntity]]:
        """The entities with a spelling of one of these keys, each with the key."""
        ...

    def spelling_id(self, bank: str, id: str, text: str) -> str | None:
        """The id of a spelling that an entity has."""
        ...

    def entities_by_number(self, bank: str, entities: Sequence[int]) -> list[GraphEntity]:
        """Entities by their numbers."""
        ...

    def mentions_of(self, bank: str, entity: int, limit: int) -> list[GraphMention]:
        """The latest mentions of an entity."""
        ...

    def mentions_in(self, bank: str, nodes: Sequence[int]) -> list[GraphMention]:
        """All mentions in some records."""
        ...

    def cooccurring_entities(
        self, bank: str, entity: int, limit: int = 20
    ) -> list[tuple[GraphEntity, int]]:
        """The entities that occur most often in the same records as one, each with the number of
        these records."""
        ...

    def graph_records(self, bank: str, nodes: Sequence[int]) -> list[GraphRecord]:
        """Records by their numbers."""
        ...

    def graph_record(self, bank: str, kind: str, id: str) -> GraphRecord | None:
        """One record with its number."""
        ...

    def graph_records_around(self, bank: str, record: GraphRecord, each: int) -> list[GraphRecord]:
        """The `each` records before and after one in time."""
        ...

    def graph_size(self, bank: str, most: int) -> int:
        """How many records the graph has, counted up to `most`."""
        ...

    def node_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of records, each with the record's number; hidden ones are left out."""
        ...

    def node_memory_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of retained memories and opinions that are based on exchanges, each with the
        exchange's number; hidden ones are left out."""
        ...


class GraphWriter(Protocol):
    """Writes mentions and entities."""

    def node_hashes(self, bank: str, session: str) -> dict[tuple[str, str], str]:
        """By kind and id, the hashes of the records of a session that the graph has."""
        ...

    def passage_hashes(self, bank: str) -> list[tuple[str, str, str, str]]:
        """Kind, id, time and hash of every passage that is in no session."""
        ...

    def put_nodes(self, bank: str, nodes: Iterable[Node]) -> None:
        """Add records with their mentions, each in place of its earlier version."""
        ...

    def drop_nodes(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Remove records, by kind and id."""
        ...

    def spellings(self, bank: str) -> list[Spelling]:
        """All spellings that records mention."""
        ...

    def proven_aliases(self, bank: str) -> list[DatedAlias]:
        """All aliases that records prove, by time."""
        ...

    def put_entities(self, bank: str, resolved: Iterable[ResolvedEntity]) -> None:
        """Replace the entities of a bank."""
        ...

    def drop_graph(self, bank: str | None = None) -> None:
        """Remove the graph of a bank, or of all banks; it is built again."""
        ...
