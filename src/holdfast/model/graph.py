"""Who and what is involved, and how records hang together: entity and link."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    COMPONENT = "component"
    FILE = "file"
    CONCEPT = "concept"


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, component, file or concept, under one canonical name."""

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
    """An edge between two records, named by their URIs."""

    bank: str
    source: str
    target: str
    kind: LinkKind
    weight: float = 1.0
