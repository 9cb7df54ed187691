from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Layer, RecallResult
from holdfast.model.records import Turn
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.recall_bank import NOW, open_with_sessions, talk
from tests.support.transcripts import Script

CODE = "E7731QX"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def build(*middle: str, lead: int = 0) -> Script:
    """A session whose build printed much, of which only the ends are kept."""
    script = talk(1, "2026-09-19", "Build the site.", "Let me run the build.")
    noise = [f"step {n} compiled module number {n} without a word to say" for n in range(200)]
    if lead:
        script.tool("Bash", "x" * lead, command="cat everything")
    script.tool("Bash", "\n".join((*noise, *middle, *noise)), command="make site")
    script.assistant("The site is built.")
    return script


@pytest.fixture(params=["rg", "python"])
def grep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """With ripgrep, or a program that takes its options where none is installed, and without."""
    how = str(request.param)
    tools = tmp_path / "bin"
    tools.mkdir()
    if how == "rg":
        real = shutil.which("rg")
        (tools / "rg").write_text(
            f'#!/bin/sh\nexec {real} "$@"\n' if real else '#!/bin/sh\nshift\nexec grep -a "$@"\n'
        )
        (tools / "rg").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    else:
        monkeypatch.setenv("PATH", str(tools))
    assert (shutil.which("rg") is not None) == (how == "rg")
    return how


def ask(memory: Holdfast, query: str, **plan: object) -> RecallResult:
    return memory.search.recall_with_plan(query, "shop", RecallPlan()._replace(**plan))  # type: ignore[arg-type]


def line_with(path: Path, text: str) -> int:
    lines = path.read_bytes().split(b"\n")
    return next(n for n, line in enumerate(lines, start=1) if text.encode() in line)


def test_a_time_with_unknown_words_returns_the_sessions_of_that_time(tmp_path: Path) -> None:
    old = talk(1, "2026-09-10", "Paint it blue.", "It is blue.")
    new = talk(2, "2026-09-19", "Paint it red.", "It is red.")
    with open_with_sessions(tmp_path, old, new) as memory:
        found = ask(memory, "what about zymurgy yesterday?")
        assert found.fallbacks == ("recent_sessions",) and not found.abstained
        assert found.hits[0].time[:10] == "2026-09-19" and not found.hits[0].weak
        assert found.hits[0].kind == "digest" and 0 < found.hits[0].score <= 1
        assert ask(memory, "what about zymurgy yesterday?", budget=Budget.LOW).abstained


def test_tool_output_is_found_in_the_transcript(tmp_path: Path, grep: str) -> None:
    script = build(f"fatal {CODE}: the linker ran out of token={SECRET} and stopped")
    with open_with_sessions(tmp_path, script) as memory:
        (path,) = (tmp_path / "p").rglob("*.jsonl")
        assert memory.reader.passages.search(None, [CODE]) == []
        found = ask(memory, f"what was {CODE}?")
        assert found.fallbacks == ("raw_grep",) and not found.abstained
        hit = found.hits[0]
        assert CODE in hit.text and "the linker ran out" in hit.text
        assert SECRET not in hit.text and "[redacted:" in hit.text
        assert (hit.source.path, hit.source.line) == (str(path), line_with(path, CODE))
        assert (hit.kind, hit.layer, hit.time[:10]) == ("turn", Layer.TRANSCRIPTS, "2026-09-19")
        assert memory.show(hit.uri).raw is not None
        assert ask(memory, f"what was {CODE}?", budget=Budget.LOW).abstained


def test_thinking_and_system_reminders_in_a_transcript_are_not_found(
    tmp_path: Path, grep: str
) -> None:
    script = build(f"fatal {CODE}")
    script.thinking("The customer is called Quillfeather.")
    script.user("<system-reminder>Be kind to Xylander.</system-reminder>", isMeta=True)
    reminded = "one\n<system-reminder>Ask Yolanda.</system-reminder>\ntwo"
    script.tool("Bash", reminded, command="make two")
    with open_with_sessions(tmp_path, script) as memory:
        for name in ("Quillfeather", "Xylander", "Yolanda"):
            assert ask(memory, name).hits == ()


def test_tool_output_is_cited_with_the_call_that_printed_it(tmp_path: Path, grep: str) -> None:
    script = talk(1, "2026-09-19", "Look at both.", "Both at once.")
    noise = "\n".join(["nothing to see in this line"] * 200)
    web = script.call("WebFetch", url="https://example.org/page")
    shell = script.call("Bash", command="make site")
    script.result(web, f"{noise}\nthe page says {CODE}\n{noise}")
    script.result(shell, "done")
    with open_with_sessions(tmp_path, script) as memory:
        (hit,) = ask(memory, f"what was {CODE}?").hits
        record = memory.show(hit.uri).record
        assert isinstance(record, Turn) and record.tool is not None
        assert (record.tool.name, hit.trust) == ("WebFetch", Trust.EXTERNAL)
        assert set(hit.text.split("\n")) == {
            "nothing to see in this line",
            f"the page says {CODE}",
        }
        assert f"the page says {CODE}" in memory.ask(f"what was {CODE}?", "shop").answer


def test_output_of_a_subagents_tool_belongs_to_the_session_the_host_knows(
    tmp_path: Path,
) -> None:
    script = build(f"fatal {CODE}")
    path = script.write(tmp_path / "p")
    for line in script.lines:
        line |= {"agentId": "a1b2", "isSidechain": True}
    inner = path.with_suffix("") / "subagents" / "agent-a1b2.jsonl"
    inner.parent.mkdir(parents=True)
    inner.write_bytes(script.dumps())
    talk(1, "2026-09-19", "Build the site.", "Done.").write(tmp_path / "p")
    with open_with_sessions(tmp_path) as memory:
        (hit,) = ask(memory, f"what was {CODE}?").hits
        assert hit.source.path == str(inner) and hit.session == path.stem


def test_plain_words_must_occur_together(tmp_path: Path, grep: str) -> None:
    script = build("the flummoxed linker gave up", "so flummoxed", *["."] * 900, "a linker")
    with open_with_sessions(tmp_path, script) as memory:
        assert "flummoxed linker" in ask(memory, "flummoxed linker").hits[0].text
        assert ask(memory, "flummoxed zebra crossing").abstained


@pytest.mark.parametrize("gap", [270, 285, 295])
def test_a_secret_at_the_edge_of_an_excerpt_is_not_shown_in_part(
    tmp_path: Path, grep: str, gap: int
) -> None:
    script = build(f"{SECRET} {'.' * gap} {CODE} {'.' * gap} {SECRET}")
    with open_with_sessions(tmp_path, script) as memory:
        (hit, *_) = ask(memory, f"what was {CODE}?").hits
        assert CODE in hit.text
        pieces = {SECRET[n : n + 8] for n in range(4, len(SECRET) - 8)}
        assert not any(piece in hit.text for piece in pieces)


@pytest.mark.slow
def test_line_numbers_are_right_after_a_very_long_line(tmp_path: Path, grep: str) -> None:
    with open_with_sessions(tmp_path, build(f"fatal {CODE}", lead=5_000_000)) as memory:
        (path,) = (tmp_path / "p").rglob("*.jsonl")
        assert ask(memory, f"what was {CODE}?").hits[0].source.line == line_with(path, CODE)


def test_one_rare_word_of_a_question_in_tool_output_is_no_find(tmp_path: Path, grep: str) -> None:
    line = "deploy.md:3: kubernetes kubernetes kubernetes"
    with open_with_sessions(tmp_path, build(line)) as memory:
        assert ask(memory, "When did we move to kubernetes?").abstained
        assert ask(memory, "kubernetes in deploy").hits


def test_what_memory_answered_is_not_found_in_the_transcript(tmp_path: Path, grep: str) -> None:
    script = talk(1, "2026-09-19", "Build it.", "Let me ask memory.")
    script.tool("mcp__holdfast__memory", f"Not known.\nNearest: {CODE}\nNote", question="why")
    script.tool("Bash", f"Not known.\nNearest: {CODE}\nNote", command="holdfast ask why")
    script.assistant("Built.")
    with open_with_sessions(tmp_path, script) as memory:
        assert ask(memory, f"what was {CODE}?").abstained


def test_a_missing_transcript_is_not_an_error(tmp_path: Path, grep: str) -> None:
    with open_with_sessions(tmp_path, build(f"fatal {CODE}")) as memory:
        shutil.rmtree(tmp_path / "p")
        found = ask(memory, f"what was {CODE}?")
        assert found.abstained and found.fallbacks == ("raw_grep", "clarification")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no such file here")
def test_an_unreadable_transcript_is_not_an_error(tmp_path: Path, grep: str) -> None:
    with open_with_sessions(tmp_path, build(f"fatal {CODE}")) as memory:
        (path,) = (tmp_path / "p").rglob("*.jsonl")
        path.unlink()
        path.symlink_to("/proc/self/mem")  # it is there and opens, and reading it fails
        found = ask(memory, f"what was {CODE}?")
        assert found.abstained and found.fallbacks == ("raw_grep", "clarification")


@pytest.mark.parametrize(
    "query", ['"-e x"', "`--files /etc`", '"a\0b c"', '"a \ud800 b"', '".*  ."']
)
def test_text_that_looks_like_an_option_or_a_pattern_is_searched_literally(
    tmp_path: Path, grep: str, query: str
) -> None:
    with open_with_sessions(tmp_path, build(f"fatal {CODE}")) as memory:
        assert ask(memory, query).hits == ()


def test_a_fallback_respects_the_layers_and_the_limit(tmp_path: Path) -> None:
    with open_with_sessions(
        tmp_path, build(*[f"fatal {CODE}"]), talk(2, "2026-09-19", "Hi.", "Ho.")
    ) as memory:
        assert ask(memory, f"what was {CODE}?", layers=(Layer.SUMMARIES,)).abstained
        assert ask(memory, f"zymurgy {CODE} yesterday", layers=(Layer.RULES,)).abstained
        assert len(ask(memory, "zymurgy yesterday").hits) == 2
        assert len(ask(memory, "zymurgy yesterday", limit=1).hits) == 1


def test_a_fallback_does_not_search_transcripts_of_another_bank(tmp_path: Path, grep: str) -> None:
    script = build(f"fatal {CODE}")
    other = talk(9, "2026-09-19", "Feed the llamas.", "They ate.", cwd="/home/dev/farm")
    with open_with_sessions(tmp_path, script, other) as memory:
        assert memory.recall(f"what was {CODE}?", "farm").abstained
        assert memory.recall(f"what was {CODE}?", "all").hits


@pytest.mark.parametrize("left_out", [{"exclude_tools": ("Bash",)}, {"exclude_paths": ("*.env",)}])
def test_excluded_text_is_not_found_by_the_fallback(
    tmp_path: Path, left_out: dict[str, tuple[str, ...]]
) -> None:
    build(f"fatal {CODE}").write(tmp_path / "p")
    settings = Settings(tmp_path / "home", tmp_path, **left_out)  # type: ignore[arg-type]
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        found = memory.recall(f"what was {CODE}?", "shop")
        assert found.abstained and found.fallbacks == ("clarification",)
