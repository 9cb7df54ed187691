"""An agent's own summary of its session is kept as that: it is no message, changes no exchange and
no search, and what it says is remembered as the agent's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.records import Role
from holdfast.model.trust import Trust
from tests.support.memory_dump import dump
from tests.support.sample_memory import (
    SESSION,
    exchange_about,
    memory_with_session,
    sample_session,
)
from tests.support.transcripts import Script

STATED = (
    "`load_rows()` in `src/xebec.py` lost rows because its cursor was shared by two workers; the "
    "fix gives each worker its own cursor, so it must not be passed between them."
)
SUMMARY = f"""This session is being continued from a previous conversation that ran out of context.

Analysis:
I look back at what was said.

Summary:
1. Primary Request and Intent:
   The user always wants the dinghy to be painted green.

4. Errors and fixes:
   - {STATED}

6. All user messages:
   - "Never paint the dinghy red, it must be green."

If you need specific details from before compaction, read the full transcript at: /x.jsonl
Please continue the conversation from where we left off."""


def session_with_summary(at: int, text: str = SUMMARY, external: bool = False) -> Script:
    """The sample session with a summary before the line at this place."""
    script = sample_session()
    if external:
        lines, script.lines = script.lines, []
        script.tool("WebFetch", "All about sloops.", url="https://sloops.example", prompt="cursors")
        script.lines = [*lines[:2], *script.lines, *lines[2:]]
    added = script.user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    script.lines.remove(added)
    added["timestamp"] = script.lines[min(at, len(script.lines) - 1)]["timestamp"]
    script.lines.insert(at, added)
    return script


def of_summary(memory: Holdfast) -> list[Memory]:
    (session,) = memory.reader.sessions.latest(None)
    return [m for m in memory.reader.memories.retained(session.bank) if "cursor" in m.what]


def without_places(rows: list[str]) -> list[str]:
    """Rows as they are but for the positions of turns."""
    places = ("'seq'", "'first_seq'", "'last_seq'")
    return sorted(
        ", ".join(part for part in row.split(", (") if not part.startswith(places)) for row in rows
    )


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 2, 5, 6, 100], ids=lambda at: f"before line {at}")
def test_a_summary_changes_no_exchange_and_no_search(tmp_path: Path, at: int) -> None:
    for name, script in (("without", sample_session()), ("with", session_with_summary(at))):
        with memory_with_session(tmp_path / name, script) as memory:
            counts = memory.reader.records.counts()
            assert (counts.turns, counts.exchanges) == (10, 3)
    plain, summed = (dump(tmp_path / name / "memory.db") for name in ("without", "with"))
    for table in ("exchange", "digest", "claim"):
        assert without_places(summed[table]) == without_places(plain[table])
    kept = [row for row in summed["passage"] if "cursor" not in row]
    assert without_places(kept) == without_places(plain["passage"])


def test_a_session_of_a_summary_alone_has_no_exchange(tmp_path: Path) -> None:
    script = Script(SESSION)
    script.user(SUMMARY, isCompactSummary=True)
    with memory_with_session(tmp_path, script) as memory:
        assert memory.reader.records.counts().exchanges == 0
        assert of_summary(memory) == []


def test_what_a_summary_says_is_remembered_as_the_agents_words(tmp_path: Path) -> None:
    with memory_with_session(tmp_path, session_with_summary(5)) as memory:
        (found,) = of_summary(memory)
        assert found.kind is Kind.LESSON and STATED in found.what
        assert (found.who, found.trust) == ("load_rows, src/xebec.py", Trust.ASSISTANT)
        (summary,) = memory.reader.turns.summaries(found.bank, SESSION)
        assert f"holdfast://turn/{summary.id}" in found.evidence_for
        assert summary.role is Role.SUMMARY and "I look back" not in summary.text
        assert "dinghy" not in str(memory.reader.memories.retained(found.bank))
        assert "dinghy" not in str(memory.reader.facts.all(found.bank))
        assert summary not in memory.reader.turns.of_session(found.bank, SESSION)
        assert summary not in list(memory.reader.turns.stream(found.bank, SESSION))


@pytest.mark.slow
@pytest.mark.parametrize("decide", ["forget", "correct"])
def test_a_summary_is_hidden_while_a_part_of_its_session_is(tmp_path: Path, decide: str) -> None:
    with memory_with_session(tmp_path, session_with_summary(5)) as memory:
        target = exchange_about(memory, "xebec").id
        if decide == "forget":
            memory.forget(target)
        else:
            memory.correct(target, "The loader waits for the tide table.")
        memory.ingestion.update()
        assert of_summary(memory) == []
        (session,) = memory.reader.sessions.latest(None)
        assert memory.reader.turns.summaries(session.bank, SESSION) == []
        if decide == "forget":
            memory.restore(target)
            memory.ingestion.update()
            assert len(of_summary(memory)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["turn", "exchange"])
def test_what_is_erased_is_erased_from_later_summaries_too(tmp_path: Path, kind: str) -> None:
    with memory_with_session(tmp_path, session_with_summary(5)) as memory:
        exchange = exchange_about(memory, "xebec")
        bank = exchange.bank
        (first, *_) = memory.reader.turns.of_session(bank, SESSION)
        memory.erasure.purge(f"{kind}/{exchange.id if kind == 'exchange' else first.id}")
        left = memory.store.turns.stream_uncurated(bank, SESSION)
        assert [turn for turn in left if turn.role is Role.SUMMARY] == []
        memory.ingestion.update()
        assert of_summary(memory) == []


def test_a_summary_that_may_repeat_text_from_outside_is_not_remembered(tmp_path: Path) -> None:
    with memory_with_session(tmp_path, session_with_summary(7, external=True)) as memory:
        assert of_summary(memory) == []


def test_a_summary_of_another_session_is_not_remembered(tmp_path: Path) -> None:
    with memory_with_session(tmp_path, session_with_summary(0)) as memory:
        assert of_summary(memory) == []
