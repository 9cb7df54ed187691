"""What one GraphQL query may cost, estimated from its text before anything is read.

The query is walked with its fragments as they are spread, and each field costs as often as the
lists around it can have items. The walk ends where the cost is too high, so a short text that would
fan out takes no time to refuse.
"""

from __future__ import annotations

from typing import cast

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
_SEARCHING_FIELDS = ("search", "searchMemory")
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
# The longest texts and lists that a field may be given.
_MAX_CHARS = 4_000
_MAX_TEXT_CHARS = 20_000
_MAX_LIST_ITEMS = 20


def check(document: DocumentNode) -> None:
    """Raise `InputError` if a query costs too much, is too deep or searches too often."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            try:
                _Walk(fragments).add(one.selection_set)
            except RecursionError as error:
                raise InputError("A fragment includes itself.", "Remove the cycle.") from error


def check_argument(name: str, value: object) -> None:
    """Raise `InputError` if a text or a list that a field is given is too long."""
    most = _MAX_TEXT_CHARS if name == "text" else _MAX_CHARS
    if isinstance(value, str) and len(value) > most:
        raise InputError(f"{name} is too long.", f"At most {most:,} characters are allowed.")
    if isinstance(value, list):
        items = cast(list[object], value)
        if len(items) > _MAX_LIST_ITEMS:
            raise InputError(f"{name} is too long.", f"At most {_MAX_LIST_ITEMS} are allowed.")
        for one in items:
            check_argument(name, one)


class _Walk:
    """Counts what one operation costs."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._cost = 0
        self._searches = 0

    def add(
        self, selected: SelectionSetNode, times: int = 1, depth: int = 1, schema_lists: int = -1
    ) -> None:
        """Count a selection that is made so many times; `schema_lists` is how many lists of the
        schema it is within, -1 outside of the schema."""
        for one in selected.selections:
            self._cost += times
            if self._cost > MAX_COST:
                raise InputError(
                    f"This query requests too many items; at most {MAX_COST:,} are allowed.",
                    "Lower a limit, or send several requests.",
                )
            match one:
                case FieldNode():
                    self._add_field(one, times, depth, schema_lists)
                case InlineFragmentNode():
                    self.add(one.selection_set, times, depth, schema_lists)
                case FragmentSpreadNode():
                    if fragment := self._fragments.get(one.name.value):
                        self.add(fragment.selection_set, times, depth, schema_lists)
                case _:
                    pass

    def _add_field(self, field: FieldNode, times: int, depth: int, schema_lists: int) -> None:
        name = field.name.value
        in_schema = schema_lists >= 0 or name in ("__schema", "__type")
        if in_schema:
            schema_lists = max(schema_lists, 0) + (name in _SCHEMA_LISTS)
        if depth > (_MAX_SCHEMA_DEPTH if in_schema else MAX_DEPTH) or (
            schema_lists > _MAX_SCHEMA_LISTS
        ):
            raise InputError("The query is too deep.", f"At most {MAX_DEPTH} levels are allowed.")
        if depth == 1 and name in _SEARCHING_FIELDS:
            self._searches += 1
            if self._searches > MAX_SEARCHES:
                raise InputError(
                    f"This query searches more than {MAX_SEARCHES} times.", "Send several requests."
                )
        if field.selection_set is not None:
            self.add(field.selection_set, times * _max_items(field), depth + 1, schema_lists)


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
