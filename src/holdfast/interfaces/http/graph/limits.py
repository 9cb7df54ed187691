"""How much one GraphQL question may ask for, told from its words before anything is looked up.

A list counts as often as it has items at most, and all that is asked of an item counts as often
again; so a short question that would fan out is as dear as a long one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from holdfast.errors import InputError

MOST_DEEP = 10
MOST_COST = 20_000
MOST_TOKENS = 4_000
# A question about the schema is deep by nature, but leads into itself by these alone.
_SCHEMA_DEEP = 20
_SCHEMA_LISTS = ("fields", "interfaces", "possibleTypes", "inputFields")
_MOST_SCHEMA_LISTS = 3
_LISTS = {
    "banks": 50,
    "sessions": 50,
    "messages": 100,
    "exchanges": 50,
    "memories": 50,
    "concepts": 50,
    "facts": 50,
    "entities": 50,
    "commits": 50,
    "decisions": 50,
    "search": 10,
}
_UNKNOWN = 200
_DIGITS = 6
# What recalls, thinks or changes something takes the one thread for it.
_WORK = 200
_CHEAP = frozenset(_LISTS) - {"search"} | {"bank", "session", "record"}


class _Place(NamedTuple):
    depth: int = 0
    schema_lists: int = 0
    in_schema: bool = False
    fragments: tuple[str, ...] = ()


def check(document: DocumentNode) -> None:
    """Refuse what asks for too much."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            cost = _cost(one.selection_set, fragments, _Place())
            if cost > MOST_COST:
                raise InputError(
                    f"This asks for about {cost:,} things; {MOST_COST:,} are answered at once.",
                    "Lower a limit, or ask in several requests.",
                )


def _cost(
    selected: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], place: _Place
) -> int:
    total = 0
    for field, where in _fields(selected, fragments, place):
        name = field.name.value
        schema = where.in_schema or name in ("__schema", "__type")
        lists = where.schema_lists + (schema and name in _SCHEMA_LISTS)
        within = _Place(where.depth + 1, lists, schema, where.fragments)
        if within.depth > (_SCHEMA_DEEP if schema else MOST_DEEP) or lists > _MOST_SCHEMA_LISTS:
            raise InputError("This asks too deep.", f"At most {MOST_DEEP} levels are answered.")
        own = _WORK if where.depth == 0 and not schema and name not in _CHEAP else 1
        below = _cost(field.selection_set, fragments, within) if field.selection_set else 0
        total += own + _times(field) * below
        if total > MOST_COST * _UNKNOWN:
            return total  # far too much already
    return total


def _fields(
    selected: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], place: _Place
) -> Iterator[tuple[FieldNode, _Place]]:
    for one in selected.selections:
        match one:
            case FieldNode():
                yield one, place
            case InlineFragmentNode():
                yield from _fields(one.selection_set, fragments, place)
            case FragmentSpreadNode():
                name = one.name.value
                if name in place.fragments or len(place.fragments) >= MOST_DEEP:
                    raise InputError("A fragment leads into itself.", "Take it out.")
                if name in fragments:
                    within = place._replace(fragments=(*place.fragments, name))
                    yield from _fields(fragments[name].selection_set, fragments, within)
            case _:
                pass


def _times(field: FieldNode) -> int:
    """How many items a list has at most; 1 for what is none."""
    usual = _LISTS.get(field.name.value)
    if usual is None:
        return 1
    for argument in field.arguments or ():
        if argument.name.value == "limit":
            value = argument.value
            if isinstance(value, IntValueNode) and len(value.value) < _DIGITS:
                return max(1, int(value.value))
            return _UNKNOWN
    return usual
