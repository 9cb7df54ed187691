"""Somebody with a key who asks a server whatever it can be asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self
from urllib.parse import quote, urlencode

from jsonschema import Draft202012Validator

from tests.e2e.access.graph import DESCRIBE, Graph
from tests.e2e.access.operations import Call, Operation, pages, rest, tools
from tests.e2e.access.plain_client import PlainClient

_HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "w"}},
}  # fmt: skip
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_NUMBER = re.compile(r'"request_id": ?"[0-9a-f]+"')


INTERFACES = ("pages", "tools", "graph", "rest")


class Reply(NamedTuple):
    """What came back. `fine` tells whether it was done."""

    status: int
    text: str
    succeeded: bool

    @classmethod
    def made(cls, status: int, text: str, succeeded: bool) -> Self:
        """All but the number that each request has."""
        return cls(status, _NUMBER.sub("", text), succeeded)

    def without(self, words: list[str]) -> str:
        """The text with some words taken out, wherever they stand."""
        text = self.text.lower()
        for word in sorted(words, key=len, reverse=True):
            text = text.replace(word.lower(), "<>").replace(quote(word.lower(), safe=""), "<>")
        return text


class KeyClient:
    """One key, or none."""

    def __init__(self, url: str, key: str, address: str = "127.0.0.1") -> None:
        """`address` is where they ask from: strangers are counted by it."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.web = PlainClient(url, headers, address)
        self._session = ""
        self._form_key = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.web.close()

    def rest(self, call: Call) -> Reply:
        """By REST."""
        path = _path(call)
        body = call.at("body")
        wants_body = any(place.where == "body" for place in call.operation.parameters)
        sent: dict[str, Any] = _json(body) if wants_body else {"headers": {}}
        sent["headers"] |= {name: str(value) for name, value in call.at("header").items()}
        answer = self.web.request(call.operation.method, path, params=call.at("query"), **sent)
        return _reply(answer.status_code, answer.text)

    def page(self, call: Call) -> Reply:
        """A page, or a form of one."""
        form = {
            name: str(value[0]) if isinstance(value, list) and value else str(value)  # pyright: ignore[reportUnknownArgumentType]
            for name, value in call.at("form").items()
        }
        if call.operation.method == "POST":
            form["form_key"] = self._form_key = self._form_key or self._find_form_key()
        answer = self.web.request(
            call.operation.method,
            _path(call),
            params=call.at("query"),
            content=urlencode(form),
            headers={"Origin": self.web.url, **(_FORM if form else {})},
        )
        told = answer.headers.get("location", "") + answer.text
        return Reply.made(answer.status_code, told, answer.status_code < 400)

    def _find_form_key(self) -> str:
        found = _FORM_KEY.search(self.web.get("/memory?tab=memories").text)
        return found.group(1) if found else "none"

    def graph(self, graph: Graph, call: Call) -> Reply:
        """By the graph. Whoever is not let in hears that as anywhere else."""
        answer = self.web.post("/graphql", **_json(graph.question(call)))
        succeeded = answer.is_success and "errors" not in answer.json()
        return Reply.made(answer.status_code, answer.text, succeeded)

    def mcp(self, method: str, bank: str = "", **params: Any) -> Reply:
        """By MCP."""
        if not self._session:
            hello = self.web.post("/mcp", **_json(_HELLO))
            if not hello.is_success:
                return _reply(hello.status_code, hello.text)
            self._session = hello.headers["mcp-session-id"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        sent = _json(message)
        sent["headers"]["Mcp-Session-Id"] = self._session
        answer = self.web.post("/mcp", params={"bank": bank} if bank else {}, **sent)
        if not answer.is_success:
            return _reply(answer.status_code, answer.text)
        told = answer.json()
        succeeded = "error" not in told and not told["result"].get("isError")
        return Reply.made(answer.status_code, answer.text, succeeded)

    def end_mcp(self) -> Reply:
        """End the session of MCP."""
        ended = self.web.request("DELETE", "/mcp", headers={"Mcp-Session-Id": self._session})
        self._session = ""
        return _reply(ended.status_code, ended.text)

    def tool(self, call: Call) -> Reply:
        """A tool, by MCP."""
        given = call.at("argument")
        bank = str(call.at("query").get("bank", ""))
        return self.mcp("tools/call", bank, name=call.operation.path, arguments=given)


_FORM_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')


def _path(call: Call) -> str:
    path = call.operation.path
    for name, value in call.at("path").items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe="/"))
    return path


def _json(body: object) -> dict[str, Any]:
    """A body, in which half a character is one."""
    return {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}


def _reply(status: int, text: str) -> Reply:
    return Reply.made(status, text, 200 <= status < 300)


Way = tuple[Operation, Callable[[Call], Reply]]


class ServerOperations:
    """Everything that a server says it can be asked, by whoever may ask everything. A description
    of the REST API takes a second to make, so it is asked for only if that is wanted."""

    def __init__(self, chief: KeyClient, interfaces: Sequence[str] = INTERFACES) -> None:
        self._openapi: dict[str, Any] = {"paths": {}}
        if "rest" in interfaces:
            self._openapi = chief.web.get("/api/v1/openapi.json").json()
        self._rest = list(rest(self._openapi))
        self._graph = Graph(chief.web.post("/graphql", **_json({"query": DESCRIBE})).json())
        self.tools = self.tools_of(chief)

    @staticmethod
    def tools_of(client: KeyClient) -> list[dict[str, Any]]:
        """The tools that somebody is offered."""
        return json.loads(client.mcp("tools/list").text)["result"]["tools"]

    def check_form(self, operation: Operation, reply: Reply) -> None:
        """Check that an answer of REST has the form that is described."""
        described = self._openapi["paths"][operation.path][operation.method.lower()]["responses"]
        content = described.get(str(reply.status), described["default"])["content"].get(
            "application/json"
        )
        if content is not None:
            schema = {**content["schema"], "components": self._openapi["components"]}
            validator: Any = Draft202012Validator(schema)
            validator.validate(json.loads(reply.text))

    def ways(self, sort: str, client: KeyClient) -> list[Way]:
        """What can be asked in one of four ways, by somebody."""
        if sort == "rest":
            assert self._rest
            return [(one, client.rest) for one in self._rest]
        if sort == "graph":
            ask = partial(client.graph, self._graph)
            return [(one, ask) for one in self._graph.operations()]
        if sort == "tools":
            return [(one, client.tool) for one in tools(self.tools)]
        return [(one, client.page) for one in pages()]
