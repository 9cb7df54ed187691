"""The protocol's own client calls every tool of every server, one process a server."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import open_memory
from holdfast.operations.agents.tools import SERVERS
from holdfast.settings import load_settings
from tests.support.transcripts import Script

pytestmark = pytest.mark.process  # the product starts the programs

anyio = pytest.importorskip("anyio")
mcp = pytest.importorskip("mcp", reason="the protocol's own client is not installed")
stdio = pytest.importorskip("mcp.client.stdio")

Json = dict[str, Any]
WHY = "The nightly import fails because the cache is warmed before the migration has run."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a memory, and a project it is of."""
    root = tmp_path_factory.mktemp("client")
    (root / "proj").mkdir()
    script = Script(cwd=str(root / "proj"))
    script.user("Why does the nightly import fail?")
    script.tool("Edit", file_path=str(root / "proj" / "src" / "cache.py"), old_string="a")
    script.assistant(WHY)
    script.user("Please rename the uploader to courier.")
    script.assistant("Renamed the uploader to courier in src/courier.py.")
    script.write(root / "home" / "c" / "projects")
    with open_memory(load_settings(environment(root))) as memory:
        memory.ingest(memory.ingestion.find([]))
    return root


def environment(root: Path) -> dict[str, str]:
    home = root / "home"
    return {"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c"), "HOME": str(root)}


def converse(root: Path, server: str, talk: Callable[[Any], Awaitable[None]]) -> None:
    """Start a server and talk to it."""

    async def run() -> None:
        parameters = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "holdfast", "mcp", *([server] if server else [])],
            env={**os.environ, **environment(root)},
            cwd=root / "proj",
        )
        async with (
            stdio.stdio_client(parameters) as (receive, send),
            mcp.ClientSession(receive, send) as session,
        ):
            await session.initialize()
            await talk(session)

    anyio.run(run)


async def call(session: Any, name: str, arguments: Json, **more: Any) -> Json:
    told = await session.call_tool(name, arguments, **more)
    return told.model_dump(by_alias=True)


GIVEN: Json = {
    "question": "Why does the nightly import fail?",
    "query": "nightly import",
    "text": "The staging database is rebuilt every night.",
    "domain": "testing",
    "content": "Use the fixtures in tests/conftest.py.",
    "action": "status",
    "verdict": "useful",
    "concept": "courier",
    "filePath": "src/cache.py",
    "type": "bugfix",
    "anchor": "2026-01-05",
}


async def use_all(session: Any, server: str, given: Json, last: str = "") -> None:
    """Call every tool with what it needs; one of them `last`."""
    listed = (await session.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in SERVERS[server].tools]
    for tool in sorted(listed, key=lambda tool: tool.name == last):
        assert tool.annotations.readOnlyHint or not SERVERS[server].only_reads
        wanted = {key: given[key] for key in tool.inputSchema.get("required", ())}
        told = await call(session, tool.name, wanted)
        assert not told["isError"] and told["structuredContent"], (tool.name, told)
        if tool.name == "remember":
            given["id"] = told["structuredContent"]["uri"]
            given["ids"] = [given["id"]]


def test_the_data_access_server_works_with_the_official_client(place: Path) -> None:
    async def talk(session: Any) -> None:
        await use_all(session, "memory", GIVEN)
        found = await call(session, "memory_search_with_fallbacks", {"query": "nightly import"})
        assert "holdfast://" in found["content"][0]["text"]
        wrong = await call(session, "memory_search_fts", {})
        assert wrong["isError"] and "query" in wrong["content"][0]["text"]

    converse(place, "memory", talk)


def test_the_search_server_works_with_the_official_client(place: Path) -> None:
    async def talk(session: Any) -> None:
        told = await call(session, "search_observations", {"query": "nightly import", "days": 0})
        best = told["structuredContent"]["findings"][0]
        await use_all(session, "search", {**GIVEN, "id": best["uri"]})
        opened = await call(session, "show", {"id": best["uri"]})
        assert best["uri"] in opened["content"][0]["text"]
        wrong = await call(session, "get_context_timeline", {"anchor": "no such thing"})
        assert wrong["isError"] and "record" in wrong["content"][0]["text"]

    converse(place, "search", talk)


def test_the_main_server_works_with_the_official_client(place: Path) -> None:
    steps: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message or "")

    async def talk(session: Any) -> None:
        given = {**GIVEN, "id": ""}
        first = await call(session, "remember", {"text": "The pier is green."})
        given["id"] = first["structuredContent"]["uri"]
        # After it is forgotten, a record cannot be decided about.
        await use_all(session, "main", given, last="forget")
        told = await call(
            session, "memory", {"question": given["question"]}, progress_callback=note
        )
        assert "warmed before" in told["structuredContent"]["answer"] and len(steps) > 1
        await call(session, "remember", {"text": given["text"]})
        found = await call(session, "memory_recall", {"query": "staging database rebuilt"})
        best = found["structuredContent"]["hits"][0]
        assert best["kind"] == "memory" and best["trust"] == "assistant"
        read = await call(session, "show", {"id": best["uri"]})
        assert "rebuilt every night" in read["content"][0]["text"]
        for missing in ("holdfast://turn/0000000000000000", "file:///etc/passwd"):
            assert (await call(session, "show", {"id": missing}))["isError"]
        with pytest.raises(mcp.McpError):
            await session.call_tool("shell", {"command": "id"})

    converse(place, "", talk)
