"""Reads the manifest that makes a plugin a provider: which of its tools may be used for memory, and
how to reach their servers.

`holdfast-plugin.yml` or `han-plugin.yml` must have `memory.allowed_tools` and
`memory.system_prompt`. Servers are those of `.mcp.json`, of `plugin.json`, and of the file itself.
A plugin with an incomplete manifest is listed with the problem; one without is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from holdfast.http_client import is_loopback
from holdfast.regex import regex
from holdfast.sources.json_fields import items, mapping
from holdfast.sources.providers.discover import Plugin, load_json

MANIFEST_FILES = ("holdfast-plugin.yml", "han-plugin.yml")
# Limits of the YAML reader: a manifest is short, and strangers write it.
MAX_MANIFEST_BYTES = 32_000
# Of the prompt that a model gets with the tools; the rest is cut.
MAX_PROMPT_CHARS = 4_000
_PLUGIN_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_TOOL_NAME = regex(r"[A-Za-z0-9_.-]{1,128}")
_VARIABLE = regex(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NO_YAML = "PyYAML is not installed (pip install 'holdfast-memory[providers]')"


class Server(NamedTuple):
    """One MCP server of a plugin: a program, or an address."""

    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The transport."""
        return "http" if self.url else "stdio"


class AllowedTool(NamedTuple):
    """A tool that may be called, and its server."""

    server: str
    tool: str


class Provider(NamedTuple):
    """A plugin that can be queried, or the `problem` why it cannot."""

    name: str
    id: str
    root: Path
    servers: tuple[Server, ...] = ()
    allowed: tuple[AllowedTool, ...] = ()
    prompt: str = ""
    problem: str = ""

    def server(self, name: str) -> Server:
        """The server of an allowed tool."""
        return next(server for server in self.servers if server.name == name)


class _UnusableError(Exception):
    """Why a plugin cannot be used as a provider."""


def read_provider(plugin: Plugin, variables: Mapping[str, str]) -> Provider | None:
    """The provider of a plugin; None where it does not offer one. `variables` are the environment
    variables that its servers may get."""
    file = next(
        (plugin.root / name for name in MANIFEST_FILES if (plugin.root / name).is_file()), None
    )
    if file is None:
        return None
    name = plugin.name if _PLUGIN_NAME.fullmatch(plugin.name) else "unnamed"
    provider = Provider(name, plugin.id, plugin.root)
    try:
        manifest = _read_yaml(file)
        if "memory" not in manifest:
            return None
        if name != plugin.name:
            raise _UnusableError("its name is not one that can be written down")
        memory = mapping(manifest["memory"])
        prompt = memory.get("system_prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            raise _UnusableError(f"{file.name} has no memory.system_prompt")
        listed = _listed_servers(plugin.root, manifest)
        allowed = _allowed_tools(memory.get("allowed_tools"), plugin.name, list(listed), file.name)
        known = {
            **variables,
            "CLAUDE_PLUGIN_ROOT": str(plugin.root),
            "CLAUDE_PLUGIN_DATA": str(plugin.data),
        }
        used = dict.fromkeys(one.server for one in allowed)
        servers = tuple(_server(name, listed[name], known) for name in used)
    except _UnusableError as error:
        return provider._replace(problem=str(error))
    prompt = prompt.strip()[:MAX_PROMPT_CHARS]
    return provider._replace(servers=servers, allowed=allowed, prompt=prompt)


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        yaml: Any = import_module("yaml")
    except ImportError as error:
        raise _UnusableError(_NO_YAML) from error
    try:
        if file.stat().st_size > MAX_MANIFEST_BYTES:
            raise _UnusableError(f"{file.name} is larger than {MAX_MANIFEST_BYTES:,} bytes")
        return mapping(yaml.safe_load(file.read_bytes()))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise _UnusableError(f"{file.name} cannot be read") from error


def _listed_servers(root: Path, manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    problems: list[str] = []
    found = dict(mapping(manifest.get("mcp_servers")))
    in_plugin = load_json(root / ".claude-plugin" / "plugin.json", problems).get("mcpServers")
    for item in items(in_plugin) or [in_plugin]:
        if isinstance(item, str) and (root / item).resolve().is_relative_to(root.resolve()):
            found |= _servers_of_file(load_json(root / item, problems))
        else:
            found |= mapping(item)
    found |= _servers_of_file(load_json(root / ".mcp.json", problems))
    if problems:
        raise _UnusableError(f"a file of its servers is not in order: {Path(problems[0]).name}")
    return {name: mapping(value) for name, value in found.items()}


def _servers_of_file(file: dict[str, Any]) -> dict[str, Any]:
    return mapping(file["mcpServers"]) if "mcpServers" in file else file


def _allowed_tools(
    value: object, plugin: str, servers: list[str], file: str
) -> tuple[AllowedTool, ...]:
    """The allowed tools. Each is named in full: a pattern would allow tools that nobody saw."""
    names = items(value)
    if not names:
        raise _UnusableError(f"{file} has no memory.allowed_tools")
    if not servers:
        raise _UnusableError("it has no MCP server")
    return tuple(dict.fromkeys(_allowed_tool(name, plugin, servers) for name in names))


def _allowed_tool(name: object, plugin: str, servers: list[str]) -> AllowedTool:
    tool = name if isinstance(name, str) else ""
    if not _TOOL_NAME.fullmatch(tool):
        raise _UnusableError("memory.allowed_tools has an invalid name; use full tool names")
    if not tool.startswith("mcp__"):
        first, *others = servers
        if others:
            raise _UnusableError(f"{tool} does not say of which server (mcp__SERVER__{tool})")
        return AllowedTool(first, tool)
    # The longest server name that fits, because names may contain two underscores.
    for server in sorted(servers, key=len, reverse=True):
        for start in (f"mcp__{server}__", f"mcp__plugin_{plugin}_{server}__"):
            if tool.startswith(start) and len(tool) > len(start):
                return AllowedTool(server, tool.removeprefix(start))
    raise _UnusableError(f"no server of its own has {tool}")


def _server(name: str, entry: dict[str, Any], known: Mapping[str, str]) -> Server:
    missing: list[str] = []
    kind: object = entry.get("type") or ("http" if "url" in entry else "stdio")

    def expand(value: object) -> str:
        if not isinstance(value, str | int | float):
            raise _UnusableError(f"the server {name} is not described as it should be")
        return _VARIABLE.sub(lambda m: _variable_value(m, known, missing), str(value))

    def pairs(key: str) -> tuple[tuple[str, str], ...]:
        return tuple((str(k), expand(v)) for k, v in mapping(entry.get(key)).items())

    arguments: object = entry.get("args", [])
    listed = cast(list[object], arguments) if isinstance(arguments, list) else [None]
    if kind in ("http", "streamable-http"):
        server = Server(name, url=expand(entry.get("url")), headers=pairs("headers"))
    elif kind == "stdio":
        command = expand(entry.get("command"))
        server = Server(name, command, tuple(map(expand, listed)), pairs("env"))
    else:
        raise _UnusableError(f"the server {name} has an unsupported type")
    if missing:
        wanted = ", ".join(dict.fromkeys(missing))
        raise _UnusableError(f"the server {name} wants {wanted}; providers.env does not name it")
    if server.url:
        problem = url_problem(server.url)
    else:
        problem = "" if server.command else "it has no command"
    if problem:
        raise _UnusableError(f"the server {name}: {problem}")
    return server


def url_problem(url: str) -> str:
    """Why an address is not used; "" where it can be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "its address is none"
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return "its address is none"
    if parts.scheme == "http" and not is_loopback(host):
        return "its address is not encrypted (http:// is for this machine alone)"
    return ""


def _variable_value(match: re.Match[str], known: Mapping[str, str], missing: list[str]) -> str:
    name, default = match.group(1), match.group(2)
    if name in known:
        return known[name]
    if default is None:
        missing.append(name)
    return default or ""
