"""What a plugin says of itself that makes it a provider: which of its tools may be used for memory,
and how to reach the servers that have them.

`holdfast-plugin.yml` or `han-plugin.yml` must have `memory.allowed_tools` and
`memory.system_prompt`. Servers are those of `.mcp.json`, of `plugin.json`, and of the file itself.
A plugin that is half a provider is told of with the reason; a plugin that is none is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.sources.providers.discover import Plugin, load_json
from holdfast.sources.providers.http import url_problem

MANIFEST_FILES = ("holdfast-plugin.yml", "han-plugin.yml")
MAX_MANIFEST_BYTES = 32_000
MAX_BRACKETS = 200
MAX_PROMPT_CHARS = 4_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_TOOL = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NO_YAML = "PyYAML is not installed (pip install 'holdfast[providers]')"


class Server(NamedTuple):
    """One server of a plugin: a program, or an address."""

    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """How it is spoken to."""
        return "http" if self.url else "stdio"


class AllowedTool(NamedTuple):
    """A tool that may be called, and the server that has it."""

    server: str
    tool: str


class Provider(NamedTuple):
    """A plugin that can be asked; with a `problem` it cannot, and this is why."""

    name: str
    id: str
    root: Path
    servers: tuple[Server, ...] = ()
    allowed: tuple[AllowedTool, ...] = ()
    prompt: str = ""
    problem: str = ""

    def server(self, name: str) -> Server:
        """A server that an allowed tool names."""
        return next(server for server in self.servers if server.name == name)


class _Unusable(Exception):
    """Why a plugin is no whole provider."""


def read_provider(plugin: Plugin, variables: Mapping[str, str]) -> Provider | None:
    """The provider that a plugin is; None where it does not offer to be one. `variables` are those
    that its servers may be given."""
    file = next(
        (plugin.root / name for name in MANIFEST_FILES if (plugin.root / name).is_file()), None
    )
    if file is None:
        return None
    name = plugin.name if _NAME.fullmatch(plugin.name) else "unnamed"
    bare = Provider(name, plugin.id, plugin.root)
    try:
        told = _read_yaml(file)
        if "memory" not in told:
            return None
        if name != plugin.name:
            raise _Unusable("its name is not one that can be written down")
        memory = _object(told["memory"])
        prompt = memory.get("system_prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise _Unusable(f"{file.name} has no memory.system_prompt")
        listed = _servers_told(plugin.root, told)
        allowed = _allowed(memory.get("allowed_tools"), plugin.name, list(listed), file.name)
        known = {
            **variables,
            "CLAUDE_PLUGIN_ROOT": str(plugin.root),
            "CLAUDE_PLUGIN_DATA": str(plugin.data),
        }
        used = dict.fromkeys(one.server for one in allowed)
        servers = tuple(_server(name, listed[name], known) for name in used)
    except _Unusable as error:
        return bare._replace(problem=str(error))
    return bare._replace(servers=servers, allowed=allowed, prompt=prompt.strip()[:MAX_PROMPT_CHARS])


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise _Unusable(_NO_YAML) from error
    try:
        if file.stat().st_size > MAX_MANIFEST_BYTES:
            raise _Unusable(f"{file.name} is larger than {MAX_MANIFEST_BYTES:,} bytes")
        text = file.read_bytes()
        # The reader takes ten seconds for five thousand brackets in each other.
        if text.count(b"[") + text.count(b"{") > MAX_BRACKETS:
            raise _Unusable(f"{file.name} has more than {MAX_BRACKETS} brackets")
        # A few aliases can stand for more than any memory holds, and nobody needs them here.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise _Unusable(f"{file.name} uses aliases")
        return _object(yaml.safe_load(text))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise _Unusable(f"{file.name} cannot be read") from error


def _servers_told(root: Path, told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """All servers by name, as they stand."""
    problems: list[str] = []
    found: dict[str, Any] = {}
    found |= _object(told.get("mcp_servers"))
    in_plugin: object = load_json(root / ".claude-plugin" / "plugin.json", problems).get(
        "mcpServers"
    )
    for item in cast(list[object], in_plugin) if isinstance(in_plugin, list) else [in_plugin]:
        if isinstance(item, str) and (root / item).resolve().is_relative_to(root.resolve()):
            found |= _inner(load_json(root / item, problems))
        else:
            found |= _object(item)
    found |= _inner(load_json(root / ".mcp.json", problems))
    if problems:
        raise _Unusable(f"a file of its servers is not in order: {Path(problems[0]).name}")
    return {name: _object(value) for name, value in found.items()}


def _inner(file: dict[str, Any]) -> dict[str, Any]:
    return _object(file["mcpServers"]) if "mcpServers" in file else file


def _allowed(told: object, plugin: str, servers: list[str], file: str) -> tuple[AllowedTool, ...]:
    """The tools by their servers. Each is named in full: a pattern would allow what nobody saw."""
    names = cast(list[object], told) if isinstance(told, list) else []
    if not names:
        raise _Unusable(f"{file} has no memory.allowed_tools")
    if not servers:
        raise _Unusable("it has no MCP server")
    return tuple(dict.fromkeys(_one_allowed(name, plugin, servers) for name in names))


def _one_allowed(name: object, plugin: str, servers: list[str]) -> AllowedTool:
    spelled = name if isinstance(name, str) else ""
    if not _TOOL.fullmatch(spelled):
        raise _Unusable("memory.allowed_tools has a name that is none; each tool is named in full")
    if not spelled.startswith("mcp__"):
        first, *others = servers
        if others:
            raise _Unusable(f"{spelled} does not say of which server (mcp__SERVER__{spelled})")
        return AllowedTool(first, spelled)
    # The longest name of a server that fits, since names may hold two underscores themselves.
    for server in sorted(servers, key=len, reverse=True):
        for start in (f"mcp__{server}__", f"mcp__plugin_{plugin}_{server}__"):
            if spelled.startswith(start) and len(spelled) > len(start):
                return AllowedTool(server, spelled.removeprefix(start))
    raise _Unusable(f"no server of its own has {spelled}")


def _server(name: str, told: dict[str, Any], known: Mapping[str, str]) -> Server:
    lacking: list[str] = []
    kind: object = told.get("type") or ("http" if "url" in told else "stdio")

    def expand(value: object) -> str:
        if not isinstance(value, str | int | float):
            raise _Unusable(f"the server {name} is not described as it should be")
        return _VARIABLE.sub(lambda m: _value(m, known, lacking), str(value))

    def pairs(key: str) -> tuple[tuple[str, str], ...]:
        return tuple((str(k), expand(v)) for k, v in _object(told.get(key)).items())

    arguments: object = told.get("args", [])
    listed = cast(list[object], arguments) if isinstance(arguments, list) else [None]
    if kind in ("http", "streamable-http"):
        server = Server(name, url=expand(told.get("url")), headers=pairs("headers"))
    elif kind == "stdio":
        command = expand(told.get("command"))
        server = Server(name, command, tuple(map(expand, listed)), pairs("env"))
    else:
        raise _Unusable(f"the server {name} is of a kind that we do not speak")
    if lacking:
        wanted = ", ".join(dict.fromkeys(lacking))
        raise _Unusable(f"the server {name} wants {wanted}; providers.env does not name it")
    why = url_problem(server.url) if server.url else "" if server.command else "it has no command"
    if why:
        raise _Unusable(f"the server {name}: {why}")
    return server


def _value(match: re.Match[str], known: Mapping[str, str], lacking: list[str]) -> str:
    name, usual = match.group(1), match.group(2)
    if name in known:
        return known[name]
    if usual is None:
        lacking.append(name)
    return usual or ""


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
