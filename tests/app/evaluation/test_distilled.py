"""What a memory distilled of the transcripts of a set."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.evaluation.distilled import (
    Distilled,
    DistilledRecord,
    EvidenceLine,
    read_distilled,
    summarise,
)
from holdfast.app.evaluation.sets import load_set, open_home, read_set
from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.records import Digest, Outcome
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.refine.facts.fact_stage import update_facts
from holdfast.settings import load_settings
from tests.support.labelled_set import (
    BUOYS,
    CAUSE,
    IMPORT,
    RULE,
    SUBAGENT,
    TIDES,
    buoys,
    tides,
    write_labelled_set,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_labelled_set(tmp_path / "set")


@pytest.fixture
def memory(tmp_path: Path) -> Generator[Holdfast]:
    settings = load_settings({"HOLDFAST_HOME": str(tmp_path / "own"), "HOME": str(tmp_path)})
    with open_home(settings) as opened:
        yield opened


def saying(found: Distilled, session: str, text: str) -> list[DistilledRecord]:
    return [one for one in found.records if one.session == session and text in one.text]


def line_of(text: str, lines: list[dict[str, object]]) -> int:
    (number,) = [n for n, line in enumerate(lines, start=1) if text in str(line)]
    return number


def test_a_record_names_its_transcript_its_uri_and_the_line_that_states_it(
    memory: Holdfast, folder: Path
) -> None:
    load_set(memory, read_set(folder))
    found = read_distilled(memory)
    place = EvidenceLine(TIDES, line_of(CAUSE, tides().lines))
    cause = next(one for one in saying(found, TIDES, CAUSE) if one.evidence[0] == place)
    assert cause.kind is Kind.LESSON
    shown = memory.show(cause.uri).record
    assert isinstance(shown, Memory) and shown.what == cause.text
    assert len({(one.session, one.uri) for one in found.records}) == len(found.records)
    assert all(one.evidence and one.evidence[0].session == one.session for one in found.records)


def test_a_memory_of_two_sessions_is_listed_for_each_with_its_own_line_first(
    memory: Holdfast, folder: Path
) -> None:
    load_set(memory, read_set(folder))
    found = read_distilled(memory)
    shared = {
        one.uri: one.evidence
        for one in found.records
        if one.session == TIDES and {line.session for line in one.evidence} == {TIDES, BUOYS}
    }
    assert shared
    for one in found.records:
        if one.session == BUOYS and one.uri in shared:
            assert set(one.evidence) == set(shared.pop(one.uri))
            assert one.evidence[0].session == BUOYS
    assert not shared


def test_a_fact_is_listed_where_it_was_stated_unless_a_memory_says_the_same(
    memory: Holdfast, folder: Path
) -> None:
    found = memory.ingestion.find([folder / "transcripts"])
    memory.ingestion.ingest(found, then_know=False)
    update_facts(memory.store)
    of_text = {fact.content: uri("fact", fact.id) for fact in memory.reader.facts.all(None)}
    expected = [
        (TIDES, Kind.RULE, RULE, tides()),
        (BUOYS, Kind.RULE, RULE, buoys()),
    ]
    stated = read_distilled(memory)
    assert len(stated.records) == len(expected)
    for session, kind, text, script in expected:
        (record,) = saying(stated, session, text)
        assert (record.kind, record.text, record.uri) == (kind, text, of_text[text])
        assert record.evidence[0] == EvidenceLine(session, line_of(text, script.lines))
    memory.ingestion.update()
    found = read_distilled(memory)
    for session, kind, text in (
        *(one[:3] for one in expected),
        (TIDES, Kind.LESSON, CAUSE),
    ):
        (record,) = saying(found, session, text)
        assert record.kind is kind and record.uri.startswith(uri("memory", ""))


def test_what_was_corrected_is_no_longer_listed(memory: Holdfast, folder: Path) -> None:
    load_set(memory, read_set(folder))
    assert saying(read_distilled(memory), TIDES, RULE)
    (fact,) = [one for one in memory.reader.facts.all(None) if one.content == RULE]
    now = "Every time in the harbour code must be in the time zone of the reader."
    memory.correct(uri("fact", fact.id), now)
    found = read_distilled(memory)
    assert not saying(found, TIDES, RULE)
    assert [one.kind for one in saying(found, TIDES, now)] == [Kind.RULE]


def test_conversations_are_left_out(memory: Holdfast, folder: Path) -> None:
    path = folder / "conversations" / "boats.jsonl"
    path.parent.mkdir()
    path.write_text('{"session": "s", "id": "a1", "text": "We must always paint hulls blue."}\n')
    load_set(memory, read_set(folder))
    found = read_distilled(memory, [path])
    assert "boats" not in {one.session for one in (*found.sessions, *found.records)}
    assert {one.session for one in found.sessions} == {TIDES, BUOYS, IMPORT, SUBAGENT}


def test_a_summary_has_what_was_wanted_and_what_was_done_first() -> None:
    digest = Digest(
        "b", "d", "s", "", "", "Paint — Paint the hull (and 2 more requests)", Outcome.DONE,
        Trust.USER, completed=("Paint the hull: It is blue now. It dries.", "Dry it: It is dry."),
    )  # fmt: skip
    assert summarise(digest) == "Paint — Paint the hull. It is blue now."
    assert summarise(replace(digest, completed=())) == "Paint — Paint the hull."
