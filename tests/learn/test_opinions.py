from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.learn.bank_settings import BankChanges
from holdfast.learn.opinions import confidence_of, fade, sources_needed, trend_of
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Opinion, OpinionRevision, Trend
from holdfast.model.trust import Status, Trust
from tests.support.opinion_sessions import (
    Clock,
    ingest_and_update,
    open_dated_memory,
    opinion_on,
    session_on_day,
)


@pytest.mark.slow
def test_an_opinion_is_strengthened_contradicted_and_revised(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        clock.day = 1
        ingest_and_update(memory, session_on_day(1, "The pipeline is flaky."))
        first = opinion_on(memory, "pipeline")
        assert (first.what, first.trend) == ("pipeline is flaky", Trend.NEW)
        assert first.status is Status.HYPOTHESIS
        clock.day = 3
        ingest_and_update(
            memory, session_on_day(3, "Our pipeline is still flaky, it cost me an hour.")
        )
        second = opinion_on(memory, "pipeline")
        assert second.confidence > first.confidence
        assert (second.trend, second.status) == (Trend.STRENGTHENING, Status.OBSERVED)
        clock.day = 9
        ingest_and_update(
            memory, session_on_day(9, "Since the new runners the pipeline is really stable.")
        )
        torn = opinion_on(memory, "pipeline")
        assert torn.tension and torn.confidence < second.confidence
        assert (torn.what, torn.trend) == ("pipeline is flaky", Trend.WEAKENING)
        assert "in tension" in memory.reflect("is the pipeline flaky", store=False).answer
        clock.day = 12
        ingest_and_update(memory, session_on_day(12, "The pipeline is stable now, good."))
        revised = opinion_on(memory, "pipeline")
        assert revised.what == "pipeline is stable" and not revised.tension
        assert (len(revised.evidence_for), len(revised.evidence_against)) == (2, 2)
        notes = [belief.note for belief in memory.show(revised.id).beliefs]
        assert notes == ["formed", "strengthened", "in tension", "revised"]


def test_reflection_takes_a_later_contradiction_into_account(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "The linter is slow."),
            session_on_day(2, "The linter is slow."),
        )
        ingest_and_update(memory, session_on_day(3, "The linter is fast."))
        assert opinion_on(memory, "linter").tension
        memory.reflect("how fast is the linter")
        settled = opinion_on(memory, "linter")
        assert not settled.tension and settled.settled
        notes = [belief.note for belief in memory.show(settled.id).beliefs]
        assert notes[-1] in ("resolved", "revised")


def test_an_opinion_without_new_evidence_becomes_stale_and_fades(tmp_path: Path) -> None:
    clock = Clock()
    with open_dated_memory(tmp_path, clock) as memory:
        clock.day = 2
        ingest_and_update(memory, session_on_day(1, "The staging cluster is sluggish."))
        firm = opinion_on(memory, "staging cluster")
        clock.day = 200
        assert memory.opinions.opinions()[0].trend is Trend.STALE
        clock.day = 900
        ingest_and_update(memory, session_on_day(900, "Say hello."))
        gone = opinion_on(memory, "staging cluster")
        assert gone.confidence < firm.confidence
        assert gone.status is Status.RETRACTED and memory.opinions.opinions() == []
        assert not [h for h in memory.recall("staging cluster").hits if h.kind == "memory"]
        assert memory.show(gone.id).beliefs[-1].note == "faded"


def test_forgotten_evidence_weakens_and_then_removes_an_opinion(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "The gaffer tool is clunky."),
            session_on_day(2, "The gaffer tool is clunky."),
        )
        before = opinion_on(memory, "gaffer tool")
        memory.forget(before.evidence_for[0])
        weaker = opinion_on(memory, "gaffer tool")
        assert weaker.confidence < before.confidence and len(weaker.evidence_for) == 1
        memory.forget(weaker.evidence_for[0])
        assert memory.opinions.opinions(all=True) == []
        memory.undo(2)
        assert opinion_on(memory, "gaffer tool").evidence_for == before.evidence_for


@pytest.mark.slow
def test_purge_and_scrub_leave_no_text_of_an_opinion(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "The xebec42 service is flaky."),
            session_on_day(2, "The ketch77 is slow."),
        )
        memory.erasure.purge(opinion_on(memory, "xebec42 service").evidence_for[0])
        memory.erasure.scrub("ketch77")
        data = b"".join(
            path.read_bytes() for path in memory.settings.home.glob("memory.db*") if path.is_file()
        )
        assert b"xebec42" not in data and b"ketch77" not in data


def test_a_reflection_waits_until_all_memories_are_retained(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "The xebec is flaky."),
            session_on_day(2, "The xebec is flaky."),
        )
        before = opinion_on(memory, "xebec")
        with memory.store.transaction():
            memory.store.derived.drop_all()
        memory.banks.change(BankChanges(skepticism=5))
        after = opinion_on(memory, "xebec")
        assert after.confidence < before.confidence and after.formed == before.formed


def test_a_purged_retained_memory_leaves_no_text(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Say hello."))
        kept = memory.retain("The galleass99 is flaky", "opinion", 0.9, why="galleass99 sank")
        memory.erasure.purge(kept.id)
        data = b"".join(p.read_bytes() for p in memory.settings.home.glob("memory.db*"))
        assert b"galleass99" not in data


@pytest.mark.slow
def test_opinions_can_be_corrected_forgotten_and_restored(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory,
            session_on_day(1, "The yawl build is slow."),
            session_on_day(2, "The yawl build is slow."),
        )
        id = opinion_on(memory, "yawl build").id
        memory.correct(id, "The yawl build is slow on laptops only.")
        assert opinion_on(memory, "yawl build").what == "The yawl build is slow on laptops only."
        ingest_and_update(memory, session_on_day(3, "The yawl build is slow."))
        assert "laptops only" in opinion_on(memory, "yawl build").what
        assert memory.recall("yawl laptops").hits[0].uri.endswith(id)
        memory.forget(id)
        ingest_and_update(memory, session_on_day(4, "The yawl build is slow."))
        assert memory.opinions.opinions(all=True) == []
        memory.restore(id)
        assert len(memory.opinions.opinions()[0].evidence_for) == 4
        memory.ingestion.rebuild()
        assert "laptops only" in opinion_on(memory, "yawl build").what


def test_external_text_and_questions_give_no_opinion(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        script = session_on_day(1, "Look at that page.")
        script.tool("WebFetch", "The compiler is slow. I prefer tabs.", url="https://x.example")
        script.assistant("The page says that the compiler is slow.")
        script.user("Is the compiler slow? If the loader is slow, tell me. It is slow.")
        ingest_and_update(memory, script)
        assert memory.opinions.opinions(all=True) == []


def test_a_retained_opinion_needs_a_confidence_and_counts(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "The mizzen parser is robust."))
        alone = opinion_on(memory, "mizzen parser").confidence
        with pytest.raises(InputError):
            memory.retain("The mizzen parser is robust", Network.OPINION)
        with pytest.raises(InputError):
            memory.retain("It holds", Network.WORLD, confidence=0.4)
        kept = memory.retain("The mizzen parser is robust", "opinion", 0.9, why="a year of use")
        assert kept.confidence == 0.9
        both = opinion_on(memory, "mizzen parser")
        assert both.confidence > alone
        assert f"holdfast://memory/{kept.id}" in both.evidence_for
        shown = memory.show(kept.id).record
        assert isinstance(shown, Memory)
        assert (shown.network, shown.why) == (Network.OPINION, "a year of use")


def test_the_session_brief_contains_firm_opinions(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory, *(session_on_day(n, "The lugger suite is flaky, as ever.") for n in range(1, 4))
        )
        with Holdfast(memory.settings, create=False) as briefing:
            told = briefing.briefs.session_brief().text
        assert "Believed here" in told and "lugger suite is flaky" in told


def test_skepticism_needs_more_evidence_and_lowers_confidence() -> None:
    assert [sources_needed(n) for n in range(1, 6)] == [1, 1, 2, 2, 3]
    single = [confidence_of(1, 0, 1, n) for n in range(1, 6)]
    assert single == sorted(single, reverse=True) and single[0] - single[-1] > 0.25
    many = [confidence_of(5, 0, 5, n) for n in range(1, 6)]
    assert many[-1] > 0.8
    assert confidence_of(3, 1, 3, 3) < confidence_of(3, 0, 3, 3)


@pytest.mark.slow
def test_an_opinion_adds_no_mentions_of_entities(tmp_path: Path) -> None:
    """An opinion is no record beside the words it was made of, however often all is made anew."""
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(
            memory, *(session_on_day(n, "The CraneParser is really slow.") for n in range(3))
        )
        memory.ingestion.update()
        (bank,) = memory.reader.banks.all()
        opinion = opinion_on(memory, "CraneParser")
        before = {e.name: e.mentions for e in memory.browse.entities()}
        assert before
        memory.remember("The lamp is lit at dusk.")
        assert ("memory", opinion.id) not in memory.store.graph.node_hashes(bank.id, "")
        assert {e.name: e.mentions for e in memory.browse.entities()} == before
        memory.ingestion.rebuild()
        memory.ingestion.update()
        assert {e.name: e.mentions for e in memory.browse.entities()} == before


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
        found = memory.recall("crane parser", networks=[network], limit=50)
        kinds = {hit.kind for hit in found.hits}
        assert kinds == {"memory"}
        assert memory.search.missing_networks_hint(None, [network]) == ""
        assert memory.search.missing_networks_hint(None, []) == ""


def test_a_network_missing_in_a_bank_is_reported_with_those_it_has(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        slow = [session_on_day(n, "The crane parser is really slow.") for n in range(3)]
        rule = "From now on we always load with the crane on the east quay, never by hand."
        ingest_and_update(memory, *slow, session_on_day(3, rule))
        told = memory.search.missing_networks_hint(None, [Network.EXPERIENCE])
        assert told.endswith("no memories of network experience; of those it has: opinion, world.")
        assert memory.recall("crane parser", networks=[Network.EXPERIENCE]).hits == ()


def test_an_opinion_formed_from_old_text_does_not_fade_at_once() -> None:
    formed = "2026-11-01T00:00:00.000Z"
    opinion = Opinion(
        "b", "o", "oars", "finding", True, "oars float", "said in 2 sessions", 0.73, Trend.NEW,
        Status.OBSERVED, Trust.USER, formed, formed, "2026-01-01T00:00:00.000Z", 2, author="rules",
    )  # fmt: skip
    assert fade(opinion, "2026-11-02T00:00:00.000Z") == opinion
    assert fade(opinion, "2027-11-02T00:00:00.000Z").status is Status.RETRACTED


def test_fading_neither_refreshes_an_opinion_nor_depends_on_how_often_it_is_applied() -> None:
    formed = "2026-01-01T00:00:00.000Z"
    opinion = Opinion(
        "b", "o", "oars", "finding", True, "oars float", "said in 2 sessions", 0.9, Trend.NEW,
        Status.OBSERVED, Trust.USER, formed, formed, formed, 2, author="rules",
    )  # fmt: skip
    history = [OpinionRevision(formed, 0.9, 2, 0, "formed")]
    often = opinion
    for day in range(1, 29):
        often = fade(often, f"2026-06-{day:02}T00:00:00.000Z", history)
    assert often == fade(opinion, "2026-06-28T00:00:00.000Z", history)
    assert 0.4 < often.confidence < 0.9
    assert often.latest == formed
    assert trend_of(history, often.latest, "2026-06-29T00:00:00.000Z") is Trend.STALE


@pytest.mark.parametrize(
    "text",
    [
        "The brigantine cluster is flaky",  # judged by words that the rules know
        "Explicit error handling reads well in the brigantine code",
    ],
)
def test_an_opinion_retained_by_hand_is_listed_with_its_confidence_and_history(
    tmp_path: Path, text: str
) -> None:
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, "Say hello."))
        kept = memory.retain(text, "opinion", 0.8, why="a year of use")
        (opinion,) = memory.opinions.opinions()
        assert opinion.confidence == pytest.approx(0.8, abs=0.01)
        assert opinion.status is Status.OBSERVED and "brigantine" in opinion.what
        assert opinion.evidence_for == (f"holdfast://memory/{kept.id}",)
        memory.retain(text, "opinion", 0.95)
        (firmer,) = memory.opinions.opinions()
        assert firmer.confidence == pytest.approx(0.95, abs=0.01)
        history = memory.store.opinions.history(firmer.bank, firmer.id)
        assert [one.note for one in history] == ["formed", "strengthened"]
        for one in memory.opinions.opinions()[0].evidence_for:
            memory.forget(one)
        assert memory.opinions.opinions(all=True) == []
