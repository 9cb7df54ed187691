"""Entities, what mentions them, and the links between records.

A record *mentions* spellings; spellings that mean the same are one entity. The *role* of a mention
is what the spelling does in the record: it is what broke, what was changed, what something is
blamed on. Records are linked by the roles that one entity has in both.
"""

from __future__ import annotations

from enum import IntFlag, StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    COMPONENT = "component"
    FILE = "file"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, component, file or concept, under one canonical name. `mentions` is the number of
    records that mention it."""

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
    """An edge between two records, named by their URIs; `via` is the name of the entity that they
    share, "" where there is none."""

    bank: str
    source: str
    target: str
    kind: LinkKind
    weight: float = 1.0
    via: str = ""


class SpellingSource(StrEnum):
    """Where a spelling was found, or what kind of word it is."""

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
    """What a spelling does in a record; a mention may have several roles."""

    MENTIONED = 0
    ABOUT = 1  # in the title, or the words of a memory
    TOUCHED = 2  # a file that was changed
    EFFECT = 4  # what resulted from something
    CAUSE = 8  # what something is attributed to
    PURPOSE = 16  # what something is done for
    AVERTED = 32  # what something prevents
    PROBLEM = 64  # what fails
    MENDED = 128  # changed, and then the tests passed


class Mention(NamedTuple):
    """A spelling in a record; spellings with the same key may mean the same. `id` is the id of an
    entity that has this spelling alone."""

    source: SpellingSource
    text: str
    key: str
    roles: MentionRole = MentionRole.MENTIONED
    id: str = ""


class ProvenAlias(NamedTuple):
    """Two names of one thing, as a record proves: a file's old and new path, or a person's name
    and address."""

    source: SpellingSource
    one: str
    other: str


class Node(NamedTuple):
    """A record in the graph: its mentions, and a hash of the text that they were read from."""

    kind: str
    id: str
    session: str
    time: str
    hash: str
    mentions: tuple[Mention, ...] = ()
    aliases: tuple[ProvenAlias, ...] = ()


class LinkedRecord(NamedTuple):
    """A record at the other end of a link: how it is linked, how strongly, and by which entity."""

    kind: LinkKind
    uri: str
    title: str
    time: str
    weight: float
    via: str
