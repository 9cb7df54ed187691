"""The GraphQL schema: a field for each operation, queries for those that read and mutations for
those that change something or answer a question, with types made of the records that they return;
and the execution of a request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from graphql import (
    DocumentNode,
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLError,
    GraphQLFloat,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    Undefined,
    get_operation_ast,
    parse,
    validate,
)
from graphql import GraphQLField as AnyField
from graphql import execute as run_query  # pyright: ignore[reportUnknownVariableType]

from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.http.auth import permissions
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.refusals import describe_error
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.rest import run_operation
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import Operation, Parameter, Work
from holdfast.operations.registry import NOT_OFFERED, all_operations, find_operation
from holdfast.operations.shapes import Json, fields_of, record_fields, result_json

# What one request may cost: fields, a few full pages of lists with their details. What searches or
# answers holds the single engine thread for up to a third of a second, and an answer is kept in the
# history of research: so two fit, which lets a client compare.
MAX_COST = 20_000
_SEARCH_COST = 7_000
# The library refuses queries that look too deep into the schema. The slowest text of so many tokens
# is validated in a second and a half of processor time.
_MAX_TOKENS = 4_000
# Tasks of one request that wait in the pool at a time; more would crowd out other requests.
_MAX_CONCURRENT_READS = 8
# Texts are checked beside requests; more threads would only take the processor from them.
_CHECKS = ThreadPoolExecutor(1, "graphql")
# The library declares a field as generic, in what a resolver gets.
_FIELD: Any = AnyField
_JSON = GraphQLScalarType("JSON", description="Any JSON value.")
_SCALARS: dict[Any, GraphQLScalarType] = {
    str: GraphQLString,
    int: GraphQLInt,
    float: GraphQLFloat,
    bool: GraphQLBoolean,
}
# Fields of a record that ask an operation about it: the operation, and which argument gets which
# field of the record.
_LINKS: dict[str, dict[str, tuple[str, dict[str, str]]]] = {
    "Bank": {"sessions": ("sessions", {"bank": "id"})},
    "Session": {
        "messages": ("messages", {"id": "id", "bank": "bank"}),
        "exchanges": ("session-exchanges", {"id": "id", "bank": "bank"}),
        "digest": ("digest", {"id": "id", "bank": "bank"}),
    },
}
# Mutations by the name that other memories use, and what their answers call fields.
_ALIASES = {"searchMemory": "ask"}
_OTHER_NAMES: dict[str, dict[str, Callable[[Json], Any]]] = {
    "Citation": {"source": lambda citation: citation["uri"]},
    "Answer": {
        "searchedLayers": lambda answer: answer["layers_searched"],
        "success": lambda answer: True,
    },
}


class TooMuch(BaseException):
    """A request costs more than it may."""


class Context:
    """What every resolver gets. One request runs only a few tasks at a time, however many fields it
    has, and ends once it has cost too much."""

    def __init__(self, pool: MemoryPool) -> None:
        self._pool = pool
        self._left = MAX_COST
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_READS)

    def spend(self, cost: int = 1) -> None:
        """Count what a field costs."""
        self._left -= cost
        if self._left < 0:
            raise TooMuch

    async def run(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """The result of an operation as JSON."""
        searches = operation.work in (Work.SEARCH, Work.SEARCH_WITH_MODEL)
        self.spend(_SEARCH_COST if searches else 1)
        permissions.check(permissions.permission_of(operation), principal())
        arguments = read_arguments(operation, given)
        async with self._slots:
            self.spend(0)  # nothing more is looked up for a request that has ended
            return result_json(await run_operation(self._pool, operation, arguments))


def camel_name(name: str) -> str:
    """A name as GraphQL writes it."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


class _Types:
    """The types of the schema, by the records that they are made of."""

    def __init__(self) -> None:
        self._made: dict[type, GraphQLObjectType] = {}
        self._names: dict[str, type] = {}

    def of(self, hint: Any) -> Any:
        """The type of a field."""
        if get_origin(hint) in (Union, UnionType):
            within = [one for one in get_args(hint) if one is not NoneType]
            inner = self.of(within[0]) if len(within) == 1 else GraphQLNonNull(_JSON)
            return inner.of_type if NoneType in get_args(hint) else inner
        if get_origin(hint) in (tuple, list, frozenset, set):
            return GraphQLNonNull(GraphQLList(self.of(get_args(hint)[0])))
        return GraphQLNonNull(self._named(hint))

    def _named(self, hint: Any) -> Any:
        if hint in _SCALARS:
            return _SCALARS[hint]
        if not isinstance(hint, type):
            return _JSON
        kind: Any = hint
        if issubclass(kind, Enum):
            return GraphQLString
        return self._record(kind) if record_fields(kind) is not None else _JSON

    def _record(self, kind: Any) -> GraphQLObjectType:
        if kind not in self._made:
            name = kind.__name__
            if self._names.setdefault(name, kind) is not kind:
                raise TypeError(f"Two results are called {name}: {kind}, {self._names[name]}.")
            self._made[kind] = GraphQLObjectType(
                name, lambda: self._fields(kind), description=" ".join((kind.__doc__ or "").split())
            )
        return self._made[kind]

    def _fields(self, kind: Any) -> dict[str, Any]:
        hints = fields_of(kind)
        made = {
            camel_name(name): _FIELD(self.of(hint), resolve=_reads(lambda of, n=name: of.get(n)))
            for name, hint in hints.items()
        }
        lists = [name for name, hint in hints.items() if get_origin(hint) is tuple]
        if lists and ("cursor" in hints or len(hints) == 1):
            made.setdefault("items", made[camel_name(lists[0])])
        for name, (operation, given) in _LINKS.get(kind.__name__, {}).items():
            made[name] = self.field_of(find_operation(operation), given)
        for name, read in _OTHER_NAMES.get(kind.__name__, {}).items():
            made[name] = _FIELD(_JSON, resolve=_reads(read))
        return made

    def field_of(self, operation: Operation, of_parent: Mapping[str, str] | None = None) -> Any:
        """The field of an operation; some of its arguments are fields of the record around it."""
        parent = of_parent or {}
        asked = [
            one for one in operation.parameters if not one.arg.on_screen and one.name not in parent
        ]
        names = {camel_name(one.name): one.name for one in asked}

        async def resolve(root: Any, info: Any, **given: Any) -> Any:
            own = {names[name]: value for name, value in given.items()}
            own |= {name: root[field] for name, field in parent.items()}
            return await info.context.run(operation, own)

        return _FIELD(
            self.of(operation.result),
            args={camel_name(one.name): _argument(one) for one in asked},
            resolve=resolve,
            description=f"{operation.summary}. {' '.join(operation.details.split())}".strip(),
        )


def _reads(read: Callable[[Json], Any]) -> Callable[[Json, Any], Any]:
    def resolve(record: Json, info: Any) -> Any:
        info.context.spend()
        return read(record)

    return resolve


def _argument(parameter: Parameter) -> GraphQLArgument:
    kind: Any = GraphQLString if parameter.choices else _SCALARS.get(parameter.kind, _JSON)
    if parameter.many:
        kind = GraphQLList(GraphQLNonNull(kind))
    if parameter.required:
        kind = GraphQLNonNull(kind)
    choices = f". One of: {', '.join(parameter.choices)}" if parameter.choices else ""
    usual = parameter.default if isinstance(parameter.default, int) else Undefined
    return GraphQLArgument(kind, usual, description=f"{parameter.arg.help}{choices}.")


@cache
def schema() -> GraphQLSchema:
    """The schema of all operations."""
    types = _Types()
    queries: dict[str, Any] = {}
    mutations: dict[str, Any] = {}
    for one in all_operations():
        if one.name not in NOT_OFFERED["graphql"]:
            fields = queries if one.only_reads else mutations
            fields[camel_name(one.id)] = types.field_of(one)
    for name, operation in _ALIASES.items():
        mutations[name] = types.field_of(find_operation(operation))
    return GraphQLSchema(
        GraphQLObjectType("Query", queries, description="What reads."),
        GraphQLObjectType("Mutation", mutations, description="What changes something, or asks."),
    )


async def answer(
    context: Context, query: str, variables: Json | None = None, operation: str | None = None
) -> Json:
    """The response to a GraphQL request. The query is checked in a thread, since no check of a text
    may keep the server from answering others."""
    loop = asyncio.get_running_loop()
    try:
        document = await loop.run_in_executor(_CHECKS, _check, query, operation)
        found: Any = run_query(
            schema(),
            document,
            context_value=context,
            variable_values=variables,
            operation_name=operation,
        )
        found = await found if asyncio.iscoroutine(found) else found
    except ExceptionGroup as errors:
        return _response(None, errors.exceptions)
    except (GraphQLError, HoldfastError, RecursionError) as error:
        return _response(None, [error])
    except TooMuch:
        text = f"This query requests too much: more than {MAX_COST:,} items, or two searches."
        error = InputError(text, "Lower a limit, or send several requests.")
        return _response(None, [error])
    return _response(found.data, found.errors or ())


def _check(query: str, operation: str | None) -> DocumentNode:
    """The parsed query; raises what is wrong with it, or an `ExceptionGroup` of that."""
    document = parse(query, no_location=True, max_tokens=_MAX_TOKENS)
    if errors := validate(schema(), document):
        raise ExceptionGroup("The query is not valid.", errors)
    if get_operation_ast(document, operation) is None:
        named = f"no operation {operation!r}" if operation else "not one operation"
        raise InputError(f"This query has {named}.", "Name one of its operations.")
    return document


def _response(data: object, errors: Sequence[Exception]) -> Json:
    told = {"errors": [_error_json(error) for error in errors]} if errors else {}
    return {"data": data, **told}


def _error_json(error: Exception) -> Json:
    """An error as GraphQL has it, with the code that it has everywhere."""
    place: Json = {}
    if isinstance(error, GraphQLError):
        place = {"path": error.path} if error.path else {}
        if error.original_error is None:
            aside = {"code": "bad_form", "remedy": ""}
            return {"message": error.message, **place, "extensions": aside}
        error = error.original_error
    if isinstance(error, RecursionError):
        error = InputError("The query is too deep.", "Ask for less at once.")
    refusal = describe_error(error)
    aside = {"code": refusal.code, "remedy": refusal.remedy}
    return {"message": refusal.message, **place, "extensions": aside}
