"""What a store keeps of entities: which spellings each record mentions, and what these come to.

Mentions are a function of each record alone. Entities are a function of all mentions of a bank and
of people's decisions, and are worked out anew whenever either changes. Links are not kept: they
follow from mentions (`recall.links`), so they can neither lag behind nor outlive a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.graph import Entity, MentionRole, Node, ProvenAlias, SpellingSource
from holdfast.model.query import Passage


class Spelling(NamedTuple):
    """A spelling of a bank: its number, and in how many records and sessions it occurs."""

    number: int
    sort: SpellingSource
    text: str
    key: str
    id: str
    records: int
    sessions: int


class DatedAlias(NamedTuple):
    """What a record of some time proves to be the same."""

    time: str
    same: ProvenAlias


class ResolvedEntity(NamedTuple):
    """An entity and the numbers of its spellings."""

    entity: Entity
    spellings: tuple[int, ...]


class GraphEntity(NamedTuple):
    """An entity as traversal sees it: its number, and in how many records it occurs."""

    number: int
    id: str
    name: str
    records: int
    kind: str


class GraphMention(NamedTuple):
    """An entity in a record, by their numbers, with the parts it plays there."""

    entity: int
    node: int
    parts: MentionRole


class GraphRecord(NamedTuple):
    """A record by its number in the graph."""

    node: int
    kind: str
    id: str
    session: str
    time: str


class GraphReader(Protocol):
    """What can be asked of the graph of a bank."""

    def entities(self, bank: str | None, limit: int = 100) -> list[Entity]:
        """Entities, those in most records first."""
        ...

    def entity(self, bank: str, id: str) -> GraphEntity | None:
        """The entity that an id means: its own, or that of any spelling it has."""
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
        """The latest records that mention an entity."""
        ...

    def mentions_in(self, bank: str, nodes: Sequence[int]) -> list[GraphMention]:
        """The entities that records mention."""
        ...

    def cooccurring_entities(
        self, bank: str, entity: int, limit: int = 20
    ) -> list[tuple[GraphEntity, int]]:
        """The entities that occur most often with one, each with in how many records they do."""
        ...

    def graph_records(self, bank: str, nodes: Sequence[int]) -> list[GraphRecord]:
        """Records by their numbers."""
        ...

    def graph_record(self, bank: str, kind: str, id: str) -> GraphRecord | None:
        """The number of a record."""
        ...

    def graph_records_around(self, bank: str, place: GraphRecord, each: int) -> list[GraphRecord]:
        """So many records next before and after one in time."""
        ...

    def graph_size(self, bank: str, most: int) -> int:
        """How many records the graph has, counted up to `most`."""
        ...

    def node_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of records, each with the record's number; none of what is not shown."""
        ...

    def node_memory_passages(self, bank: str, nodes: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages of memories that rest on exchanges, retained or believed, each with the
        exchange's number; none of what is not shown."""
        ...


class GraphWriter(Protocol):
    """The ways in."""

    def node_hashes(self, bank: str, session: str) -> dict[tuple[str, str], str]:
        """The records of a session that the graph has, by kind and id, each with its hash."""
        ...

    def passage_hashes(self, bank: str) -> list[tuple[str, str, str, str]]:
        """Kind, id, time and hash of every passage that is in no session."""
        ...

    def put_nodes(self, bank: str, nodes: Iterable[Node]) -> None:
        """Take records into the graph, each in place of what was known of it."""
        ...

    def drop_nodes(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Take records out of the graph, by kind and id."""
        ...

    def spellings(self, bank: str) -> list[Spelling]:
        """All that records mention."""
        ...

    def proven_aliases(self, bank: str) -> list[DatedAlias]:
        """All that records prove to be the same, in the order of time."""
        ...

    def put_entities(self, bank: str, resolved: Iterable[ResolvedEntity]) -> None:
        """Set down what all spellings of a bank come to, in place of what they came to."""
        ...

    def drop_graph(self, bank: str | None = None) -> None:
        """Forget the graph of a bank, or of all; it is to be made again."""
        ...
