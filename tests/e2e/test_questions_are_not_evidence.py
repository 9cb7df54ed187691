"""What was only asked is not known: through every interface, after the question was asked before.

An agent asked memory by its tools and by the command line, found nothing, and said so. Later the
same question is put to `ask`, `research`, `reflect` and briefs. The prompts are found as prompts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from holdfast.app.memory import Holdfast
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.settings import Settings, load_settings
from tests.support.command_line import read, runner
from tests.support.http.server import Server, make_home, serving
from tests.support.transcripts import Script

WHY = "Why did we drop Kafka?"
NOT_KNOWN = json.dumps({"answer": "Not known: memory has no record about this.", "citations": []})
NO_HITS = json.dumps({"bank": "proj", "hits": []})


def asking(number: int) -> Script:
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd="/home/dev/proj")
    script.start += timedelta(days=number)
    return script


def unanswered() -> list[Script]:
    """Sessions in which the question was asked and nobody knew."""
    by_tools = asking(1)
    by_tools.user(WHY)
    by_tools.tool("ToolSearch", "found", query="select:mcp__holdfast__memory Kafka")
    by_tools.tool("mcp__holdfast__memory", NOT_KNOWN, question=WHY)
    by_tools.tool("mcp__holdfast__memory_recall", NO_HITS, query="Kafka dropped reason")
    by_tools.tool("Grep", "Found 2 files\nkafka.md\nkafka.py", pattern="drop kafka")
    by_tools.assistant("Memory has nothing on why you dropped Kafka. Shall I look at the history?")
    by_command = asking(2)
    by_command.user("why did we drop kafka")
    by_command.tool("Bash", "Not known: Kafka drop.", command=f'holdfast ask "{WHY}"')
    by_command.assistant("I don't have a record of why Kafka was dropped.")
    request = asking(3)
    request.user("Find out why we drop Kafka, please.")
    request.assistant("I'll look into why we drop Kafka.")
    return [by_tools, by_command, request]


class World(NamedTuple):
    """A home with these sessions and the ways to it."""

    server: Server
    memory: Holdfast
    engine: ToolEngine
    run: Callable[..., tuple[int, str]]

    def post(self, path: str, **body: object) -> Any:
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Content-Type": "application/json",
        }
        got = self.server.ask(path, headers, json.dumps(body).encode(), "POST")
        assert got.status == 200, got
        return json.loads(got.text)

    def get(self, path: str) -> str:
        got = self.server.ask(path)
        assert got.status == 200, got
        return got.text

    def tool(self, name: str, **given: object) -> Any:
        return self.engine.call(name, given, CallContext(client="a client"))["structuredContent"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    folder = tmp_path_factory.mktemp("asked")
    for script in unanswered():
        script.write(folder / "projects")
    with serving(make_home(folder, folder / "projects"), folder) as server:
        yield server, folder


@pytest.fixture
def world(
    home: tuple[Server, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    server, _ = home
    for name in ("HOLDFAST_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, server.env[name])
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    engine = ToolEngine()
    with Holdfast(load_settings()) as memory:
        yield World(server, memory, engine, runner(capsys))
    engine.close()


ANSWERS: dict[str, Callable[[World], Any]] = {
    "Python": lambda w: vars_of(w.memory.ask(WHY, "proj")),
    "command line": lambda w: read(w.run, "ask", WHY, "--bank", "proj"),
    "MCP": lambda w: w.tool("memory", question=WHY),
    "REST": lambda w: w.post("/api/v1/ask", question=WHY, bank="proj"),
}


def vars_of(answer: Any) -> Any:
    return {"answer": answer.answer, "confidence": answer.confidence.value}


@pytest.mark.parametrize("way", ANSWERS)
def test_a_question_that_was_only_asked_is_not_answered(world: World, way: str) -> None:
    answer = ANSWERS[way](world)
    assert answer["answer"].startswith("Not known"), answer
    assert answer.get("confidence", "none") == "none" and not answer.get("citations")


def test_the_page_says_that_it_is_not_known(world: World) -> None:
    page = world.get(f"/?q={quote(WHY)}&bank=proj")
    assert "Not known" in page and "→ ok" not in page


HITS: dict[str, Callable[[World], str]] = {
    "Python": lambda w: "\n".join(h.text for h in w.memory.recall("drop Kafka", "proj").hits),
    "command line": lambda w: w.run("recall", "drop Kafka", "--bank", "proj", "--json")[1],
    "MCP": lambda w: json.dumps(w.tool("memory_recall", query="drop Kafka")),
    "REST": lambda w: w.get("/api/v1/recall?query=drop%20Kafka&bank=proj"),
    "page": lambda w: re.sub("<[^>]*>", "", w.get("/search?q=drop+Kafka")),
}


@pytest.mark.parametrize("way", HITS)
def test_a_prompt_is_found_and_a_call_of_memory_is_not(world: World, way: str) -> None:
    found = HITS[way](world)
    assert "why we drop Kafka" in found
    assert "mcp__holdfast" not in found and "holdfast ask" not in found


def _reflect_by_command(world: World) -> Any:
    return read(world.run, "reflect", WHY, "--bank", "proj", "--no-store")


REFLECTIONS: dict[str, Callable[[World], Any]] = {
    "Python": lambda w: {"answer": w.memory.opinions.reflect(WHY, "proj", store=False).answer},
    "command line": _reflect_by_command,
    "MCP": lambda w: w.tool("memory_reflect", query=WHY),
    "REST": lambda w: w.post("/api/v1/reflect", query=WHY, bank="proj", store=False),
}


@pytest.mark.parametrize("way", REFLECTIONS)
def test_nothing_is_believed_of_what_was_only_asked(world: World, way: str) -> None:
    assert REFLECTIONS[way](world)["answer"].startswith("Not known")


def test_briefs_settle_nothing_that_was_only_asked(world: World) -> None:
    goal = world.memory.briefs.goal_brief(f"{WHY} I want to use it again.", "proj")
    assert "drop" not in goal.text
    brief = world.memory.briefs.session_brief("proj").text
    assert "ended: “Find out why we drop Kafka, please”" in brief  # as it was asked for
    assert "Decided" not in brief and "Believed" not in brief and "mcp__holdfast" not in brief


def open_with(folder: Path, *scripts: Script) -> Holdfast:
    for script in scripts:
        script.write(folder / "p")
    memory = Holdfast(Settings(home=folder / "home", claude_dir=folder))
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


def statement_session() -> Script:
    script = asking(1)
    script.user("We dropped Kafka because nobody could operate it.")
    script.assistant("Understood.")
    return script


def session_repeating_memory(number: int) -> Script:
    cited = [{"uri": "holdfast://turn/1", "trust": "user", "excerpt": "We dropped Kafka"}]
    reply = json.dumps({"answer": "We dropped Kafka. [1]", "citations": cited})
    script = asking(number)
    script.user(WHY)
    script.tool("mcp__holdfast__memory", reply, question=WHY)
    script.assistant("We dropped Kafka because nobody could operate it.")
    return script


@pytest.mark.slow
def test_what_an_agent_repeats_from_memory_is_no_second_source(tmp_path: Path) -> None:
    with open_with(tmp_path / "one", statement_session()) as memory:
        once = memory.ask(WHY, "proj")
    with open_with(
        tmp_path / "more",
        statement_session(),
        session_repeating_memory(2),
        session_repeating_memory(3),
        session_repeating_memory(4),
    ) as memory:
        repeated = memory.ask(WHY, "proj")
    assert "nobody could operate it" in once.answer
    assert len(repeated.citations) == len(once.citations) == 1
    assert repeated.confidence is once.confidence
    assert repeated.answer.replace("it.", "it") == once.answer.replace("it.", "it")


def test_what_an_agent_repeats_from_memory_confirms_no_fact(tmp_path: Path) -> None:
    cause = "The root cause was the retry wrapper: after a timeout it ran load() a second time."
    found, quoted = asking(1), asking(2)
    found.user("The import loads every row twice, please find out why.")
    found.tool("Bash", "2 failed", error=True, command="pytest")
    found.assistant(cause)
    quoted.user("What was wrong with the import?")
    quoted.tool("mcp__holdfast__memory", NO_HITS, question="import")
    quoted.assistant(cause)
    with open_with(tmp_path, found, quoted) as memory:
        bank = memory.context.bank_id("proj") or ""
        claims = [c for c in memory.reader.facts.claims(bank) if "root cause" in c.text]
    assert {claim.session for claim in claims} == {claims[0].session}
    assert len({claim.turn for claim in claims}) == 1


# What people asked in other words or languages, and the question that is put to memory later.
ASKED = {
    "wondered": (["I wonder why we dropped Kafka.", "Not sure why we dropped Kafka"], WHY),
    "named": (["Kafka: why dropped", "reason for dropping Kafka", "kafka drop reason pls"], WHY),
    "de": (
        ["Wieso haben wir Kafka abgeschafft", "Finde heraus, warum wir Kafka abgeschafft haben."],
        "Warum haben wir Kafka abgeschafft?",
    ),
    "fr": (
        ["pourquoi on a abandonné Kafka", "Trouve pourquoi nous avons abandonné Kafka."],
        "Pourquoi avons-nous abandonné Kafka ?",
    ),
    "es": (
        ["por qué dejamos kafka", "Averigua por qué dejamos Kafka, por favor."],
        "¿Por qué dejamos Kafka?",
    ),
    "ru": (
        ["почему мы отказались от Kafka", "Выясни, почему мы отказались от Kafka."],
        "Почему мы отказались от Kafka?",
    ),
    "ja": (["Kafkaをやめた理由を調べてください。"], "なぜKafkaをやめたのですか？"),
    "zh": (["请查一下我们为什么放弃Kafka。"], "我们为什么放弃Kafka？"),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_question_in_any_words_is_no_evidence(tmp_path: Path, case: str) -> None:
    asked, question = ASKED[case]
    scripts = [asking(number) for number in range(1, len(asked) + 1)]
    for script, text in zip(scripts, asked, strict=True):
        script.user(text)
        script.tool("mcp__holdfast__memory", NOT_KNOWN, question=text)
        script.assistant("I have no record of that.")
    with open_with(tmp_path, *scripts) as memory:
        assert memory.ask(question, "proj").answer.startswith("Not known")
        assert memory.opinions.reflect(question, "proj", store=False).answer.startswith("Not known")
        assert not memory.reader.memories.retained(memory.context.bank_id("proj") or "")


def test_an_answer_of_memory_that_a_person_quotes_is_no_source(tmp_path: Path) -> None:
    with open_with(tmp_path / "one", statement_session()) as memory:
        once = memory.ask(WHY, "proj")
        brief = memory.briefs.session_brief("proj").text
    (told,) = [line for line in brief.splitlines() if "nobody could operate" in line][:1]
    quotes = (
        f"Holdfast says:\n{once.answer}\nIs that right?",
        f"> {once.answer}\n\nok, go on",
        f"Your brief had this line:\n{told}\nShall we keep it so?",
    )
    scripts = [asking(number) for number in range(2, 2 + len(quotes))]
    for script, text in zip(scripts, quotes, strict=True):
        script.user(text)
        script.assistant("I see.")
    with open_with(tmp_path / "more", statement_session(), *scripts) as memory:
        again = memory.ask(WHY, "proj")
        kept = memory.reader.memories.retained(memory.context.bank_id("proj") or "")
    assert (again.answer, again.confidence) == (once.answer, once.confidence)
    assert [one.seen for one in kept] == [1], kept
