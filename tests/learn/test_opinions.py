"""Opinions that people and agents state, with a confidence that changes and fades."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.learn.opinions import confidence_of, sources_needed
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Trend
from holdfast.model.trust import Status
from tests.support.opinion_sessions import (
    Clock,
    ingest_and_update,
    open_dated_memory,
    session_on_day,
)

FLAKY = "The brigantine cluster is flaky."


def test_an_opinion_retained_by_hand_is_listed_with_its_confidence_and_history(
    tmp_path: Path,
) -> None:
    with open_dated_memory(tmp_path) as memory:
        kept = memory.retain(FLAKY, "opinion", 0.8, why="a year of use")
        (opinion,) = memory.opinions.opinions()
        assert (opinion.what, opinion.why, opinion.confidence) == (FLAKY, "a year of use", 0.8)
        assert (opinion.status, opinion.trend) == (Status.OBSERVED, Trend.NEW)
        assert opinion.evidence_for == (f"holdfast://memory/{kept.id}",)
        shown = memory.show(kept.id).record
        assert isinstance(shown, Memory)
        assert (shown.network, shown.confidence) == (Network.OPINION, 0.8)


def test_who_states_an_opinion_again_changes_its_confidence(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        for confidence in (0.6, 0.9, 0.5):
            memory.retain(FLAKY, "opinion", confidence)
        (opinion,) = memory.opinions.opinions()
        assert (opinion.confidence, opinion.trend) == (0.5, Trend.WEAKENING)
        beliefs = memory.show(opinion.id).beliefs
        assert [(one.note, one.confidence) for one in beliefs] == [
            ("formed", 0.6), ("strengthened", 0.9), ("weakened", 0.5)
        ]  # fmt: skip
        changes = memory.opinions.changes()
        assert [(one.before, one.confidence) for one in changes] == [
            (0.9, 0.5), (0.6, 0.9), (None, 0.6)
        ]  # fmt: skip
        memory.forget(opinion.evidence_for[0])
        assert memory.opinions.opinions()[0].confidence == 0.9
        for name in opinion.evidence_for[1:]:
            memory.forget(name)
        assert memory.opinions.opinions(all=True) == []
        memory.undo(3)
        assert memory.opinions.opinions()[0].evidence_for == opinion.evidence_for


def test_an_opinion_without_new_evidence_becomes_stale_and_fades(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        memory.retain(FLAKY, "opinion", 0.9)
        clock.day = 130
        (stale,) = memory.opinions.opinions()
        assert stale.trend is Trend.STALE
        clock.day = 900
        ingest_and_update(memory, session_on_day(900, "Say hello."))
        assert memory.opinions.opinions() == []
        (gone,) = memory.opinions.opinions(all=True)
        assert gone.confidence < 0.4 and gone.status is Status.RETRACTED
        assert [one.confidence for one in memory.show(gone.id).beliefs] == [0.9]
        memory.retain(FLAKY, "opinion", 0.7)
        assert [one.confidence for one in memory.opinions.opinions()] == [0.7]


def test_what_sessions_say_is_no_opinion_that_anybody_stated(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, *(session_on_day(n, f"{FLAKY} I prefer tabs.") for n in (1, 2)))
        assert memory.opinions.opinions(all=True) == []


def test_an_opinion_needs_a_confidence_and_nothing_else_has_one(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        memory.retain("Say hello.", "world")
        with pytest.raises(InputError, match="needs a confidence"):
            memory.retain(FLAKY, Network.OPINION)
        with pytest.raises(InputError, match="has no confidence"):
            memory.retain("It holds", Network.WORLD, confidence=0.4)


def test_opinions_can_be_corrected_forgotten_and_restored(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        kept = memory.retain(FLAKY, "opinion", 0.8)
        memory.correct(kept.id, "The brigantine cluster is flaky at night.")
        (corrected,) = memory.opinions.opinions()
        assert "at night" in corrected.what
        memory.ingestion.rebuild()
        assert [o.what for o in memory.opinions.opinions()] == [corrected.what]
        memory.forget(corrected.id)
        memory.retain("Say hello.", "world")
        assert memory.opinions.opinions(all=True) == []
        memory.restore(corrected.id)
        assert [o.id for o in memory.opinions.opinions()] == [corrected.id]


def test_a_purged_opinion_leaves_no_text(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        kept = memory.retain("The galleass99 is flaky", "opinion", 0.9, why="galleass99 sank")
        memory.retain("The ketch77 is slow", "opinion", 0.9)
        memory.erasure.purge(kept.id)
        memory.erasure.scrub("ketch77")
        data = b"".join(p.read_bytes() for p in memory.settings.home.glob("memory.db*"))
        assert b"galleass99" not in data and b"ketch77" not in data


def test_the_session_brief_contains_firm_opinions(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Say hello."))
        memory.retain(FLAKY, "opinion", 0.95)
        memory.retain("The tide tables are doubtful.", "opinion", 0.45)
        with Holdfast(memory.settings, create=False) as briefing:
            told = briefing.briefs.session_brief().text
        assert "Believed here" in told and FLAKY in told and "tide tables" not in told


def test_skepticism_needs_more_evidence_and_lowers_confidence() -> None:
    assert [sources_needed(n) for n in range(1, 6)] == [1, 1, 2, 2, 3]
    single = [confidence_of(1, 0, 1, n) for n in range(1, 6)]
    assert single == sorted(single, reverse=True) and single[0] - single[-1] > 0.25
    many = [confidence_of(5, 0, 5, n) for n in range(1, 6)]
    assert many[-1] > 0.8
    assert confidence_of(3, 1, 3, 3) < confidence_of(3, 0, 3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("network", list(Network))
def test_searching_a_network_finds_retained_memories_and_opinions(
    network: Network, tmp_path: Path
) -> None:
    with open_dated_memory(tmp_path) as memory:
        scripts = [session_on_day(n, "The crane parser is really slow.") for n in range(3)]
        for script in scripts:
            script.user("Mend the crane parser, it fails.")
            script.tool("Bash", "KeyError: 'crane'", error=True, command="pytest tests/crane")
            script.tool(
                "Edit", "ok", file_path="/home/dev/proj/crane.py", old_string="a", new_string="b"
            )
            script.tool("Bash", "3 passed", command="pytest tests/crane")
            script.assistant("Fixed the crane parser; the root cause was a key that was missing.")
        ingest_and_update(memory, *scripts)
        memory.retain("The crane parser is slow.", "opinion", 0.8)
        found = memory.recall("crane parser", networks=[network], limit=50)
        kinds = {hit.kind for hit in found.hits}
        assert kinds == {"memory"}
