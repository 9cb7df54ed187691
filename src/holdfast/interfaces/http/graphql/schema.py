"""The GraphQL schema: a field for each operation, queries for those that read and mutations for
those that change something or answer a question, with types made of the records that they return;
and the execution of a request.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
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
    OperationType,
    Undefined,
    get_operation_ast,
    parse,
    validate,
)
from graphql import GraphQLField as AnyField
from graphql import execute as run_query  # pyright: ignore[reportUnknownVariableType]

from holdfast.errors import BusyError, ForbiddenError, HoldfastError, InputError, StoreError
from holdfast.interfaces.http.auth import permissions
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.graphql import limits
from holdfast.interfaces.http.rest import run_in_pool
from holdfast.operations.binding import read_arguments
from holdfast.operations.operation import Operation, Parameter
from holdfast.operations.registry import NOT_OFFERED, all_operations, find_operation
from holdfast.operations.shapes import Json, fields_of, record_fields, result_json

# The slowest text that the parser takes is validated in a second and a half of processor time.
_CHECK_TIMEOUT_S = 10.0
# How long the fields of a query may take together: as many as the limits let through take about a
# second of processor time. What changes or answers may wait for a model service; it has the
# time that any request has.
_READ_TIMEOUT_S = 30.0
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


class Context:
    """What every resolver gets. One request runs only a few tasks at a time, however many fields it
    has, and none after its time is up."""

    def __init__(self, pool: MemoryPool, timeout_s: float) -> None:
        self.too_late = BusyError(
            f"This was not answered within {timeout_s:g} s.",
            "Request less at once, or try again later.",
        )
        self._until = time.monotonic() + timeout_s
        self._pool = pool
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT_READS)

    async def run(self, operation: Operation, given: Mapping[str, Any]) -> Any:
        """The result of an operation as JSON."""
        if time.monotonic() >= self._until:
            raise self.too_late
        permissions.check(permissions.permission_of(operation), principal())
        arguments = read_arguments(operation, given)
        async with self._slots:
            return result_json(await run_in_pool(self._pool, operation, arguments))


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
            limits.camel_name(name): _FIELD(self.of(hint), resolve=_field(name))
            for name, hint in hints.items()
        }
        lists = [name for name, hint in hints.items() if get_origin(hint) is tuple]
        if lists and ("cursor" in hints or len(hints) == 1):
            made.setdefault("items", made[limits.camel_name(lists[0])])
        for name, (operation, given) in _LINKS.get(kind.__name__, {}).items():
            made[name] = self.field_of(find_operation(operation), given)
        for name, read in _OTHER_NAMES.get(kind.__name__, {}).items():
            made[name] = _FIELD(_JSON, resolve=_computed(read))
        return made

    def field_of(self, operation: Operation, of_parent: Mapping[str, str] | None = None) -> Any:
        """The field of an operation; some of its arguments are fields of the record around it."""
        parent = of_parent or {}
        asked = [
            one for one in operation.parameters if not one.arg.on_screen and one.name not in parent
        ]
        names = {limits.camel_name(one.name): one.name for one in asked}

        async def resolve(root: Any, info: Any, **given: Any) -> Any:
            own = {names[name]: value for name, value in given.items()}
            own |= {name: root[field] for name, field in parent.items()}
            return await info.context.run(operation, own)

        return _FIELD(
            self.of(operation.result),
            args={limits.camel_name(one.name): _argument(one) for one in asked},
            resolve=resolve,
            description=f"{operation.summary}. {' '.join(operation.details.split())}".strip(),
        )


def _field(name: str) -> Callable[[Json, Any], Any]:
    return lambda record, info: record.get(name)


def _computed(read: Callable[[Json], Any]) -> Callable[[Json, Any], Any]:
    return lambda record, info: read(record)


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
            (queries if one.only_reads else mutations)[limits.camel_name(one.id)] = types.field_of(
                one
            )
    for name, operation in _ALIASES.items():
        mutations[name] = types.field_of(find_operation(operation))
    return GraphQLSchema(
        GraphQLObjectType("Query", queries, description="What reads."),
        GraphQLObjectType("Mutation", mutations, description="What changes something, or asks."),
    )


async def answer(
    pool: MemoryPool,
    query: str,
    variables: dict[str, Any] | None,
    operation: str | None,
    read_timeout_s: float = _READ_TIMEOUT_S,
) -> dict[str, Any]:
    """The response to a GraphQL request. The query is checked in a thread, since no check of a text
    may keep the server from answering others. Both checking and answering end after a while, with
    an error; a task that runs then is not broken off, but nobody waits for it."""
    checking = asyncio.get_running_loop().run_in_executor(_CHECKS, _check, query, operation)
    try:
        document = await asyncio.wait_for(checking, _CHECK_TIMEOUT_S)
    except TimeoutError:
        too_long = InputError("Checking this query takes too long.", "Send a smaller one.")
        return _refused(too_long)
    except (GraphQLError, HoldfastError, RecursionError) as error:
        return _refused(error)
    if isinstance(document, list):
        return _refused(*document)
    wanted = get_operation_ast(document, operation)
    only_reads = wanted is not None and wanted.operation is OperationType.QUERY
    timeout_s = read_timeout_s if only_reads else pool.settings.serve.request_s
    context = Context(pool, timeout_s)
    answering: Any = run_query(
        schema(),
        document,
        context_value=context,
        variable_values=variables,
        operation_name=operation,
    )
    try:
        result: Any = (
            await asyncio.wait_for(answering, timeout_s)
            if asyncio.iscoroutine(answering)
            else answering
        )
    except TimeoutError:
        return _refused(context.too_late)
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = [_error_json(error) for error in result.errors]
    return response


def _check(query: str, operation: str | None) -> DocumentNode | list[GraphQLError]:
    """The parsed query if it is valid and within the limits; else what is not valid in it."""
    document = parse(query, no_location=True, max_tokens=limits.MAX_TOKENS)
    errors = validate(schema(), document)
    if errors:
        return errors
    if get_operation_ast(document, operation) is None:
        named = f"no operation {operation!r}" if operation else "not one operation"
        raise InputError(f"This query has {named}.", "Name one of its operations.")
    limits.check(document, schema())
    return document


def _refused(*errors: Exception) -> dict[str, Any]:
    return {"data": None, "errors": [_error_json(error) for error in errors]}


_ERROR_CODES: tuple[tuple[type[HoldfastError], str], ...] = (
    (BusyError, "busy"),
    (StoreError, "unavailable"),
    (ForbiddenError, permissions.NOT_PERMITTED),
)


def _error_json(error: Exception) -> dict[str, Any]:
    """An error as GraphQL has it, without internals."""
    cause = error.original_error if isinstance(error, GraphQLError) else None
    known_error = next((one for one in (error, cause) if isinstance(one, HoldfastError)), None)
    place = {"path": error.path} if isinstance(error, GraphQLError) and error.path else {}
    if known_error is not None:
        code = next((code for kind, code in _ERROR_CODES if isinstance(known_error, kind)), "")
        aside = {"code": code or "bad_input", "remedy": known_error.remedy}
        return {"message": known_error.message, **place, "extensions": aside}
    if isinstance(error, GraphQLError) and cause is None:
        return {"message": error.message, **place, "extensions": {"code": "bad_form", "remedy": ""}}
    deep = isinstance(error, RecursionError)
    message = "The query is too deep." if deep else "Something went wrong."
    return {"message": message, **place, "extensions": {"code": "failed", "remedy": ""}}
