"""The graph's own description, as operations, and each of them as a question that asks for all
that there is to be told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.e2e.access.operations import Call, Operation, Parameter, meaning

Json = dict[str, Any]

_TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }"
DESCRIBE = f"""{{ __schema {{ queryType {{ name }} mutationType {{ name }} types {{ kind name fields
{{ name type {{ {_TYPE} }} args {{ name defaultValue type {{ {_TYPE} }} }} }} }} }} }}"""
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
        given = ", ".join(f"{name}: {json.dumps(value)}" for name, value in call.values.items())
        arguments = f"({given})" if given else ""
        chosen = self._chosen(field["type"], _DEEPEST)
        return {"query": f"{operation.method} {{ {operation.path}{arguments} {chosen} }}"}

    def _places(self, operation: str, field: Json) -> Iterator[Parameter]:
        for told in field["args"]:
            kind = _named(told["type"])
            schema: Json = {"type": _SCALARS.get(kind["name"], "string")}
            if told["defaultValue"] is not None:
                schema["default"] = json.loads(told["defaultValue"])
            if "LIST" in json.dumps(told["type"]):
                schema = {"type": "array", "items": schema}
            required = told["type"]["kind"] == "NON_NULL" and told["defaultValue"] is None
            name = told["name"]
            yield Parameter("argument", name, meaning(operation, name, schema), schema, required)

    def _chosen(self, type: Json, depth: int) -> str:
        """All fields of a type that need no arguments, as deep as it goes."""
        found = self._types[_named(type)["name"]]
        if not found["fields"]:
            return ""
        inner = [
            f"{field['name']}{_few(field)} {self._chosen(field['type'], depth - 1)}"
            for field in found["fields"]
            if depth > 0 or not self._types[_named(field["type"])["name"]]["fields"]
        ]
        return f"{{ {' '.join(inner)} }}"


def _few(field: Json) -> str:
    """A list counts as often as its limit, and there is a limit to that."""
    return "(limit: 3)" if any(told["name"] == "limit" for told in field["args"]) else ""


def _named(type: Json) -> Json:
    while type.get("ofType"):
        type = type["ofType"]
    return type
