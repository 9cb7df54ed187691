"""Parameters and results of operations as JSON, and as JSON Schema for whoever describes them."""

from __future__ import annotations

import types
from enum import Enum
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from holdfast.lazy_dataclass import field_names
from holdfast.model.kinds import kind_of_class
from holdfast.model.to_json import to_jsonable
from holdfast.model.uris import uri
from holdfast.operations.operation import Operation, Parameter

Json = dict[str, Any]
Record = TypeVar("Record")
_SIMPLE: dict[Any, Json] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    types.NoneType: {"type": "null"},
}
_SCALARS = frozenset((str, int, float, bool, types.NoneType))


def result_json(value: Any) -> Any:
    """A result as JSON: records as objects of their fields, those with an id also with their
    URI."""
    kind = cast("Any", type(value))
    if kind in _SCALARS:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        named = cast("dict[Any, Any]", value)
        return {str(name): result_json(one) for name, one in named.items()}
    names = record_fields(kind)
    if names is not None:
        made = {name: result_json(getattr(value, name)) for name in names}
        word = kind_of_class(kind)
        return {"uri": uri(word, made["id"]), **made} if word else made
    if isinstance(value, list | tuple | set | frozenset):
        return [result_json(one) for one in cast("list[Any]", value)]
    return to_jsonable(value)


def record_fields(kind: Any) -> tuple[str, ...] | None:
    """The fields of a named tuple or a dataclass; None for any other class."""
    fields: tuple[str, ...] | None = getattr(kind, "_fields", None)
    return fields or field_names(kind)


def record_from(kind: type[Record], *sources: object, **own: object) -> Record:
    """A record with the fields that its sources have under the same names, the first one that has
    it, and with its `own`."""
    made: Any = kind
    for name in record_fields(kind) or ():
        given = next((one for one in sources if hasattr(one, name)), None)
        if name not in own and given is not None:
            own[name] = getattr(given, name)
    return cast("Record", made(**own))


def fields_of(kind: Any) -> dict[str, Any]:
    """The fields of a record as JSON has it, with their types."""
    hints = get_type_hints(kind)
    names = record_fields(kind) or ()
    own = {"uri": str} if kind_of_class(kind) else {}
    return own | {name: hints[name] for name in names}


def parameter_schema(parameter: Parameter) -> Json:
    """A parameter as JSON Schema."""
    arg, kind = parameter.arg, parameter.kind
    one: Json = (
        {"type": "string", "enum": list(parameter.choices)}
        if parameter.choices
        else dict(_SIMPLE.get(kind, {"type": "object"}))
    )
    if kind in (int, float):
        one |= {"minimum": arg.least} if arg.least is not None else {}
        one |= {"maximum": arg.most} if arg.most is not None else {}
    elif kind is str and arg.most and not parameter.many:
        one["maxLength"] = int(arg.most)
    if kind is str and parameter.required and not parameter.many:
        one["minLength"] = 1
    if parameter.many:
        one = {"type": "array", "items": one} | ({"maxItems": int(arg.most)} if arg.most else {})
    one["description"] = arg.help
    if arg.example:
        one["examples"] = [[arg.example] if parameter.many else arg.example]
    default = to_jsonable(parameter.default)
    if not parameter.required and default not in (None, "", []):
        one["default"] = default
    return one


def arguments_schema(operation: Operation, without: tuple[str, ...] = ()) -> Json:
    """The arguments of an operation as the schema of one object."""
    asked = [one for one in operation.parameters if one.name not in without]
    schema: Json = {
        "type": "object",
        "properties": {one.name: parameter_schema(one) for one in asked},
        "additionalProperties": False,
    }
    if needed := [one.name for one in asked if one.required]:
        schema["required"] = needed
    return schema


def result_schema(hint: Any, known: Json) -> Json:
    """The schema of a result; those of its records are put into `known`, by their names."""
    origin, within = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [result_schema(one, known) for one in within]}
    if origin in (tuple, list, frozenset, set):
        return {"type": "array", "items": result_schema(within[0], known)}
    if origin is dict:
        return {"type": "object", "additionalProperties": result_schema(within[1], known)}
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if not isinstance(hint, type):
        return {}
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [str(one.value) for one in hint]}
    kind: Any = cast("Any", hint)
    if record_fields(kind) is None:
        return {"type": "object"} if issubclass(kind, dict) else {}
    name = kind.__name__
    if name not in known:
        known[name] = {}
        fields = fields_of(kind)
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip(),
            "properties": {one: result_schema(type_, known) for one, type_ in fields.items()},
            "required": list(fields),
        }
    return {"$ref": f"#/components/schemas/{name}"}
