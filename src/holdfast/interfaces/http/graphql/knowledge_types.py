"""The GraphQL types of knowledge, search results and decisions."""

from __future__ import annotations

import strawberry

from holdfast.app.search import json_shapes
from holdfast.interfaces.http.graphql.types import make_node
from holdfast.model.knowledge import Concept as ConceptRecord
from holdfast.model.query import Citation as CitationRecord


@strawberry.type
class Memory:
    """One retained unit, in five dimensions."""

    uri: str
    id: str
    bank: str
    network: str
    what: str
    when: str
    where: str
    who: str
    why: str
    trust: str
    status: str
    confidence: float | None
    evidence_for: list[str]
    evidence_against: list[str]
    superseded_by: str


@strawberry.type
class Memories:
    """A page of memories."""

    items: list[Memory]
    cursor: str | None


@strawberry.type
class Concept:
    """A named group of exchanges and memories about one topic."""

    uri: str
    name: str
    summary: str
    exchanges: int
    founded: str
    updated: str
    files: list[str]
    keywords: list[str]
    trust: str
    bank: str


def concept_node(concept: ConceptRecord, names: dict[str, str]) -> Concept:
    """A concept as a node."""
    return Concept(**json_shapes.concept_json(concept, names))


@strawberry.type
class Concepts:
    """A page of concepts."""

    items: list[Concept]
    cursor: str | None


@strawberry.type
class Fact:
    """Permanent knowledge: a rule, a solution, core logic."""

    uri: str
    id: str
    bank: str
    kind: str
    content: str
    confidence: float
    trust: str
    problem: str
    attempts: int
    contradictions: int
    last_validated: str
    status: str
    evidence: list[str]
    against: list[str]


@strawberry.type
class Facts:
    """A page of facts."""

    items: list[Fact]
    cursor: str | None


@strawberry.type
class Entity:
    """A person, component, file or concept, with every name it goes by."""

    uri: str
    id: str
    kind: str
    name: str
    aliases: list[str]
    mentions: int


@strawberry.type
class Entities:
    """A page of entities."""

    items: list[Entity]
    cursor: str | None


@strawberry.type
class Commit:
    """One commit; `id` is its full sha."""

    uri: str
    id: str
    bank: str
    time: str
    author: str
    email: str
    subject: str
    body: str
    files: list[str]
    parents: list[str]


@strawberry.type
class Commits:
    """A page of commits."""

    items: list[Commit]
    cursor: str | None


@strawberry.type
class Hit:
    """One found record."""

    uri: str
    kind: str
    layer: str
    score: float
    text: str
    time: str
    session: str
    bank: str
    status: str
    freshness: str
    trust: str


@strawberry.type
class Found:
    """The records that speak of a query, best first; or an abstention."""

    query: str
    bank: str
    abstained: bool
    hits: list[Hit]
    misses: list[Hit]
    suggestions: list[str]


@strawberry.type
class Citation:
    """A piece of evidence under an answer; `number` is how the answer refers to it."""

    number: int
    source: str
    layer: str
    excerpt: str
    browse_url: str
    time: str
    trust: str


def citation_node(citation: CitationRecord) -> Citation:
    """A citation as a node; its source is a URI."""
    return make_node(Citation, "", citation, source=citation.uri)


@strawberry.type
class MemoryAnswer:
    """A cited answer, or an abstention that says so."""

    session_id: str
    question: str
    answer: str
    confidence: str
    abstained: bool
    source: str
    citations: list[Citation]
    layers_searched: list[str]
    caveats: list[str]


@strawberry.type
class Decision:
    """One decision of the log: who changed what, and when."""

    seq: int
    bank: str
    time: str
    action: str
    target: str
    text: str
    who: str
    channel: str = ""
    before: str = ""
    after: str = ""


@strawberry.type
class Decisions:
    """A page of the log."""

    items: list[Decision]
    cursor: str | None


@strawberry.type
class Record:
    """Any record, as REST tells it."""

    uri: str
    kind: str
    record: strawberry.scalars.JSON
    above: list[str]
