"""What one GraphQL query may cost, estimated from its text before anything is read.

The cost of a list is the cost of one item times the highest possible number of items, so a short
query that would fan out costs as much as a long one. A fragment counts as often as it is spread,
but is walked once for each level at which it stands: fragments that spread each other many times
over cost no more time to estimate than they take to read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, cast

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
# Fields that search or answer. Each holds the single engine thread for up to a third of a second,
# and an answer is kept in the history of research; two let a client compare.
MAX_SEARCHES = 2
SEARCHING_FIELDS = frozenset({"search", "searchMemory"})
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
# The longest texts by the name of their argument, as REST takes them; of all others the last.
_MAX_CHARS = {"question": 4_000, "query": 4_000, "text": 20_000}
_MAX_OTHER_CHARS = 2_000
# The most items of a list that is an argument; there are eight layers and seven kinds.
_MAX_LIST_ITEMS = 20
# Far too much already; a cost is not counted beyond it, so that numbers stay small.
_ENDLESS = MAX_COST * _UNKNOWN_LIMIT


class _Position(NamedTuple):
    depth: int = 0
    schema_lists: int = 0
    in_schema: bool = False


class _Cost(NamedTuple):
    total: int = 0
    searches: int = 0

    def plus(self, other: _Cost, times: int = 1) -> _Cost:
        return _Cost(
            min(_ENDLESS, self.total + times * other.total), self.searches + other.searches
        )


def check(document: DocumentNode) -> None:
    """Raise `InputError` if a query costs too much, is too deep or searches too often."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    estimate = _Estimate(fragments)
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            cost = estimate.of_selection(one.selection_set, _Position())
            if cost.total > MAX_COST:
                about = "far too many" if cost.total >= _ENDLESS else f"about {cost.total:,}"
                raise InputError(
                    f"This query requests {about} items; at most {MAX_COST:,} are allowed.",
                    "Lower a limit, or send several requests.",
                )
            if cost.searches > MAX_SEARCHES:
                raise InputError(
                    f"This query searches {cost.searches:,} times; {MAX_SEARCHES} are allowed.",
                    "Send several requests.",
                )


def check_argument(name: str, value: object) -> None:
    """Raise `InputError` if a text or a list that a field is given is too long."""
    most = _MAX_CHARS.get(name, _MAX_OTHER_CHARS)
    if isinstance(value, str) and len(value) > most:
        raise InputError(f"{name} is too long.", f"At most {most:,} characters are allowed.")
    if isinstance(value, list):
        items = cast(list[object], value)
        if len(items) > _MAX_LIST_ITEMS:
            raise InputError(f"{name} is too long.", f"At most {_MAX_LIST_ITEMS} are allowed.")
        for one in items:
            check_argument(name, one)


class _Estimate:
    """The costs of one document, by fragment and position."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        # None while a fragment is being walked: whoever comes upon it again is inside it.
        self._known: dict[tuple[str, _Position], _Cost | None] = {}

    def of_selection(self, selected: SelectionSetNode, position: _Position) -> _Cost:
        """The cost of all that a selection names, with the fragments that it spreads."""
        cost = _Cost()
        for one in selected.selections:
            match one:
                case FieldNode():
                    cost = cost.plus(self._of_field(one, position))
                case InlineFragmentNode():
                    cost = cost.plus(self.of_selection(one.selection_set, position))
                case FragmentSpreadNode():
                    cost = cost.plus(_Cost(1)).plus(self._of_fragment(one.name.value, position))
                case _:
                    pass
        return cost

    def _of_fragment(self, name: str, position: _Position) -> _Cost:
        fragment = self._fragments.get(name)
        if fragment is None:
            return _Cost()
        place = (name, position)
        if place not in self._known:
            self._known[place] = None
            self._known[place] = self.of_selection(fragment.selection_set, position)
        known = self._known[place]
        if known is None:
            raise InputError("A fragment includes itself.", "Remove the cycle.")
        return known

    def _of_field(self, field: FieldNode, position: _Position) -> _Cost:
        name = field.name.value
        schema = position.in_schema or name in ("__schema", "__type")
        lists = position.schema_lists + (schema and name in _SCHEMA_LISTS)
        within = _Position(position.depth + 1, lists, schema)
        if within.depth > (_MAX_SCHEMA_DEPTH if schema else MAX_DEPTH) or lists > _MAX_SCHEMA_LISTS:
            raise InputError("The query is too deep.", f"At most {MAX_DEPTH} levels are allowed.")
        is_root = position.depth == 0 and not schema
        own_cost = _ENGINE_COST if is_root and name not in _READ_FIELDS else 1
        cost = _Cost(own_cost, int(is_root and name in SEARCHING_FIELDS))
        if field.selection_set is None:
            return cost
        return cost.plus(self.of_selection(field.selection_set, within), _max_items(field))


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
