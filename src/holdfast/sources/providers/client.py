"""Conversations with a provider's MCP servers, by the official library, which is imported only now.

The provider is offered nothing in return: no files, no folders, no model. What a program prints as
its errors is discarded, and it gets only the environment variables it is given. Addresses are asked
over TLS, or on this machine; redirects to other servers are not followed and no proxy is used.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from holdfast.errors import ProviderError
from holdfast.sources.providers.manifest import Server

if TYPE_CHECKING:
    from mcp import ClientSession

T = TypeVar("T")
# Of a list of tools. The others are ignored.
_MAX_PAGES = 5
_MAX_DESCRIPTION_CHARS = 2000


class Tool(NamedTuple):
    """A tool of a provider. `harmless` is False where the provider says that it changes
    something."""

    name: str
    description: str
    schema: dict[str, Any]
    harmless: bool = True


class Deadline:
    """The time until which a conversation must be over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = monotonic() + seconds

    def left_s(self) -> float:
        """Seconds that are left."""
        return max(0.0, self._at - monotonic())

    def error(self) -> ProviderError:
        """The error for a provider that did not answer in time."""
        return ProviderError(f"it did not answer within {self._seconds:g} s")


def load_library() -> None:
    """Import the library, which takes a second, before any time is counted."""
    try:
        import mcp  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise ProviderError(
            "the MCP library is not installed", "Run `pip install 'holdfast-memory[providers]'`."
        ) from error
    # What it logs are words of the provider; what matters is raised.
    logging.getLogger("mcp").disabled = True
    for name in list(logging.Logger.manager.loggerDict):
        if name.startswith(("mcp.", "httpx")):
            logging.getLogger(name).disabled = True


def converse(
    server: Server,
    environment: Mapping[str, str],
    folder: Path,
    deadline: Deadline,
    talk: Callable[[ClientSession], Awaitable[T]],
) -> T:
    """What `talk` returns of a session with a server; raises `ProviderError`."""
    import anyio

    async def run() -> T:
        from mcp import ClientSession

        with anyio.fail_after(deadline.left_s()):
            async with (
                _streams(server, environment, folder) as (reading, writing),
                ClientSession(reading, writing) as session,
            ):
                await session.initialize()
                return await talk(session)

    try:
        return anyio.run(run)
    except Exception as error:
        raise _provider_error(error, deadline) from error


@asynccontextmanager
async def _streams(
    server: Server, environment: Mapping[str, str], folder: Path
) -> AsyncGenerator[tuple[Any, Any]]:
    if server.url:
        import httpx
        from mcp.client.streamable_http import streamable_http_client

        headers = dict(server.headers)
        async with (
            httpx.AsyncClient(headers=headers, timeout=None, trust_env=False) as client,
            streamable_http_client(server.url, http_client=client) as (reading, writing, _),
        ):
            yield reading, writing
        return
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = which(server.command, path=environment.get("PATH"))
    if command is None:
        raise ProviderError("its program was not found")
    parameters = StdioServerParameters(
        command=command,
        args=list(server.arguments),
        env={**environment, **dict(server.environment)},
        cwd=folder,
        encoding_error_handler="replace",
    )
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        async with stdio_client(parameters, nowhere) as (reading, writing):
            yield reading, writing


async def list_tools(session: ClientSession) -> dict[str, Tool]:
    """The tools of a server by name. A name that occurs twice is left out."""
    from mcp.types import PaginatedRequestParams

    found: dict[str, list[Tool]] = {}
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        for one in page.tools:
            hints = one.annotations
            read_only = hints.readOnlyHint if hints else None
            destructive = hints.destructiveHint if hints else None
            harmless = bool(read_only) or (read_only is None and destructive is not True)
            text = (one.description or "")[:_MAX_DESCRIPTION_CHARS]
            tool = Tool(one.name, text, one.inputSchema, harmless)
            found.setdefault(one.name, []).append(tool)
        cursor = page.nextCursor
        if not cursor:
            break
    return {name: tools[0] for name, tools in found.items() if len(tools) == 1}


async def call_tool(
    session: ClientSession, name: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """The result of a tool."""
    result = await session.call_tool(name, dict(arguments))
    if result.isError:
        raise ProviderError("its tool reports a failure")
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


def _provider_error(error: Exception, deadline: Deadline) -> ProviderError:
    """An error of the library in our words, without those of the provider."""
    import httpx
    from mcp import McpError

    while isinstance(error, ExceptionGroup):
        error = cast(ExceptionGroup[Exception], error).exceptions[0]
    match error:
        case ProviderError():
            return error
        case TimeoutError():
            return deadline.error()
        case httpx.HTTPStatusError() if error.response.status_code in (401, 403):
            return ProviderError(f"it needs a login (HTTP {error.response.status_code})")
        case httpx.HTTPStatusError():
            return ProviderError(f"it refused with HTTP {error.response.status_code}")
        case httpx.HTTPError():
            return ProviderError("it cannot be reached")
        case McpError():
            return ProviderError("it ended or refused the request")
        case OSError():
            return ProviderError("its program cannot be started")
        case _:
            return ProviderError("its answer is invalid")
