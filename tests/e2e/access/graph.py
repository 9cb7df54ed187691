"""The graph's own description, as operations, and each of them as a question that asks for all
that there is to be told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from tests.e2e.access.operations import Call, Operation, Parameter, meaning

Json = dict[str, Any]

_TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }"
DESCRIBE = f"""{{ __schema {{ queryType {{ name }} mutationType {{ name }} types {{ kind name fields
{{ name type {{ {_TYPE} }} args {{ name description type {{ {_TYPE} }} }} }} }} }} }}"""
_CHOICES = re.compile(r"\. One of: (.+)\.$")
_DEEPEST = 3
_SCALARS = {"Int": "integer", "Float": "number", "Boolean": "boolean"}


class Graph:
    """What the graph says that it can be asked."""

    def __init__(self, described: Json) -> None:
        schema = described["data"]["__schema"]
        self._types: dict[str, Json] = {one["name"]: one for one in schema["types"]}
        self._roots = {
            "query": schema["queryType"]["name"],
            "mutation": schema["mutationType"]["name"],
        }

    def operations(self) -> Iterator[Operation]:
        """Every field of the query and of the mutation."""
        for sort, root in self._roots.items():
            for field in self._types[root]["fields"]:
                name = f"graph {field['name']}"
                yield Operation(name, sort, field["name"], tuple(self._places(name, field)))

    def question(self, call: Call) -> Json:
        """A call as a question, with its values as they are."""
        operation = call.operation
        root = self._types[self._roots[operation.method]]
        field = next(one for one in root["fields"] if one["name"] == operation.path)
        few: Json = {"limit": 3} if _has_limit(field) else {}
        values = {**few, **call.values}
        given = ", ".join(f"{name}: {_literal(value)}" for name, value in values.items())
        arguments = f"({given})" if given else ""
        chosen = self._chosen(field["type"], _DEEPEST)
        return {"query": f"{operation.method} {{ {operation.path}{arguments} {chosen} }}"}

    def _places(self, operation: str, field: Json) -> Iterator[Parameter]:
        for told in field["args"]:
            kind = _named(told["type"])
            schema: Json = {"type": _SCALARS.get(kind["name"], "string")}
            if choices := _CHOICES.search(told["description"]):
                schema["enum"] = choices[1].split(", ")
            if "LIST" in json.dumps(told["type"]):
                schema = {"type": "array", "items": schema}
            name, required = told["name"], told["type"]["kind"] == "NON_NULL"
            yield Parameter("argument", name, meaning(operation, name, schema), schema, required)

    def _chosen(self, type: Json, depth: int) -> str:
        """All fields of a type that need no arguments, as deep as it goes."""
        found = self._types[_named(type)["name"]]
        if not found["fields"]:
            return ""
        few = "(limit: 3)"
        inner = [
            f"{field['name']}{few * _has_limit(field)} {self._chosen(field['type'], depth - 1)}"
            for field in found["fields"]
            if depth > 0 or not self._types[_named(field["type"])["name"]]["fields"]
        ]
        return f"{{ {' '.join(inner)} }}"


def _literal(value: Any) -> str:
    """A value as a query writes it: the names of an object without quotes."""
    if isinstance(value, dict):
        named = cast("Json", value).items()
        return f"{{{', '.join(f'{name}: {_literal(one)}' for name, one in named)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, cast('list[Any]', value)))}]"
    return json.dumps(value)


def _has_limit(field: Json) -> bool:
    """A list counts as often as its limit, and there is a limit to that."""
    return any(told["name"] == "limit" for told in field["args"])


def _named(type: Json) -> Json:
    while type.get("ofType"):
        type = type["ofType"]
    return type
