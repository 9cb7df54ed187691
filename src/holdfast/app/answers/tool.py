"""Tools that a model may call: the check of a call against the tool's schema, and how much text a
result holds.

Standard library only: a server lists its tools before it loads anything else. The part of JSON
Schema that our tools use is checked here, so that a call over a wire and a call in the same process
are refused alike.

Claude Code saves a result of more than 50,000 characters to a file, and has its service count the
tokens of one that may exceed half of 25,000 tokens. Results stay below both: a record is returned
whole, up to `MAX_RECORD_CHARS`, or it is counted as left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from holdfast.errors import InputError, NotFoundError, suggest, unknown_name

Object = dict[str, Any]
# The kinds of knowledge, as `model.knowledge.Kind` has them.
KINDS = ("decision", "rule", "preference", "lesson", "fact", "outcome", "todo")
# Texts are cut here unless the schema has a `maxLength`: a longer question says nothing more.
MAX_TEXT_CHARS = 4_000
# The longest list of a schema without `maxItems`.
_DEFAULT_MAX_ITEMS = 50
# The JSON of all records of a result.
MAX_RESULT_CHARS = 30_000
# The text of one record is cut here: about a seventh of a result, so that several fit.
MAX_RECORD_CHARS = 4_000


class Tool(NamedTuple):
    """A tool. `properties` is the JSON schema of its arguments, `hint` more words by which a client
    may search for it; `writes` says whether it changes the memory; one that `is_slow`
    keeps no other waiting; a host shows those to `always_load` to its model at once."""

    name: str
    title: str
    description: str
    properties: Object
    required: tuple[str, ...] = ()
    hint: str = ""
    writes: bool = False
    is_slow: bool = False
    always_load: bool = False

    def input_schema(self) -> Object:
        """The JSON schema of the arguments."""
        schema: Object = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = list(self.required)
        return {**schema, "additionalProperties": False}


def find_tool(tools: Sequence[Tool], name: object) -> Tool:
    """The tool with this name; raises `NotFoundError` if there is none."""
    found = next((tool for tool in tools if tool.name == name), None)
    if found is None:
        known = [tool.name for tool in tools]
        hint = f"{suggest(str(name), known)}There are: {', '.join(known)}."
        raise NotFoundError(f"There is no tool {str(name)[:100]!r}.", hint)
    return found


def check_arguments(tool: Tool, given: object) -> Object:
    """The arguments of a call, with long texts cut; raises `InputError` if they do not fit the
    schema."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError("Arguments must be an object.")
    mapping = cast(Mapping[object, object], given or {})
    arguments: Object = {}
    for key, value in mapping.items():
        schema = tool.properties.get(str(key))
        if schema is None:
            raise unknown_name(f"{tool.name} takes no", str(key), tool.properties)
        if value is not None:
            arguments[str(key)] = _check_value(str(key), value, schema)
    for key in tool.required:
        value = arguments.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise InputError(f"{tool.name} needs a {key}.")
    return arguments


def _check_value(key: str, value: object, schema: Object) -> Any:
    wanted: list[tuple[str, Object]] = []
    for option in cast(list[Object], schema.get("anyOf", [schema])):
        kinds: Any = option["type"]
        named = cast(list[str], kinds if isinstance(kinds, list) else [kinds])
        wanted += [(kind, option) for kind in named]
    for kind, option in wanted:
        if _TYPE_TESTS[kind](value):
            return _CHECKS_BY_TYPE[kind](key, value, option)
    raise InputError(f"{key} must be {' or '.join(_TYPE_NAMES[kind] for kind, _ in wanted)}.")


def _check_text(key: str, value: Any, schema: Object) -> str:
    if "enum" in schema and value not in schema["enum"]:
        raise InputError(f"{key} must be one of {', '.join(schema['enum'])}.")
    limit = schema.get("maxLength")
    if limit is not None and len(value) > limit:
        raise InputError(f"{key} has {len(value):,} characters; at most {limit:,} can be kept.")
    return value if limit is not None else value[:MAX_TEXT_CHARS]


def _check_number(key: str, value: Any, schema: Object) -> int | float:
    low, high = schema.get("minimum"), schema.get("maximum")
    if (low is not None and value < low) or (high is not None and value > high):
        raise InputError(f"{key} must be from {low} to {high}.")
    return int(value) if _is_whole(value) else value


def _check_items(key: str, value: Any, schema: Object) -> list[Any]:
    if len(value) > schema.get("maxItems", _DEFAULT_MAX_ITEMS):
        raise InputError(f"{key} has too many items.")
    return [_check_value(key, item, schema["items"]) for item in value]


def _check_fields(key: str, value: Any, schema: Object) -> Object:
    known: Object = schema["properties"]
    if unknown := next((name for name in value if name not in known), ""):
        raise unknown_name(f"{key} has no", unknown, known)
    return {
        name: _check_value(f"{key}.{name}", item, known[name])
        for name, item in value.items()
        if item is not None
    }


def fit(items: Iterable[Object], max_chars: int = MAX_RESULT_CHARS) -> tuple[list[Object], int]:
    """The first items whose JSON fits, and how many are left out."""
    fitting: list[Object] = []
    left, room = 0, max_chars
    for item in items:
        if left:
            left += 1
            continue
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0:
            left = 1
        else:
            fitting.append(item)
    return fitting, left


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: float) -> bool:
    # Not by float(): an int may be larger than any.
    return isinstance(value, int) or value.is_integer()


_TYPE_TESTS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and _is_whole(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
_CHECKS_BY_TYPE: dict[str, Callable[[str, Any, Object], Any]] = {
    "string": _check_text,
    "number": _check_number,
    "integer": _check_number,
    "boolean": lambda key, value, schema: value,
    "array": _check_items,
    "object": _check_fields,
}
_TYPE_NAMES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
