"""Who and what is involved, and how records hang together: entity and link.

A record *mentions* spellings; spellings that mean the same are one entity. What a spelling does in
a record (it is what broke, what was changed, what something is blamed on) is its *part* there, and
records are linked by the parts that one entity plays in both.
"""

from __future__ import annotations

from enum import IntFlag, StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    COMPONENT = "component"
    FILE = "file"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, component, file or concept, under one canonical name; in how many records it is
    mentioned, and what people decided about it."""

    bank: str
    id: str
    kind: EntityKind
    name: str
    aliases: tuple[str, ...] = ()
    mentions: int = 0


class LinkKind(StrEnum):
    """Why two records are linked."""

    TEMPORAL = "temporal"
    SEMANTIC = "semantic"
    ENTITY = "entity"
    CAUSES = "causes"
    CAUSED_BY = "caused_by"
    ENABLES = "enables"
    PREVENTS = "prevents"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two records, named by their URIs; `via` is the name of the entity that
    holds them together, "" where none does."""

    bank: str
    source: str
    target: str
    kind: LinkKind
    weight: float = 1.0
    via: str = ""


class SpellingSource(StrEnum):
    """How a spelling was come by."""

    FILE = "file"  # a tool or a commit touched it
    PATH = "path"  # a text names it
    NAME = "name"  # an identifier
    PACKAGE = "package"
    PERSON = "person"
    PROPER = "proper"  # a word in capitals amid a sentence
    PHRASE = "phrase"  # "the auth provider"
    ISSUE = "issue"
    COMMIT = "commit"


class MentionRole(IntFlag):
    """What a spelling does in a record."""

    MENTIONED = 0
    ABOUT = 1  # in the title, or the words of a memory
    TOUCHED = 2  # a file that was changed
    EFFECT = 4  # what came of something
    CAUSE = 8  # what something is put down to
    PURPOSE = 16  # what something is done for
    AVERTED = 32  # what something keeps from happening
    PROBLEM = 64  # what fails
    MENDED = 128  # changed, and then the tests passed


class Mention(NamedTuple):
    """A spelling in a record; spellings with the same key may mean the same. `id` is what an
    entity with this spelling is known by."""

    sort: SpellingSource
    text: str
    key: str
    parts: MentionRole = MentionRole.MENTIONED
    id: str = ""


class ProvenAlias(NamedTuple):
    """What a record proves to be two names of one thing: a file's old and new path, or a person's
    name and address."""

    sort: SpellingSource
    one: str
    other: str


class Node(NamedTuple):
    """A record in the graph: what it mentions, and a hash of what that was read from."""

    kind: str
    id: str
    session: str
    time: str
    hash: str
    mentions: tuple[Mention, ...] = ()
    same: tuple[ProvenAlias, ...] = ()
