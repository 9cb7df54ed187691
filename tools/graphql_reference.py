"""The reference of GraphQL, as Markdown made from the schema that the server answers with.

`make docs` puts it into docs/graphql.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, cast

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    print_ast,
)
from strawberry.types.base import StrawberryObjectDefinition

from holdfast.interfaces.http.graphql.schema import SCHEMA


def read_schema() -> GraphQLSchema:
    """The schema as a client sees it."""
    return build_schema(SCHEMA.as_str())


def _docstrings(type_name: str) -> dict[str, str]:
    """What the code says about a type (under "") and about its fields, by their GraphQL names."""
    definition = SCHEMA.get_type_by_name(type_name)
    if not isinstance(definition, StrawberryObjectDefinition):
        return {}
    found = {"": inspect.getdoc(definition.origin) or ""}
    for field in definition.fields:
        # Strawberry does not say of what type a resolver is.
        resolver = cast("Any", field.base_resolver)  # pyright: ignore[reportUnknownMemberType]
        if resolver is not None:
            name = SCHEMA.config.name_converter.get_graphql_name(field)
            found[name] = inspect.getdoc(resolver.wrapped_func) or ""
    return found


def _argument(name: str, argument: GraphQLArgument) -> str:
    shown = f"{name}: {_type_of(argument)}"
    if argument.ast_node is None or argument.ast_node.default_value is None:
        return shown
    return f"{shown} = {print_ast(argument.ast_node.default_value)}"


def _type_of(part: GraphQLArgument | GraphQLField) -> str:
    return str(cast("object", part.type))  # pyright: ignore[reportUnknownMemberType]


def _call(name: str, field: GraphQLField) -> str:
    arguments = ", ".join(_argument(*item) for item in field.args.items())
    called = f"{name}({arguments})" if arguments else name
    return f"{called}: {_type_of(field)}"


def _operations(type: GraphQLObjectType | None) -> Iterator[str]:
    assert type is not None
    told = _docstrings(type.name)
    for name, field in sorted(type.fields.items()):
        yield f"### {name}"
        yield ""
        if told.get(name):
            yield told[name]
            yield ""
        yield f"```\n{_call(name, field)}\n```"
        yield ""


def _objects(schema: GraphQLSchema) -> Iterator[str]:
    roots = (schema.query_type, schema.mutation_type)
    for name, type in sorted(schema.type_map.items()):
        if not isinstance(type, GraphQLObjectType) or type in roots or name.startswith("__"):
            continue
        docstrings = _docstrings(name)
        yield f"### {name}"
        yield ""
        if docstrings.get(""):
            yield docstrings[""]
            yield ""
        yield "| field | |"
        yield "|---|---|"
        for field_name, field in type.fields.items():
            told = docstrings.get(field_name, "").replace("\n", " ").replace("|", "\\|")
            yield f"| `{_call(field_name, field)}` | {told} |"
        yield ""


def reference() -> str:
    """Queries, mutations and types."""
    schema = read_schema()
    lines = ["## Queries", "", *_operations(schema.query_type)]
    lines += ["## Mutations", "", *_operations(schema.mutation_type)]
    lines += ["## Types", "", *_objects(schema)]
    return "\n".join(lines).rstrip()
