from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.language import stem, words
from holdfast.model.query import Passage
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.plan import Budget
from holdfast.recall.core.relevance import (
    READ,
    Wanted,
    answers,
    combine,
    coverage,
    measure_relevance,
    proximity,
    weigh_terms,
    worth_showing,
)
from holdfast.recall.core.tuning import DEFAULT_THRESHOLDS
from tests.support.recall_bank import BUDGETS, make_shop, open_with_sessions, talk

WEIGHT = st.dictionaries(st.sampled_from(["cach", "retri", "row", "importer"]), st.floats(0.1, 9))
TEXT = st.lists(st.sampled_from("caching retries rows importer the of 日本".split())).map(" ".join)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with make_shop(tmp_path_factory.mktemp("shop")) as memory:
        yield memory


@pytest.mark.slow
@given(WEIGHT, TEXT, TEXT)
def test_more_text_never_lowers_coverage(weight: dict[str, float], text: str, more: str) -> None:
    alone, both = coverage(weight, text), coverage(weight, f"{text} {more}")
    assert 0 <= alone <= both <= 1 + 1e-9
    assert coverage(weight, f"{more} {text}") == pytest.approx(both)


@pytest.mark.slow
@given(WEIGHT, TEXT, TEXT)
def test_proximity_is_between_zero_and_one_and_grows_with_matches(
    weight: dict[str, float], text: str, more: str
) -> None:
    alone, both = proximity(weight, text), proximity(weight, f"{text} {more}")
    assert 0 <= alone <= both + 1e-9 <= 1 + 2e-9


def test_adjacent_words_are_closer_than_scattered_ones() -> None:
    weight = {stem("caching"): 2.0, stem("importer"): 1.0}
    together = proximity(weight, "the caching importer is slow")
    apart = proximity(weight, "the caching of rows in the importer is slow")
    scattered = proximity(weight, f"caching {'and so on ' * 9} importer")
    assert together > apart > scattered == 0.0
    assert proximity(weight, "caching caching caching") == 0.0
    assert proximity({}, "caching") == proximity(weight, "") == 0.0


@pytest.mark.slow
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1), st.floats(0.01, 1))
def test_more_word_or_semantic_matches_never_lower_relevance(
    a: float, b: float, c: float, d: float
) -> None:
    covered, cosine = sorted((a, b)), sorted((c, d))
    assert combine(covered[0], cosine[0]) <= combine(covered[1], cosine[1]) <= 1
    assert combine(covered[0], 0.0) == covered[0]


def test_rare_words_weigh_more_and_unknown_ones_most(shop: Holdfast) -> None:
    weight = weigh_terms(
        shop.reader, shop.context.bank_id("shop"), ["cookies", "maria", "zymurgy"]
    ).by_word
    assert weight["cookies"] < weight["maria"] < weight["zymurgy"]


def test_preceding_context_raises_coverage_and_is_counted_separately() -> None:
    passage = Passage("b", "turn", "1", "s", "", "It is seven days.", context="cookies alive?")
    candidate = Candidate(passage)
    measure_relevance(
        candidate, Wanted({stem("cookies"): 1.0, stem("days"): 1.0}, DEFAULT_THRESHOLDS)
    )
    assert (candidate.coverage_alone, candidate.coverage) == (0.5, 1.0)
    assert answers(candidate.notes)
    assert worth_showing(candidate.notes, DEFAULT_THRESHOLDS)


def measured(text: str, cosine: float, names: str = "", passages: int = 5000) -> Candidate:
    candidate = Candidate(Passage("b", "turn", "1", "s", "", text))
    candidate.cosine = cosine
    weights = {stem("drop"): 1.0, stem("kafka"): 1.0}
    thresholds = DEFAULT_THRESHOLDS.for_bank(passages)
    measure_relevance(candidate, Wanted(weights, thresholds, frozenset(map(stem, names.split()))))
    return candidate


def test_a_small_bank_needs_less_relevance_than_a_large_one() -> None:
    needed = [measured("", 0.4, passages=n).notes["needed"] for n in (1, 100, 200, 300, 400, 9000)]
    assert needed == sorted(needed) and needed[0] == needed[1] < needed[2] < needed[3] < needed[4]
    assert needed[-1] == needed[-2] == DEFAULT_THRESHOLDS.with_meaning
    assert answers(measured("", 0.45, passages=50).notes)
    assert not answers(measured("", 0.45, passages=5000).notes)


def test_a_text_without_the_name_that_is_asked_for_needs_more() -> None:
    text = "We drop RabbitMQ."
    named, unnamed = measured(text, 0.4, "kafka"), measured(text, 0.4)
    assert answers(unnamed.notes) and not answers(named.notes)
    assert answers(measured("We drop Kafka.", 0.4, "kafka").notes)


def test_a_text_that_the_shipped_reranker_read_and_scored_high_needs_less() -> None:
    needed = DEFAULT_THRESHOLDS.with_meaning
    for score, less in ((5.0, DEFAULT_THRESHOLDS.when_read), (1.0, 0.0), (-5.0, 0.0)):
        candidate = Candidate(Passage("b", "turn", "1", "s", "", "We let it go."))
        candidate.cosine, candidate.notes = 0.55, {READ: score}
        measure_relevance(candidate, Wanted({stem("drop"): 1.0}, DEFAULT_THRESHOLDS))
        assert candidate.notes["needed"] == pytest.approx(needed - less)
        assert answers(candidate.notes) is bool(less)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    "query",
    [
        "kubernetes ingress certificates for cookies",
        "who won the football championship of 1974?",
        "quantum chromodynamics lattice of the theme park",
    ],
)
def test_an_unrelated_question_is_not_answered(shop: Holdfast, query: str, budget: Budget) -> None:
    found = shop.recall(query, "shop", budget=budget)
    assert found.abstained and all(hit.weak for hit in found.hits)
    if budget is Budget.MID or "cookies" in query:
        assert found.hits
    assert found.fallbacks == (() if budget is Budget.LOW else ("raw_grep", "clarification"))


def test_suggestions_come_from_words_of_this_bank_only(shop: Holdfast) -> None:
    ours = shop.recall("zymurgy", "shop").suggestions
    theirs = shop.recall("zymurgy", "farm").suggestions
    said = {word for turn in turns_of(shop, "shop") for word in words(turn)}
    assert ours and set(ours) <= said
    assert "llamas" not in ours and set(theirs) == {"llamas", "shear", "feed"}
    assert shop.recall("lamas", "shop").suggestions == ours


@pytest.mark.slow
def test_suggestions_leave_out_what_was_corrected_and_words_that_frame(tmp_path: Path) -> None:
    said = "From now on we always deploy with fluxor, we decided."
    scripts = [talk(day, f"2026-09-{day:02}", said, "Noted.") for day in (1, 2)]
    with open_with_sessions(tmp_path, *scripts) as memory:
        before = memory.recall("zymurgy", "shop").suggestions
        assert "fluxor" in before and "deploy" in before
        assert not {"always", "decided"} & {*before}
        (fact,) = memory.browse.facts("shop")
        memory.correct(f"fact/{fact.id}", said.replace("fluxor", "argonaut"), who="ada")
        assert "fluxor" not in memory.recall("zymurgy", "shop").suggestions
        assert memory.recall("fluxxor", "shop").suggestions[0] == "fluxor"


def turns_of(memory: Holdfast, bank: str) -> list[str]:
    id = memory.context.bank_id(bank) or ""
    sessions = memory.reader.sessions.latest(id, 100)
    return [t.text for session in sessions for t in memory.reader.turns.of_session(id, session.id)]


@pytest.mark.parametrize(
    ("query", "meant"),
    [("solarzed", "solarized"), ("invioce", "invoice"), ("about llammas", "llamas")],
)
def test_a_misspelled_word_gets_a_suggestion(shop: Holdfast, query: str, meant: str) -> None:
    found = shop.recall(query, "farm" if meant == "llamas" else "shop")
    assert found.abstained and found.suggestions[0] == meant


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("gradient", "GradientLast() is blue"),
        ("移行", "データベースの移行は金曜日"),
        ("миграц…", "две миграции"),
        (stem("migracion"), "la migración terminó"),
        (stem("acces"), "un jeton d'accès"),
        ("acc…", "un jeton d'accès"),
        ("redi", "Redisのセッション"),
    ],
)
def test_a_text_covers_a_term_in_whatever_form_it_has_it(key: str, text: str) -> None:
    assert coverage({key: 2.0, "other": 1.0}, text) == pytest.approx(2 / 3)


@pytest.mark.parametrize("text", ["gradients", "GradientsLast"])
def test_a_part_of_a_name_counts_as_the_word_alone_does(text: str) -> None:
    assert coverage({"gradient": 1.0}, text) == 1.0


def test_parts_of_one_name_stand_together() -> None:
    weights = {"gradient": 1.0, "last": 1.0}
    apart = proximity(weights, "gradient and so on until the very last")
    assert proximity(weights, "GradientLast") > apart > 0


def test_pieces_that_stand_together_are_closer_than_those_apart() -> None:
    weights = {"数据": 1.0, "迁移": 1.0}
    assert proximity(weights, "数据迁移") > proximity(weights, "数据在很久以前的某天迁移")
