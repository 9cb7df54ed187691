"""What one GraphQL query may cost, estimated from its text before anything is read.

The cost of a list is the cost of one item times the highest possible number of items, so a short
query that would fan out costs as much as a long one.
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

# Levels of fields; our longest chain (banks, sessions, exchanges, messages) has seven.
MAX_DEPTH = 10
# Estimated fields: a few full pages of lists with their details.
MAX_COST = 20_000
# Tokens of the query text; the parser stops there.
MAX_TOKENS = 4_000
# Introspection queries are deep by nature; only these fields make them recursive.
_MAX_SCHEMA_DEPTH = 20
_SCHEMA_LISTS = ("fields", "interfaces", "possibleTypes", "inputFields")
_MAX_SCHEMA_LISTS = 3
# The lists of the schema, with their default limits.
_DEFAULT_LIMITS = {
    **dict.fromkeys(
        "banks sessions exchanges memories concepts facts entities commits decisions".split(), 50
    ),
    "messages": 100,
    "search": 10,
}
# Assumed where the limit is a variable: the largest page.
_UNKNOWN_LIMIT = 200
# A limit with more digits counts as unknown; it is refused when it is read.
_MAX_LIMIT_DIGITS = 6
# A field that searches with models or changes something takes the single engine thread.
_ENGINE_COST = 200
_READ_FIELDS = frozenset(_DEFAULT_LIMITS) - {"search"} | {"bank", "session", "record"}


class _Position(NamedTuple):
    depth: int = 0
    schema_lists: int = 0
    in_schema: bool = False
    fragments: tuple[str, ...] = ()


def check(document: DocumentNode) -> None:
    """Raise `InputError` if a query costs too much or is too deep."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            cost = _cost(one.selection_set, fragments, _Position())
            if cost > MAX_COST:
                raise InputError(
                    f"This asks for about {cost:,} things; {MAX_COST:,} are answered at once.",
                    "Lower a limit, or ask in several requests.",
                )


def _cost(
    selected: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], position: _Position
) -> int:
    total = 0
    for field, where in _fields(selected, fragments, position):
        name = field.name.value
        schema = where.in_schema or name in ("__schema", "__type")
        lists = where.schema_lists + (schema and name in _SCHEMA_LISTS)
        within = _Position(where.depth + 1, lists, schema, where.fragments)
        if within.depth > (_MAX_SCHEMA_DEPTH if schema else MAX_DEPTH) or lists > _MAX_SCHEMA_LISTS:
            raise InputError("This asks too deep.", f"At most {MAX_DEPTH} levels are answered.")
        own_cost = (
            _ENGINE_COST if where.depth == 0 and not schema and name not in _READ_FIELDS else 1
        )
        cost_below = _cost(field.selection_set, fragments, within) if field.selection_set else 0
        total += own_cost + _max_items(field) * cost_below
        if total > MAX_COST * _UNKNOWN_LIMIT:
            return total  # far too much already
    return total


def _fields(
    selected: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], position: _Position
) -> Iterator[tuple[FieldNode, _Position]]:
    for one in selected.selections:
        match one:
            case FieldNode():
                yield one, position
            case InlineFragmentNode():
                yield from _fields(one.selection_set, fragments, position)
            case FragmentSpreadNode():
                name = one.name.value
                if name in position.fragments or len(position.fragments) >= MAX_DEPTH:
                    raise InputError("A fragment leads into itself.", "Take it out.")
                if name in fragments:
                    within = position._replace(fragments=(*position.fragments, name))
                    yield from _fields(fragments[name].selection_set, fragments, within)
            case _:
                pass


def _max_items(field: FieldNode) -> int:
    """How many items a field returns at most; 1 for a field that is no list."""
    usual = _DEFAULT_LIMITS.get(field.name.value)
    if usual is None:
        return 1
    for argument in field.arguments or ():
        if argument.name.value == "limit":
            value = argument.value
            if isinstance(value, IntValueNode) and len(value.value) < _MAX_LIMIT_DIGITS:
                return max(1, int(value.value))
            return _UNKNOWN_LIMIT
    return usual
