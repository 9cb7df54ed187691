"""A filter by kind finds what is of that kind, and nothing else, through every interface; a kind
that does not exist is refused with the names of those that do."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2
import pytest

from holdfast.app.core.token import read_or_make_token
from holdfast.app.memory import Holdfast
from holdfast.app.transfer.exporting import ExportRequest, export_lines
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.model.ids import content_id
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Fact, FactKind, Kind, Memory, Network, Rule, Validity
from holdfast.model.query import Answer, Layer
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from holdfast.recall.core.plan import RecallPlan
from holdfast.refine.core.passages import fact_passage, memory_passage, rule_passage
from holdfast.store.knowledge.facts import DerivedFacts, FactWithPassage
from tests.support.command_line import Run, read, runner
from tests.support.refine_banks import NOW, open_filled, open_memory, session_saying

pytestmark = pytest.mark.slow
_HOST = "127.0.0.1:1"
GAUGE = "tide gauge in the harbour"
QUESTION = f"What about the {GAUGE}?"
STATEMENTS = {
    Kind.DECISION: f"We read the {GAUGE} over Modbus instead of polling its web page.",
    Kind.RULE: f"Never restart the {GAUGE} while a ship is berthing.",
    Kind.PREFERENCE: f"I like the {GAUGE} drawn as a blue line without dots.",
    Kind.LESSON: f"The {GAUGE} reported zero because its clock battery was flat.",
    Kind.FACT: f"The {GAUGE} sends a reading every ninety seconds.",
    Kind.OUTCOME: f"Replaced the parser for the {GAUGE} with a streaming one.",
    Kind.TODO: f"The alarm for the {GAUGE} still needs a test with real storms.",
}
FACTS = {
    FactKind.RULE: f"The {GAUGE} must be calibrated each spring before the regatta.",
    FactKind.SOLUTION: f"The {GAUGE} drifted until its sensor cable was shielded.",
    FactKind.CORE_LOGIC: f"The {GAUGE} now writes through the ledger service.",
}
MEMORY_OF = {kind: uri("memory", content_id("memory", kind)) for kind in STATEMENTS}
FACT_OF = {kind.says: uri("fact", content_id("fact", kind)) for kind in FACTS}
KIND_OF = {name: kind for known in (MEMORY_OF, FACT_OF) for kind, name in known.items()}


class World(NamedTuple):
    """A memory with knowledge of every kind, and the ways to it."""

    memory: Holdfast
    run: Run
    client: Callable[..., httpx2.Response]

    def rest(self, path: str, **body: Any) -> Any:
        method = "POST" if body else "GET"
        got = self.client(method, f"/api/v1/{path}", json=body or None)
        if got.status_code != 200:
            raise InputError(got.text)
        return got.json()

    def page(self, path: str) -> str:
        got = self.client("GET", path, headers={"accept": "text/html"})
        if got.status_code != 200:
            raise InputError(got.text)
        return got.text

    def tool(self, server: str, name: str, **given: Any) -> Any:
        engine = ToolEngine(server)
        try:
            told = engine.call(name, given, CallContext(client="a client"))
        finally:
            engine.close()
        if told.get("isError"):
            raise InputError(json.dumps(told))
        return told.get("structuredContent") or json.loads(told["content"][0]["text"])


def fill(memory: Holdfast) -> None:
    """Put a memory of each kind and a fact of each kind into the bank."""
    bank = memory.context.bank_id("proj") or ""
    held = Validity(NOW, "", NOW)
    facts = [
        Fact(bank, content_id("fact", kind), kind, text, 0.8, Trust.USER, validity=held)
        for kind, text in FACTS.items()
    ]
    with memory.store.transaction():
        memory.store.memories.drop_retained()
        for kind, text in STATEMENTS.items():
            id = content_id("memory", kind)
            one = Memory(bank, id, Network.WORLD, text, Trust.ASSISTANT, when=NOW, kind=kind)
            memory.store.memories.put_retained(bank, id, one, memory_passage(one))
        with_passages = [FactWithPassage(fact, fact_passage(fact)) for fact in facts]
        memory.store.facts.replace(bank, DerivedFacts(with_passages))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    # What is said in a session is about the same, and no knowledge of a kind by itself.
    with open_filled(folder, session_saying("2026-09-01", 1, f"Look at the {GAUGE}.")) as memory:
        fill(memory)
    return folder


@pytest.fixture
def world(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    with open_memory(home) as memory:
        token = read_or_make_token(home)
        pool = MemoryPool(memory.settings)
        web = WebApp(pool, OwnerKeys(token), GuardRules(frozenset({_HOST})))

        def client(method: str, path: str, **more: Any) -> httpx2.Response:
            headers = {"authorization": f"Bearer {token}", **more.pop("headers", {})}

            async def send() -> httpx2.Response:
                transport = httpx2.ASGITransport(web.guard)  # pyright: ignore[reportArgumentType]
                async with httpx2.AsyncClient(
                    transport=transport, base_url=f"http://{_HOST}", timeout=60
                ) as asking:
                    return await asking.request(method, path, headers=headers, **more)

            return asyncio.run(send())

        try:
            yield World(memory, runner(capsys), client)
        finally:
            pool.close()


def uris(found: Any) -> list[str]:
    return [one["uri"] for one in found]


def cited(answer: Answer) -> list[str]:
    return [citation.uri for citation in answer.citations]


def linked(page: str) -> list[str]:
    """The records that the list of a page links to."""
    rows = re.findall(r"<li class=\"hit\">.*?</li>|<ul class=\"records.*?</ul>", page, re.DOTALL)
    names = re.findall(r"/record/(\w+)/(\w+)|tab=(\w+)&amp;id=(\w+)", "".join(rows))
    tabs = {"facts": "fact", "memories": "memory"}
    return [uri(word or tabs[tab], id or other) for word, id, tab, other in names]


# How each interface is asked for what is of a kind, and the URIs that it gives.
SEARCHES: dict[str, Callable[[World, str], list[str]]] = {
    "recall of Python": lambda w, kind: [
        hit.uri for hit in w.memory.recall(GAUGE, "proj", knowledge=read_kinds([kind])).hits
    ],
    "ask of Python": lambda w, kind: cited(
        w.memory.ask(QUESTION, "proj", kinds=read_kinds([kind]))
    ),
    "REST recall": lambda w, kind: uris(w.rest(f"recall?query={quote(GAUGE)}&kind={kind}")["hits"]),
    "REST ask": lambda w, kind: uris(
        w.rest("ask", question=QUESTION, bank="proj", kind=kind)["citations"]
    ),
    "memory_recall of MCP": lambda w, kind: uris(
        w.tool("main", "memory_recall", query=GAUGE, kind=kind)["hits"]
    ),
    "memory of MCP": lambda w, kind: uris(
        w.tool("main", "memory", question=QUESTION, kind=kind)["citations"]
    ),
    **{
        f"{name} of MCP": lambda w, kind, name=name: uris(
            w.tool("memory", name, query=GAUGE, kind=kind)["hits"]
        )
        for name in (
            "memory_search_fts",
            "memory_search_hybrid",
            "memory_search_multi_strategy",
            "memory_search_with_fallbacks",
        )
    },
    "search_observations of MCP": lambda w, kind: uris(
        w.tool("search", "search_observations", query=GAUGE, kind=kind, days=0)["findings"]
    ),
    "the search page": lambda w, kind: linked(w.page(f"/search?q={quote(GAUGE)}&knowledge={kind}")),
}


def listed(world: World, name: str, kind: str) -> Any:
    return perform(find_operation(name), world.memory, {"kind": kind, "bank": "proj"})


# Lists of memories alone, and of facts alone.
MEMORIES: dict[str, Callable[[World, str], list[str]]] = {
    "memories of Python": lambda w, kind: [
        uri("memory", one.id) for one in listed(w, "memories", kind).memories
    ],
    "REST memories": lambda w, kind: uris(w.rest(f"memories?kind={kind}")["memories"]),
    "the page of memories": lambda w, kind: linked(
        w.page(f"/memory?tab=memories&knowledge={kind}")
    ),
}
FACT_LISTS: dict[str, Callable[[World, str], list[str]]] = {
    "facts of Python": lambda w, kind: [
        uri("fact", one.id) for one in listed(w, "facts", kind).facts
    ],
    "REST facts": lambda w, kind: uris(w.rest(f"facts?kind={kind}")["facts"]),
    "the page of facts": lambda w, kind: linked(w.page(f"/memory?tab=facts&knowledge={kind}")),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_by_kind_gives_only_that_kind_and_finds_it(world: World, name: str) -> None:
    for kind in Kind:
        found = SEARCHES[name](world, kind.value)
        assert {KIND_OF.get(one) for one in found} == {kind}, (kind, found)
        assert MEMORY_OF[kind] in found or FACT_OF.get(kind) in found


@pytest.mark.parametrize("name", [*MEMORIES, *FACT_LISTS])
def test_a_list_by_kind_holds_all_that_is_of_that_kind(world: World, name: str) -> None:
    listing, known = (MEMORIES, MEMORY_OF) if name in MEMORIES else (FACT_LISTS, FACT_OF)
    for kind in Kind:
        found = listing[name](world, kind.value)
        assert set(found) == {known[kind]} if kind in known else not found, (kind, found)


@pytest.mark.parametrize("name", [*SEARCHES, *MEMORIES, *FACT_LISTS])
def test_an_unknown_kind_is_refused_with_the_names_of_all_kinds(world: World, name: str) -> None:
    ask = (SEARCHES | MEMORIES | FACT_LISTS)[name]
    with pytest.raises(HoldfastError) as refused:
        ask(world, "lessons")
    assert all(re.search(rf"\b{kind}\b", refused.value.full_text) for kind in Kind)


def test_without_a_filter_records_of_any_kind_are_found(world: World) -> None:
    found = world.memory.recall(GAUGE, "proj", limit=50)
    said = {hit.uri: hit.knowledge for hit in found.hits}
    assert {name: kind for name, kind in said.items() if kind} == KIND_OF
    assert None in said.values()


def test_a_record_names_its_kind_where_it_is_shown(world: World) -> None:
    lesson, solution = MEMORY_OF[Kind.LESSON], FACT_OF[Kind.LESSON]
    assert "kind: lesson" in world.run("show", lesson)[1]
    assert "knowledge: lesson" in world.run("show", solution)[1]
    assert read(world.run, "show", solution)["knowledge"] == "lesson"
    for word, name in (("memory", lesson), ("fact", solution)):
        page = world.page(f"/record/{word}/{name.rpartition('/')[2]}")
        assert '<span class="mark">lesson</span>' in page


def test_an_export_of_derived_records_carries_the_kind_of_each_memory(world: World) -> None:
    reader = world.memory.reader
    request = ExportRequest(tuple(reader.banks.all()), derived=True)
    rows = [line.row for line in export_lines(reader, request) if line.type == "memory"]
    kinds = {row["what"]: row["kind"] for row in rows}
    assert {text: kinds[text] for text in STATEMENTS.values()} == {
        text: kind.value for kind, text in STATEMENTS.items()
    }


def test_a_search_for_a_kind_that_finds_nothing_says_what_it_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    rule = "From now on the harbour lights must always be tested before the regatta."
    open_filled(tmp_path, session_saying("2026-09-01", 1, rule)).close()
    status, told = runner(capsys)(
        "recall", "harbour lights", "--kind", "preference", "--bank", "proj"
    )
    assert status == 0 and "Only records of kind preference were searched." in told


def test_a_section_of_a_rule_file_is_a_rule_and_a_filter_by_layer_still_counts(
    tmp_path: Path,
) -> None:
    text = f"The {GAUGE} is read by one process, and every other asks that one."
    with open_filled(tmp_path, session_saying("2026-09-01", 1, f"Look at the {GAUGE}.")) as memory:
        fill(memory)
        bank = memory.context.bank_id("proj") or ""
        rule = Rule(bank, content_id("rule", text), "CLAUDE.md", "Gauges", text)
        with memory.store.transaction():
            memory.store.rules.put(bank, [], [(rule, rule_passage(rule))])
        own = uri("rule", rule.id)
        plan = RecallPlan(knowledge=(Kind.RULE,))
        recall = memory.search.recall_with_plan
        rules = {hit.uri for hit in recall(GAUGE, "proj", plan).hits}
        assert rules == {own, MEMORY_OF[Kind.RULE], FACT_OF[Kind.RULE]}
        in_files = recall(GAUGE, "proj", plan._replace(layers=(Layer.RULES,)))
        assert [hit.uri for hit in in_files.hits] == [own]
        lessons = recall(GAUGE, "proj", RecallPlan(knowledge=(Kind.LESSON, Kind.TODO)))
        assert {hit.knowledge for hit in lessons.hits} == {Kind.LESSON, Kind.TODO}
