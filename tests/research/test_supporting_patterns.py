"""Notes on the patterns that rest on what an answer cites."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Pattern
from holdfast.model.query import Citation, Layer
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.research.answering.supporting_patterns import pattern_notes
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import bug_hunt

pytestmark = pytest.mark.slow

ABOUT = "Rule 0 and rule 1 and rule 2."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Holdfast]:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(with_empty_memory(settings)) as opened:
        opened.ingest(opened.ingestion.find([bug_hunt().write(tmp_path / "p")]))
        yield opened


def cite(memory: Holdfast) -> tuple[str, str, Citation]:
    """A bank, the URI of a turn in it, and a citation of the exchange of that turn."""
    (session,) = memory.reader.sessions.latest(None)
    exchange = memory.reader.sessions.exchanges(session.bank, session.id)[0]
    turn = memory.reader.turns.of_session(session.bank, session.id)[0]
    citation = Citation(1, uri("exchange", exchange.id), Layer.OBSERVATIONS, "", "")
    return session.bank, uri("turn", turn.id), citation


def put(memory: Holdfast, bank: str, evidence: str, *occurrences: int) -> None:
    """Patterns that were stated so many times, the first the most certain."""
    patterns = [
        Pattern(
            bank, f"p{n}", f"Rule {n}.", "", 0.9 - n / 10, times, Trust.USER, evidence=(evidence,)
        )
        for n, times in enumerate(occurrences)
    ]
    with memory.store.transaction():
        memory.store.rules.put_patterns(bank, patterns)


def test_the_two_most_certain_patterns_are_named(memory: Holdfast) -> None:
    bank, turn, citation = cite(memory)
    put(memory, bank, turn, 2, 5, 9)
    for asked in (bank, None):
        first, second = pattern_notes(memory.reader, asked, [citation], ABOUT)
        assert "“Rule 0.”" in first and "stated 2 times:" in first
        assert "“Rule 1.”" in second and "stated 5 times:" in second


def test_a_statement_made_once_is_not_yet_a_pattern(memory: Holdfast) -> None:
    bank, turn, citation = cite(memory)
    put(memory, bank, turn, 1)
    assert pattern_notes(memory.reader, bank, [citation], ABOUT) == []
    put(memory, bank, turn, 2)
    assert len(pattern_notes(memory.reader, bank, [citation], ABOUT)) == 1


def test_a_pattern_with_other_evidence_is_not_named(memory: Holdfast) -> None:
    bank, turn, citation = cite(memory)
    put(memory, bank, "holdfast://turn/0000000000000000", 4)
    assert pattern_notes(memory.reader, bank, [citation], ABOUT) == []
    put(memory, bank, turn, 4)
    itself = citation._replace(uri=turn)
    assert len(pattern_notes(memory.reader, bank, [itself], ABOUT)) == 1


def test_a_pattern_about_something_else_is_not_named(memory: Holdfast) -> None:
    bank, turn, citation = cite(memory)
    put(memory, bank, turn, 3)
    assert pattern_notes(memory.reader, bank, [citation], "How are doubled rows found?") == []


def test_a_pattern_that_only_the_answer_speaks_of_is_not_named(memory: Holdfast) -> None:
    bank, turn, citation = cite(memory)
    put(memory, bank, turn, 3)
    question = "How are doubled rows found?"
    assert pattern_notes(memory.reader, bank, [citation], question, "By rule 0.") == []
    assert len(pattern_notes(memory.reader, bank, [citation], f"{question} By rule 0?")) == 1
