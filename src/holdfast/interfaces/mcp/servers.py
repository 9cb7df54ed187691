"""What the servers answer, whatever the transport: `server` (standard input and output) and
`interfaces/http/mcp` (`holdfast serve`).

Standard library only: Claude Code starts the server before the user's first prompt and waits for
its list of tools. So the lists are read from files, which `tools/write_first_answers.py` makes of
`operations/agents/tools`, and the engine and everything behind it is imported later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from holdfast.errors import suggest
from holdfast.interfaces.mcp.protocol import (
    DATA,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallContext,
    Message,
    Object,
    RpcError,
    choose_version,
    encode_error,
    encode_result,
)
from holdfast.principal import Level
from holdfast.version import __version__

FIRST_ANSWERS = Path(__file__).parent / "first_answers"
MAIN = "main"
NAMES = (MAIN, "memory", "search")
# Parts of the names that agents give when they connect. Other clients are programs.
_AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "vscode")


class Engine(Protocol):
    """What answers calls. All methods of one engine are called from one thread."""

    def call(self, name: str, arguments: Object, context: CallContext) -> Object:
        """The result of a tool."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class OfferedTool(NamedTuple):
    """A tool as `tools/list` describes it, the level that it needs, and whether it takes long: then
    a thread of its own runs it, so that the others need not wait."""

    described: Object
    level: Level = Level.READ
    is_slow: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.described["name"]

    @property
    def writes(self) -> bool:
        """Whether it changes the memory."""
        return not self.described["annotations"]["readOnlyHint"]


class ServerSpec(NamedTuple):
    """A server: what it says of itself, its tools, and the engine behind them."""

    initialized: Object
    tools: tuple[OfferedTool, ...]
    make_engine: Callable[[], Engine]

    def for_level(self, level: Level) -> ServerSpec:
        """The server with the tools that somebody of a level may call."""
        return self._replace(tools=tuple(t for t in self.tools if level.includes(t.level)))

    def answer(self, message: Message) -> str | None:
        """The answer to a message that needs no engine: "" if none is owed, None if it needs
        one."""
        if message.error is not None:
            return encode_error(message.id, message.error) if message.needs_answer else ""
        if message.id is None:
            return ""
        match message.method:
            case "initialize":
                version = choose_version(message.params.get("protocolVersion"))
                server = {**self.initialized["serverInfo"], "version": __version__}
                result = {**self.initialized, "protocolVersion": version, "serverInfo": server}
            case "ping":
                result = {}
            case "tools/list":
                result: Object = {"tools": [tool.described for tool in self.tools]}
            case "tools/call":
                return None
            case unknown:
                error = RpcError(METHOD_NOT_FOUND, f"There is no method {unknown[:100]!r}.")
                return encode_error(message.id, error)
        return encode_result(message.id, result)

    def call(self, params: Mapping[str, object]) -> ToolCall:
        """The call of a tool; raises RpcError for one that is not offered."""
        name, given = params.get("name"), params.get("arguments")
        tool = next((one for one in self.tools if one.name == name), None)
        if tool is None:
            known = [one.name for one in self.tools]
            shown = str(name)[:100]
            hint = f"{suggest(shown, known)}There are: {', '.join(known)}."
            raise RpcError(INVALID_PARAMS, f"There is no tool {shown!r}. {hint}")
        if given is not None and not isinstance(given, dict):
            raise RpcError(INVALID_PARAMS, "Arguments must be an object.")
        return ToolCall(tool, cast(Object, given or {}))


class ToolCall(NamedTuple):
    """A call that the engine must answer."""

    tool: OfferedTool
    arguments: Object

    def run(self, engine: Engine, context: CallContext) -> Object:
        """The result as the client should get it. Agents show their model the data instead of the
        text if they are given both, and the text is made for a model to read."""
        result = engine.call(self.tool.name, self.arguments, context)
        is_agent = any(name in context.client.lower() for name in _AGENTS)
        return {key: value for key, value in result.items() if key != DATA or not is_agent}


def load_spec(name: str = MAIN) -> ServerSpec:
    """The server with a name that `holdfast mcp` takes."""
    told: Object = json.loads((FIRST_ANSWERS / f"{name}.json").read_text("utf-8"))
    results = told["results"]
    tools = tuple(
        OfferedTool(one, Level(told["levels"][one["name"]]), one["name"] in told["slow_tools"])
        for one in results["tools/list"]["tools"]
    )
    return ServerSpec(results["initialize"], tools, partial(_make_engine, name))


def _make_engine(name: str) -> Engine:
    from holdfast.interfaces.mcp.engine import ToolEngine

    return ToolEngine(name)
