"""What one GraphQL query may cost, estimated from its text before anything is read.

The query is walked with its fragments as they are spread, and each field costs as often as the
lists around it can have items. The walk ends where the cost is too high, so a short text that would
fan out takes no time to refuse.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
)

from holdfast.errors import InputError
from holdfast.operations.operation import Work
from holdfast.operations.registry import all_operations

# Levels of fields; our longest chain (banks, sessions, exchanges, messages) has seven.
MAX_DEPTH = 10
# Estimated fields: a few full pages of lists with their details.
MAX_COST = 20_000
# Tokens of the query text; the parser stops there.
MAX_TOKENS = 4_000
# Fields that search or answer. Each holds the single engine thread for up to a third of a second,
# and an answer is kept in the history of research; two let a client compare.
MAX_SEARCHES = 2
# Introspection queries are deep by nature; only these fields make them recursive.
_MAX_SCHEMA_DEPTH = 20
_SCHEMA_LISTS = ("fields", "interfaces", "possibleTypes", "inputFields")
_MAX_SCHEMA_LISTS = 3
# Assumed where the limit is a variable: the largest page.
_UNKNOWN_LIMIT = 200
# Assumed of lists without a limit, such as that of the banks.
_UNLIMITED = 50
# A limit with more digits counts as unknown; it is refused when it is read.
_MAX_LIMIT_DIGITS = 6
_SEARCHES = (Work.SEARCH, Work.SEARCH_WITH_MODEL)


@cache
def _searching_fields() -> frozenset[str]:
    """Fields that search or answer."""
    found = (camel_name(one.id) for one in all_operations() if one.work in _SEARCHES)
    return frozenset((*found, "searchMemory"))


def camel_name(name: str) -> str:
    """A name as GraphQL writes it."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def check(document: DocumentNode, schema: GraphQLSchema) -> None:
    """Raise `InputError` if a query costs too much, is too deep or searches too often."""
    fragments = {
        one.name.value: one
        for one in document.definitions
        if isinstance(one, FragmentDefinitionNode)
    }
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            try:
                root = schema.get_root_type(one.operation)
                _Walk(fragments).add(one.selection_set, root)
            except RecursionError as error:
                raise InputError("A fragment includes itself.", "Remove the cycle.") from error


class _Walk:
    """Counts what one operation costs."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._cost = 0
        self._searches = 0

    def add(
        self,
        selected: SelectionSetNode,
        kind: Any,
        times: int = 1,
        depth: int = 1,
        schema_lists: int = -1,
        items: int = 1,
    ) -> None:
        """Count a selection of fields of a type that is made so many times, where each list of it
        has so many items; `schema_lists` is how many lists of the schema it is within, -1 outside
        of the schema."""
        for one in selected.selections:
            self._cost += times
            if self._cost > MAX_COST:
                raise InputError(
                    f"This query requests too many items; at most {MAX_COST:,} are allowed.",
                    "Lower a limit, or send several requests.",
                )
            match one:
                case FieldNode():
                    self._add_field(one, kind, times, depth, schema_lists, items)
                case InlineFragmentNode():
                    self.add(one.selection_set, kind, times, depth, schema_lists, items)
                case FragmentSpreadNode():
                    if fragment := self._fragments.get(one.name.value):
                        self.add(fragment.selection_set, kind, times, depth, schema_lists, items)
                case _:
                    pass

    def _add_field(
        self,
        field: FieldNode,
        kind: Any,
        times: int,
        depth: int,
        schema_lists: int,
        items: int,
    ) -> None:
        name = field.name.value
        in_schema = schema_lists >= 0 or name in ("__schema", "__type")
        if in_schema:
            schema_lists = max(schema_lists, 0) + (name in _SCHEMA_LISTS)
        if depth > (_MAX_SCHEMA_DEPTH if in_schema else MAX_DEPTH) or (
            schema_lists > _MAX_SCHEMA_LISTS
        ):
            raise InputError("The query is too deep.", f"At most {MAX_DEPTH} levels are allowed.")
        if depth == 1 and name in _searching_fields():
            self._searches += 1
            if self._searches > MAX_SEARCHES:
                raise InputError(
                    f"This query searches more than {MAX_SEARCHES} times.", "Send several requests."
                )
        if field.selection_set is None:
            return
        fields: dict[str, Any] = kind.fields if isinstance(kind, GraphQLObjectType) else {}
        declared = fields.get(name)
        if declared is None:
            self.add(field.selection_set, None, times, depth + 1, schema_lists)
            return
        if str(declared.type).startswith("["):
            times *= items
        # Lists of a record that is within another were read with it.
        asks = depth == 1 or declared.args
        items = _max_items(field, declared.args.get("limit")) if asks else 1
        self.add(
            field.selection_set,
            get_named_type(declared.type),
            times,
            depth + 1,
            schema_lists,
            items,
        )


def _max_items(field: FieldNode, limit: GraphQLArgument | None) -> int:
    """How many items the lists of an operation have at most."""
    for argument in field.arguments or ():
        if argument.name.value == "limit":
            value = argument.value
            if isinstance(value, IntValueNode) and len(value.value) < _MAX_LIMIT_DIGITS:
                return max(1, int(value.value))
            return _UNKNOWN_LIMIT
    return limit.default_value if limit else _UNLIMITED
