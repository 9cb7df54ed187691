"""Every way in which a memory tells what it knows, in this process: Python, the command line, REST,
GraphQL, pages, MCP tools, briefs, triggers, hand-offs and exports."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from html import unescape
from typing import Any

import httpx2

from holdfast.app.core.token import read_or_make_token
from holdfast.app.memory import Holdfast
from holdfast.app.transfer.export_markdown import markdown_notes
from holdfast.app.transfer.exporting import ExportRequest
from holdfast.brief.triggers import error_triggers, file_triggers
from holdfast.errors import NotFoundError
from holdfast.interfaces.cli.main import main
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.model.to_json import to_jsonable
from holdfast.operations.briefs import handoff as hand_off
from holdfast.settings import Settings

Way = tuple[str, object]
_HOST = "127.0.0.1:1"


def all_ways(memory: Holdfast, questions: list[str], prompts: list[str]) -> Iterator[Way]:
    """What each way in tells about some questions, and about first prompts of a session."""
    yield from python_ways(memory, questions, prompts)
    yield from brief_ways(memory)
    yield from command_ways(questions, prompts)
    sessions = [session.id for session in memory.reader.sessions.latest(None)]
    yield from http_ways(memory.settings, questions, prompts, sessions)
    yield from mcp_ways(questions)
    yield from export_ways(memory)


def python_ways(memory: Holdfast, questions: list[str], prompts: list[str]) -> Iterator[Way]:
    """The Python API."""
    for question in questions:
        yield f"recall {question!r}", to_jsonable(memory.recall(question))
        yield f"ask {question!r}", to_jsonable(memory.ask(question))
        yield f"reflect {question!r}", to_jsonable(memory.opinions.reflect(question))
        with suppress(NotFoundError):  # what no record is about cannot be handed over
            yield f"hand-off {question!r}", hand_off(memory, question).page
    for prompt in prompts:
        yield f"goal brief {prompt!r}", memory.briefs.goal_brief(prompt).text
    yield "facts", to_jsonable(memory.browse.facts())
    yield "timeline", to_jsonable(memory.timeline())
    for session in memory.reader.sessions.latest(None):
        yield "hand-off of a session", hand_off(memory, f"holdfast://session/{session.id}").page
    for bank in memory.reader.banks.all():
        yield "patterns", to_jsonable(memory.reader.rules.patterns(bank.id))


def brief_ways(memory: Holdfast) -> Iterator[Way]:
    """What hooks inject."""
    yield "session brief", memory.briefs.session_brief().text
    for bank in memory.reader.banks.all():
        for name, found in (
            ("file", file_triggers(memory.reader, bank.id)),
            ("error", error_triggers(memory.reader, bank.id)),
        ):
            texts = [brief.text for briefs in found.values() for brief in briefs]
            yield f"{name} triggers", "\n".join(texts)


def command_ways(questions: list[str], prompts: list[str]) -> Iterator[Way]:
    """The command line; the home is in the environment."""
    commands = [["facts"], ["timeline"], ["brief"]]
    commands += [["find", "--since", "2026-01-01"], ["concepts"], ["promote", "candidates"]]
    commands += [["opinions", "--all"], ["review"]]
    verbs = ("recall", "ask", "reflect", "team")
    commands += [[verb, question] for verb in verbs for question in questions]
    commands += [["brief", "--prompt", prompt] for prompt in prompts]
    for command in commands:
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(io.StringIO()):
            main([*command, "--bank", "proj"])
        yield f"holdfast {' '.join(command)}", out.getvalue()


def http_ways(
    settings: Settings, questions: list[str], prompts: list[str], sessions: list[str]
) -> Iterator[Way]:
    """REST, GraphQL and pages, asked of the application without a socket."""
    keys = OwnerKeys(read_or_make_token(settings.home))
    pool = MemoryPool(settings)
    web = WebApp(pool, keys, GuardRules(frozenset({_HOST})))
    headers = {"authorization": f"Bearer {read_or_make_token(settings.home)}"}
    gets = ["facts", "timeline", "brief", "find?since=2026-01-01"]
    gets += ["concepts", "memories", "rules/candidates", "opinions", "sessions", "exchanges"]
    gets += [f"recall?query={question}" for question in questions]
    gets += [f"handoff?what={question}" for question in questions]
    gets += [f"brief?prompt={prompt}" for prompt in prompts]
    posts = [(name, {"query" if name == "reflect" else "question": question})
             for name in ("ask", "reflect") for question in questions]  # fmt: skip
    graph = 'query($q: String!) { recall(query: $q, bank: "proj") { hits { text status weak '
    graph += "ended { sentence ended now } } } facts { items { content } } }"
    pages = [
        "/",
        "/sessions",
        "/banks/proj",
        "/timeline",
        "/memory?tab=facts",
        "/memory?tab=concepts",
        "/memory?tab=remembered",
        "/memory?tab=opinions",
        "/memory?tab=patterns",
        "/review",
        "/brief",
        *(f"/sessions/{id}" for id in sessions),
    ]
    pages += [f"/{place}?q={question}" for place in ("", "search") for question in questions]

    async def ask_all() -> list[Way]:
        transport = httpx2.ASGITransport(web.guard)  # pyright: ignore[reportArgumentType]
        found: list[Way] = []
        async with httpx2.AsyncClient(
            transport=transport, base_url=f"http://{_HOST}", headers=headers, timeout=60
        ) as client:
            for path in gets:
                sign = "&" if "?" in path else "?"
                answer = await client.get(f"/api/v1/{path}{sign}bank=proj")
                assert answer.status_code in (200, 404), (path, answer.text)
                told = answer.json() if answer.status_code == 200 else None
                found.append((f"GET {path}", told))
            for path, body in posts:
                answer = await client.post(f"/api/v1/{path}", json={"bank": "proj", **body})
                assert answer.status_code == 200, (path, answer.text)
                found.append((f"POST {path} {body}", answer.json()))
            for question in questions:
                body = {"query": graph, "variables": {"q": question}}
                answer = await client.post("/graphql", json=body)
                found.append((f"GraphQL {question}", _data(answer.json())))
            for path in pages:
                answer = await client.get(path, headers={"accept": "text/html"})
                assert answer.status_code == 200, (path, answer.text)
                found.append((f"page {path}", _visible_text(answer.text)))
        return found

    try:
        yield from asyncio.run(ask_all())
    finally:
        pool.close()


def _data(answer: Any) -> Any:
    assert "errors" not in answer, answer
    return answer["data"]


def _visible_text(page: str) -> str:
    """The main part of a page as text, an item a block. The title of a page, which may repeat the
    question of its reader, is a block of its own."""
    inner = re.search(r"<main.*?</main>", page, re.DOTALL)
    assert inner is not None, page
    kept = re.sub(r"<(script|style|form).*?</\1>|<input[^>]*>", "", inner[0], flags=re.DOTALL)
    items = re.sub(r"</li>|</article>|</section>|<h[12][^>]*>|</h1>", "\0", kept)
    plain = unescape(re.sub(r"<[^>]+>", " ", items))
    return "\n\n".join(" ".join(item.split()) for item in plain.split("\0"))


def mcp_ways(questions: list[str]) -> Iterator[Way]:
    """The tools for agents; the home is in the environment."""
    calls: list[tuple[str, str, dict[str, Any]]] = []
    for question in questions:
        calls += [("main", "memory", {"question": question})]
        calls += [("main", "memory_recall", {"query": question})]
        calls += [("main", "memory_reflect", {"query": question})]
        calls += [("main", "team_query", {"question": question})]
        calls += [("memory", name, {"query": question}) for name in _MEMORY_SEARCHES]
        calls += [("search", name, {"query": question, "format": "full", "days": 0})
                  for name in _SEARCHES]  # fmt: skip
    calls += [("search", name, {}) for name in ("get_recent_context",)]
    calls += [("memory", name, {}) for name in ("memory_scan_recent_sessions",)]
    calls += [("search", "find_by_type", {"type": type}) for type in ("decision", "change")]
    made: dict[str, Any] = {}
    try:
        for server, name, given in calls:
            engine = made.setdefault(server, None) or ToolEngine(server)
            made[server] = engine
            told = engine.call(name, given, CallContext(client="a client"))
            yield f"{name} {given}", _structured(told)
    finally:
        for engine in made.values():
            engine.close()


_MEMORY_SEARCHES = (
    "memory_search_fts",
    "memory_search_vector",
    "memory_search_hybrid",
    "memory_search_multi_strategy",
    "memory_search_with_fallbacks",
)
_SEARCHES = ("search_observations", "search_sessions", "search_user_prompts")


def _structured(told: dict[str, Any]) -> object:
    """What a tool says: its structured content, or its text as JSON or as it is."""
    if told.get("structuredContent"):
        return told["structuredContent"]
    text = "\n".join(part.get("text", "") for part in told["content"])
    return json.loads(text) if text.startswith(("{", "[")) else text


def export_ways(memory: Holdfast) -> Iterator[Way]:
    """The notes of a Markdown export."""
    wanted = ExportRequest(tuple(memory.reader.banks.all()))
    for path, text in sorted(markdown_notes(memory.reader, wanted, str)):
        sections = re.split(r"\n(?=#)", text.partition("\n---\n")[2])
        name = path.rpartition("/")[2]
        yield f"note {name[:20]}", "\n\n".join(" ".join(s.split()) for s in sections)
