from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.graph import LinkKind
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.links.record_links import Links
from holdfast.recall.query.query import CauseDirection, cause_direction
from tests.support.recall_bank import open_home, talk
from tests.support.transcripts import Script

# Each session speaks of one link of the chain; the last word of it is in no other.
CHAIN = (
    (
        "2026-03-01",
        "The nightly sync keeps going wrong, please find out.",
        "TokenCache went stale because the CronRunner clock on host nine was five minutes slow.",
    ),
    (
        "2026-03-05",
        "People land on the login page again and again.",
        "SessionGuard sends everybody back because TokenCache hands out old values.",
    ),
    (
        "2026-03-09",
        "Please move AuthProvider to the root layout.",
        "AuthProvider was moved to the root layout because SessionGuard needs it earlier.",
    ),
    ("2026-03-11", "Paint the footer green.", "The footer is green now."),
    ("2026-03-12", "Sort the list of invoices.", "The invoices are sorted by day."),
)


def chained(folder: Path, *more: tuple[str, str, str]) -> Holdfast:
    scripts: list[Script] = [talk(n, *said) for n, said in enumerate((*CHAIN, *more), start=1)]
    for script in scripts:
        script.write(folder / "p")
    memory = open_home(folder)
    memory.ingest(memory.ingestion.find([folder / "p"]))
    memory.ingestion.update()
    return memory


@pytest.mark.parametrize(
    ("question", "way"),
    [
        ("Why was AuthProvider moved?", CauseDirection.TO_CAUSES),
        ("what caused the outage", CauseDirection.TO_CAUSES),
        ("What is the root cause of the loop?", CauseDirection.TO_CAUSES),
        ("what did CronRunner lead to?", CauseDirection.TO_EFFECTS),
        ("what broke because of TokenCache?", CauseDirection.TO_EFFECTS),
        ("where is AuthProvider?", None),
        ("show the invoices", None),
    ],
)
def test_the_direction_of_a_cause_question_is_recognised(
    question: str, way: CauseDirection | None
) -> None:
    assert cause_direction(question) is way


@pytest.mark.slow
def test_a_question_for_a_cause_finds_records_that_share_no_word_with_it(
    tmp_path: Path,
) -> None:
    with chained(tmp_path) as memory:
        plan = RecallPlan(budget=Budget.HIGH)
        found = memory.search.recall_with_plan("Why was AuthProvider moved?", "shop", plan)
        texts = {hit.why["caused_by"]: hit.text for hit in found.hits if "caused_by" in hit.why}
        assert sorted(texts) == [0, 1, 2], found.strategies
        assert "SessionGuard sends everybody back" in texts[1]
        assert "host nine" in texts[2]
        assert any(
            retriever.name == "causal" and retriever.found == 2 for retriever in found.strategies
        )
        low = memory.search.recall_with_plan(
            "Why was AuthProvider moved?", "shop", RecallPlan(budget=Budget.LOW)
        )
        assert not any("host nine" in hit.text for hit in low.hits)


@pytest.mark.slow
def test_an_answer_gives_the_causal_chain_with_a_citation_for_every_step(tmp_path: Path) -> None:
    with chained(tmp_path) as memory:
        answer = memory.ask("Why was AuthProvider moved?", "shop")
        lines = answer.answer.splitlines()
        assert "AuthProvider was moved" in lines[0] and lines[0].endswith("[1]")
        assert "because: SessionGuard sends everybody back" in lines[1]
        assert "because: TokenCache went stale" in lines[2] and lines[2].endswith("[3]")
        assert len({citation.uri for citation in answer.citations}) == 3
        assert any("No single record" in caveat for caveat in answer.caveats)


@pytest.mark.slow
def test_a_link_of_a_chain_does_not_outrank_a_record_that_answers_the_question(
    tmp_path: Path,
) -> None:
    plain_answer = (
        "2026-03-14",
        "Thanks, that explains it.",
        "For the record: AuthProvider was moved since the legal team asked for one login.",
    )
    with chained(tmp_path, plain_answer) as memory:
        plan = RecallPlan(budget=Budget.HIGH)
        found = memory.search.recall_with_plan("Why was AuthProvider moved?", "shop", plan).hits
        links = [n for n, hit in enumerate(found) if hit.why.get("caused_by", 0) > 0]
        answering = [n for n, hit in enumerate(found) if "legal team" in hit.text]
        assert links and answering and answering[0] < links[0]


@pytest.mark.slow
def test_a_question_for_effects_follows_the_links_in_the_other_direction(tmp_path: Path) -> None:
    with chained(tmp_path) as memory:
        found = memory.search.recall_with_plan(
            "What did CronRunner lead to?", "shop", RecallPlan(budget=Budget.HIGH)
        )
        texts = [hit.text for hit in found.hits if hit.why.get("causes", 0) > 0]
        assert any("SessionGuard sends" in text for text in texts)
        assert any("AuthProvider was moved" in text for text in texts)


@pytest.mark.slow
def test_a_cycle_of_causes_ends(tmp_path: Path) -> None:
    round_about = (
        "2026-03-20",
        "And the clock?",
        "The CronRunner clock was slow because AuthProvider asked for the time too often.",
    )
    with chained(tmp_path, round_about) as memory:
        found = memory.search.recall_with_plan(
            "Why was AuthProvider moved?", "shop", RecallPlan(budget=Budget.HIGH, limit=30)
        )
        steps = [hit.uri for hit in found.hits if hit.why.get("caused_by", 0) > 0]
        assert len(steps) == len(set(steps)) == 3


@pytest.mark.slow
def test_a_forgotten_record_is_not_part_of_a_chain(tmp_path: Path) -> None:
    with chained(tmp_path) as memory:
        plan = RecallPlan(budget=Budget.HIGH)
        before = memory.search.recall_with_plan("Why was AuthProvider moved?", "shop", plan)
        middle = next(hit for hit in before.hits if hit.why.get("caused_by") == 1)
        memory.forget(middle.uri)
        after = memory.search.recall_with_plan("Why was AuthProvider moved?", "shop", plan)
        assert not any(hit.why.get("caused_by", 0) > 0 for hit in after.hits)
        bank = memory.context.bank_id("shop")
        assert (
            bank is not None
            and memory.reader.graph.record(bank, "exchange", middle.uri[-16:]) is None
        )
        memory.restore(middle.uri)
        again = memory.search.recall_with_plan("Why was AuthProvider moved?", "shop", plan)
        assert [h.uri for h in again.hits] == [h.uri for h in before.hits]


@pytest.mark.slow
def test_a_cause_link_has_a_matching_link_in_the_other_direction(tmp_path: Path) -> None:
    with chained(tmp_path) as memory:
        bank = memory.context.bank_id("shop")
        assert bank is not None
        reader = memory.reader
        links = Links(reader, bank)
        known = reader.graph.entity(bank, memory.browse.entity("SessionGuard", "shop").id)
        assert known is not None
        nodes = [bond.node for bond in reader.graph.mentions_of(bank, known.number, 10)]
        pairs: set[tuple[int, int]] = set()
        for place in reader.graph.records(bank, nodes):
            pairs |= {(place.node, e.other.node) for e in links.of(place, LinkKind.CAUSED_BY)}
        assert len(pairs) >= 1
        for effect, cause in pairs:
            (at,) = reader.graph.records(bank, [cause])
            assert effect in [e.other.node for e in links.of(at, LinkKind.CAUSES)]
