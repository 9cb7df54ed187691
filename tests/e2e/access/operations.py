"""What can be asked of a server, out of its own descriptions: which places of a request name a
bank, a record or something in words, and every way to fill one of them with what is another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from fastapi import FastAPI

from holdfast.interfaces.http.pages import ROUTERS
from holdfast.operations.registry import all_operations
from holdfast.operations.shapes import parameter_schema
from tests.app.remote.test_remote_recall import a_line
from tests.e2e.access.two_banks import OTHER, OWN, Named, Side, World

Json = dict[str, Any]

BANK, ID, TEXT, PLAIN = "bank", "id", "text", "plain"
# What places are called that name something. One that is called otherwise, and takes text, must
# be listed here before anything passes.
_NAMES_BY_MEANING = {
    BANK: "bank aliases with",
    ID: "id ids session session_id anchor uri into focus commit pull issue thread record anchor_id "
    "proposal review entry last",
    TEXT: "q question query about prompt what words text pattern file path concept name alias "
    "content domain who where why background author near seen branch agent type topic other "
    "paths at from speaker find",
    PLAIN: "cursor as_of asOf since until day kind kinds knowledge layer layers budget network "
    "networks expansion fusion strategy limit count confirm scope action outcome tab note "
    "shelf status view lane span sort preset last-event-id show every word confidence rules "
    "domain_of before after page offset days dropped key to look month year depth hops "
    "backups back n seq sure "
    "retention of act none verdict shares section numbers pick merge first",
}
_BANK_PARAMETERS = {
    *((f"{{name}}{way}", "name") for way in ("", "/merge", "/unmerge")),
    *((f"graph bank{way}", "name") for way in ("", "Set", "Merge", "Unmerge")),
    *(("{id}", "id"), ("{name}/merge", "into"), ("graph bankMerge", "into")),
}
# What is given where a text is one of a few that its description does not list.
_USUAL = {"verdict": "useful"}
_KNOWN = {name: meaning for meaning, names in _NAMES_BY_MEANING.items() for name in names.split()}


class Parameter(NamedTuple):
    """A place in a request: in its path, its query, its body, its form or among arguments."""

    where: str
    name: str
    meaning: str
    schema: Json
    required: bool


class Operation(NamedTuple):
    """Something that can be asked."""

    name: str
    method: str
    path: str
    parameters: tuple[Parameter, ...]


class Call(NamedTuple):
    """A request: the values of its places."""

    operation: Operation
    values: Mapping[str, Any]

    def at(self, where: str) -> Json:
        """The values that stand in one part of it."""
        own = {place.name for place in self.operation.parameters if place.where == where}
        return {name: value for name, value in self.values.items() if name in own}

    def said(self) -> str:
        """All that it says."""
        return " ".join(map(str, (self.operation.path, *self.values.values()))).lower()

    def words(self) -> list[str]:
        """What it says at its places."""
        said: list[str] = []
        for value in self.values.values():
            many = cast(list[Any], value) if isinstance(value, list) else [value]
            said += [str(one) for one in many if len(str(one)) > 3]
        return said


def meaning(operation: str, name: str, schema: Mapping[str, Any]) -> str:
    """What a place is for."""
    if (operation.rpartition("/banks/")[2], name) in _BANK_PARAMETERS:
        return BANK
    if operation.startswith("/sessions/{name}") and name == "name":
        return ID
    kinds = _kinds(schema)
    if "string" not in kinds or "enum" in schema or "const" in schema:
        return PLAIN
    assert name in _KNOWN, f"{operation}: nothing says what {name!r} stands for"
    return _KNOWN[name]


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for one in (schema, *schema.get("anyOf", ())):
        found.add(one.get("type", ""))
        found |= _kinds(one["items"]) if one.get("type") == "array" else set()
    return found if found != {""} else {"string"}


def rest(described: Json) -> Iterator[Operation]:
    """The operations of an OpenAPI document, but for the graph, which describes itself."""
    for path, ways in described["paths"].items():
        for method, way in ways.items():
            if path == "/graphql":
                continue
            parameters = [
                (
                    *(told["in"], told["name"]),
                    *(_resolved(described, told["schema"]), told.get("required", False)),
                )
                for told in way.get("parameters", ())
            ]
            body = way.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = _resolved(described, body.get("schema", {}))
            for name, told in schema.get("properties", {}).items():
                wanted = name in schema.get("required", ())
                parameters.append(("body", name, _resolved(described, told), wanted))
            name = f"{method.upper()} {path}"
            yield Operation(name, method.upper(), path, _parameters(path, parameters))


def _resolved(described: Json, schema: Json) -> Json:
    """A schema without names of others; of one thing or nothing, the thing."""
    while "$ref" in schema:
        schema = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    either = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(either) == 1:
        return {**schema, **_resolved(described, either[0])}
    if "items" in schema:
        return {**schema, "items": _resolved(described, schema["items"])}
    return schema


def _parameters(
    operation: str, parameters: Iterable[tuple[str, str, Json, bool]]
) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(where, name, meaning(operation, name, schema), schema, required)
        for where, name, schema, required in parameters
    )


# What a form has that asks for no operation.
_OWN_FORMS = {
    "/ask": ("q", "session", "bank"), "/do/several": ("pick", "act", "from"),
    "/research/{id}/cancel": ("from",), "/research/{id}/remove": (),
}  # fmt: skip


@cache
def pages() -> tuple[Operation, ...]:
    """The pages, by the routes they have; a form has the parameters of its operation."""
    return tuple(_pages())


def _form_fields(path: str) -> dict[str, Json]:
    text: Json = {"type": "string"}
    if path in _OWN_FORMS:
        return dict.fromkeys(_OWN_FORMS[path], text)
    asked = next(one for one in all_operations() if path == f"/do/{one.id}")
    own = {one.name: parameter_schema(one) for one in asked.parameters}
    return {**own, "from": text, "seen": text}


def _pages() -> Iterator[Operation]:
    app = FastAPI()
    for router in ROUTERS:
        app.include_router(router)
    for operation in rest(app.openapi()):
        fields = _form_fields(operation.path) if operation.method == "POST" else {}
        taken = {place.name for place in operation.parameters}
        form = [("form", name, one, False) for name, one in fields.items() if name not in taken]
        more = _parameters(operation.path, form)
        yield operation._replace(parameters=(*operation.parameters, *more))


def tools(listed: list[Json]) -> Iterator[Operation]:
    """The tools of an MCP server; the address names the bank."""
    text: Json = {"type": "string"}
    bank = ("query", "bank", text, False)
    for tool in listed:
        schema: Json = tool["inputSchema"]
        parameters = [
            ("argument", name, told, name in schema.get("required", ()))
            for name, told in schema["properties"].items()
        ]
        name = f"tool {tool['name']}"
        yield Operation(name, "POST", tool["name"], _parameters(name, [*parameters, bank]))


def own_calls(operation: Operation, named: Named, side: Side) -> Iterator[Call]:
    """An operation as somebody would use it who asks for what is in a bank: with a record of each
    kind that there is, with no more than must be said, and with that and the bank."""
    takes_id = any(place.meaning == ID for place in operation.parameters)
    needed = [place for place in operation.parameters if place.required]
    every = [name for both in named.records() for name in both]
    for id in every if takes_id else [""]:
        yield _filled(operation, operation.parameters, named, side, id)
    if len(needed) == len(operation.parameters):
        return  # with no more than must be said, it would say the same again
    # Of all that it takes, some may not go together.
    with_bank = [p for p in operation.parameters if p.required or p.meaning == BANK]
    for places in (needed, with_bank):
        for id in every if any(place.meaning == ID for place in places) else [""]:
            yield _filled(operation, places, named, side, id)


def _filled(
    operation: Operation, parameters: Sequence[Parameter], named: Named, side: Side, id: str
) -> Call:
    """With what is in a bank at these places; what says nothing is left out."""
    values = {place.name: _own(place, named, side, id) for place in parameters}
    needed = {place.name for place in parameters if place.required}
    said = {name: v for name, v in values.items() if name in needed or v not in ("", [])}
    return Call(operation, said)


def _own(place: Parameter, named: Named, side: Side, id: str) -> Any:
    if place.meaning == BANK and place.name == "into":
        return (OTHER if side is OWN else OWN).name
    if place.name == "shares":
        return [a_line(f"{side.asked} is shared.")]
    if place.meaning == BANK:
        return [named.names[0]] if "array" in _kinds(place.schema) else named.names[0]
    if place.meaning == ID:
        chosen = named.beside(id) if place.name == "into" else id
        return [chosen] if "array" in _kinds(place.schema) else chosen
    return named.kind_of(id) if place.name == "word" else _usual(place, side.asked)


def _usual(place: Parameter, words: str) -> Any:
    """A value that is as the description wants it."""
    schema = place.schema
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1]
    kinds = _kinds(schema)
    if "array" in kinds:
        return [words] if place.meaning == TEXT else []
    if "string" in kinds:
        usual = _USUAL.get(place.name) or schema.get("default", "")
        return words if place.meaning == TEXT else usual or ""
    if "boolean" in kinds:
        return True
    return schema.get("minimum", schema.get("default")) or 1


class Twin(NamedTuple):
    """A request for what is another's, and beside it perhaps the same for what there is nowhere:
    both must be answered alike."""

    call: Call
    nowhere: Call | None = None


_MAX_TWINS = 3
# Forms are many and all take the same records; these lead to different ones.
_IN_FORMS = ("session", "turn", "fact", "memory", "proposal", "review")


def foreign_calls(operation: Operation, world: World, own: Side, other: Side) -> Iterator[Twin]:
    """Every way to name what is another's: one place of it at a time, the others with what is one's
    own or with nothing. A form is filled in as a whole."""
    for place in operation.parameters:
        if place.where != "form":
            yield from _varied(operation, place, world, own, other)
    if any(place.where == "form" for place in operation.parameters):
        yield from _forms(operation, world, other)


def _varied(
    operation: Operation, place: Parameter, world: World, own: Side, other: Side
) -> Iterator[Twin]:
    first = world.own.records()[0][0]
    needed = [one for one in operation.parameters if one is not place and one.required]
    rest = {one.name: _own(one, world.own, own, first) for one in needed}
    many = "array" in _kinds(place.schema)

    def with_it(value: str, **more: Any) -> Call:
        return Call(operation, {**rest, **more, place.name: [value] if many else value})

    if place.meaning == BANK:
        for name in world.other.names:
            yield Twin(with_it(name), with_it(nowhere(name)))
    elif place.meaning == TEXT:
        yield Twin(with_it(f"Why is {other.asked} in {other.asked.lower()}.py slow?"))
    elif place.meaning == ID:
        banks = {one.name: world.other.id for one in operation.parameters if one.meaning == BANK}
        for number, (id, uri) in enumerate(world.other.records()):
            word = {"word": uri.split("/")[0]} if "word" in rest else {}
            twin = with_it(nowhere(id), **word) if number < _MAX_TWINS else None
            yield Twin(with_it(id, **word), twin)
            if banks:
                yield Twin(with_it(uri, **banks, **word))


def _forms(operation: Operation, world: World, other: Side) -> Iterator[Twin]:
    records = [both for both in world.other.records() if both[1].split("/")[0] in _IN_FORMS]
    for number, (id, uri) in enumerate(records):
        call = _filled(operation, operation.parameters, world.own, other, id)
        ids = {p.name: nowhere(id) for p in operation.parameters if p.meaning == ID}
        twin = Call(operation, {**call.values, **ids}) if number < 1 else None
        yield Twin(call, twin)
        yield Twin(_filled(operation, operation.parameters, world.other, other, uri))


def nowhere(name: str) -> str:
    """A name of the same shape that nothing has."""
    word, slash, id = name.rpartition("/")
    turned = str.maketrans("0123456789abcdefgmnopqrstuvwxyz", "123456789abcdef0mgonqpsrutwvyxz")
    return f"{word}{slash}{id.translate(turned)}"
