from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Layer, Passage, RecallResult
from holdfast.model.trust import Status
from holdfast.recall import engine
from holdfast.recall.core.candidates import Candidate, ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.core.plan import Budget, Fusion, RecallPlan
from holdfast.recall.core.tuning import AbstentionThresholds, RankingWeights
from holdfast.recall.ranking.boosts import break_ties
from holdfast.settings import Settings
from holdfast.store.protocol import Reader
from holdfast.store.sqlite.store import SqliteStore
from tests.support.recall_bank import BUDGETS, NOW, make_shop, open_home, open_with_sessions, talk

QUERIES = (
    "session cookies",
    "parseHTTPRequest",
    "which PR waits for Maria?",
    "canine illness",
    "what did I do yesterday?",
    "what was I working on?",
    "the colour picker before the release",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with make_shop(tmp_path_factory.mktemp("shop")) as memory:
        yield memory


@pytest.mark.parametrize("query", ["parse_http_request", "mailer queue", "canine illness"])
def test_ranks_can_be_fused_instead_of_scores(shop: Holdfast, query: str) -> None:
    by_scores = shop.search.recall_with_plan(query, "shop", RecallPlan(fusion=Fusion.SCORES))
    by_places = shop.search.recall_with_plan(query, "shop", RecallPlan(fusion=Fusion.RRF))
    assert by_places.hits[0].time[:10] == by_scores.hits[0].time[:10]
    assert [h.score for h in by_places.hits] != [h.score for h in by_scores.hits]
    assert all(0 <= hit.score <= 1 for hit in by_places.hits)


@pytest.mark.parametrize("budget", BUDGETS)
def test_questions_about_me_and_you_prefer_the_speaker_they_mean(
    shop: Holdfast, budget: Budget
) -> None:
    plan = [Layer.TRANSCRIPTS]
    mine = shop.recall("which editor theme do I like?", "shop", plan, budget=budget)
    yours = shop.recall("which editor theme did you recommend?", "shop", plan, budget=budget)
    assert "Solarized" in mine.hits[0].text
    assert "Gruvbox" in yours.hits[0].text
    factors = {
        hit.text.split()[0]: hit.why.get("speaker", 1.0) for hit in mine.hits if not hit.weak
    }
    assert factors.get("I", 0.7) < factors["The"] == 1.0


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_later_of_two_decisions_ranks_above_the_one_it_amends(
    shop: Holdfast, budget: Budget
) -> None:
    plan = RecallPlan((Layer.TRANSCRIPTS,), budget=budget, include_repeats=True)
    hits = shop.search.recall_with_plan(
        "how many days are session cookies kept alive", "shop", plan
    ).hits
    deciding = [hit.time[:10] for hit in hits if "decided" in hit.text]
    assert deciding == ["2026-09-05", "2026-08-20"]


def candidate(id: str, score: float, body: str, **more: str) -> Candidate:
    passage = Passage("b", "turn", id, f"s{id}", f"2026-01-0{id}T00:00:00.000Z", body)
    return Candidate(passage._replace(**more), score=score)  # type: ignore[arg-type]


EARLIER = "We decided to keep cookies for thirty days in the browser."
LATER = "We decided to keep cookies for seven days in the browser."


def test_a_later_decision_is_raised_to_the_one_it_amends_and_says_so() -> None:
    later, earlier = candidate("2", 0.9, LATER), candidate("1", 1.0, EARLIER)
    assert break_ties([earlier, later]) == [later, earlier]
    assert later.score == earlier.score and later.notes["amends"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "other",
    [
        candidate("2", 0.5, LATER),
        candidate("2", 0.9, LATER, session="s1"),
        candidate("2", 0.9, "We decided to paint every wall of the office green."),
        candidate("2", 0.9, "The browser keeps cookies for seven days."),
        candidate("2", 0.9, LATER, time=""),
    ],
    ids=["much worse", "same session", "other matter", "no decision", "no time"],
)
def test_a_record_that_amends_nothing_keeps_its_rank(other: Candidate) -> None:
    earlier = candidate("1", 1.0, EARLIER)
    assert break_ties([earlier, other]) == [earlier, other]
    assert "amends" not in other.notes


def test_authority_only_breaks_ties() -> None:
    def ranking(rule_score: float) -> list[str]:
        said = candidate("1", 0.80, "A plain remark.")
        fact = candidate("2", 0.80, "A verified remark.")
        fact.passage = fact.passage._replace(status=Status.VERIFIED)
        rule = candidate("3", rule_score, "A rule.", kind="rule")
        return [c.passage.id for c in break_ties([said, fact, rule])]

    assert ranking(0.80) == ["3", "2", "1"]
    assert ranking(0.70) == ["2", "1", "3"]


def test_a_plan_can_vary_the_abstention_threshold(shop: Holdfast) -> None:
    query, plan = "session zymurgy quasar", RecallPlan(budget=Budget.LOW)
    lower = plan._replace(thresholds=AbstentionThresholds(by_words=0.05))
    assert shop.search.recall_with_plan(query, "shop", plan).abstained
    assert shop.search.recall_with_plan(query, "shop", lower).hits


@pytest.mark.model
@pytest.mark.parametrize("name", ["plugin wiki", "remote acme"])
def test_the_threshold_of_a_plan_applies_to_plugins_and_team_servers(
    tmp_path: Path, name: str
) -> None:
    text = Passage("", "provided", "wiki/1", "", "", "A session was held.")

    def answer(reader: Reader) -> RetrieverResult:
        return RetrieverResult([ScoredPassage(text, 0.9)])

    def hits(thresholds: AbstentionThresholds) -> int:
        plan = RecallPlan(budget=Budget.LOW, thresholds=thresholds)
        with closing(SqliteStore(tmp_path / "memory.db")) as store:
            asked = [Retriever(name, answer, is_external=True)]
            found = engine.recall(store, None, "session zymurgy", plan, lambda: NOW, external=asked)
        return len(found.hits)

    # The text has half of the query's weight.
    assert hits(AbstentionThresholds(by_words=0.4, shown_fraction=1.0)) == 1
    assert hits(AbstentionThresholds(by_words=0.6, shown_fraction=1.0)) == 0


def test_a_plan_can_vary_the_ranking_weights(shop: Holdfast) -> None:
    query, plan = "which editor theme do I like?", RecallPlan(budget=Budget.LOW)
    even = plan._replace(weights=RankingWeights(other_role=1.0))
    one, other = (shop.search.rank(query, "shop", p).candidates for p in (plan, even))
    assert any(c.notes.get("speaker") == 0.7 for c in one)
    assert not any(c.notes.get("speaker") == 0.7 for c in other)


def test_a_repeated_question_is_answered_from_the_cache(shop: Holdfast) -> None:
    bank, plan = shop.context.bank_id("shop"), RecallPlan()
    first = remembered(shop, bank, "session cookies", plan)
    assert remembered(shop, bank, "session cookies", plan) is first
    assert remembered(shop, bank, "session cookies", plan._replace(limit=3)) is not first
    assert remembered(shop, shop.context.bank_id("farm"), "session cookies", plan) is not first


def remembered(memory: Holdfast, bank: str | None, query: str, plan: RecallPlan) -> RecallResult:
    return memory.search.recall_in_bank(bank, query, plan)


def test_a_result_with_a_missing_retriever_is_not_cached(tmp_path: Path) -> None:
    make_shop(tmp_path).close()
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path, embed_model="/nonexistent")
    with Holdfast(settings, now=lambda: NOW) as memory:
        first = remembered(memory, None, "session cookies", RecallPlan())
        assert first.hits and any(retriever.problem for retriever in first.strategies)
        assert remembered(memory, None, "session cookies", RecallPlan()) is not first


@pytest.mark.model
def test_any_write_invalidates_the_cache(tmp_path: Path) -> None:
    with open_with_sessions(
        tmp_path, talk(1, "2026-09-01", "Paint it blue.", "It is blue.")
    ) as memory:
        first = remembered(memory, None, "blue paint", RecallPlan())
        talk(2, "2026-09-02", "Which blue paint?", "Cobalt blue paint.").write(tmp_path / "p")
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        second = remembered(memory, None, "blue paint", RecallPlan())
        assert second is not first and any("Cobalt" in hit.text for hit in second.hits)
        with open_home(tmp_path) as other:
            talk(3, "2026-09-03", "No, navy blue paint.", "Navy it is.").write(tmp_path / "p")
            other.ingest(other.ingestion.find([tmp_path / "p"]))
        third = remembered(memory, None, "blue paint", RecallPlan())
        assert third is not second and any("navy" in hit.text for hit in third.hits)
        memory.ingestion.embed()
        assert remembered(memory, None, "blue paint", RecallPlan()) is not third


@pytest.mark.slow
def test_a_relative_time_is_not_cached_across_days(tmp_path: Path) -> None:
    open_with_sessions(tmp_path, talk(1, "2026-09-19", "Paint it blue.", "It is blue.")).close()
    clock = [NOW]
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    with Holdfast(settings, now=lambda: clock[0]) as memory:
        assert memory.recall("what did I do yesterday?", "all", budget=Budget.LOW).hits
        clock[0] = "2026-09-21T12:00:00.000Z"
        assert not memory.recall("what did I do yesterday?", "all", budget=Budget.LOW).hits


AWKWARD = (
    "🙂", "🙂🔥", "数据库为什么慢？", "لماذا فشل النشر؟", "почему упал импорт?",
    '"; DROP TABLE passage; --', "' OR 1=1 --", "NEAR(a b)", "NEAR(a b, 5)", "a AND", "OR", "NOT",
    "*", "^x", "x*", "body:x", "{body context}: x", '"unclosed', "`unclosed", "((a)", "a\0b", "\0",
    '"cookies \0 session"', '"cookies \ud800 session"', "src/\ud800.py", "-", "--", "%_\\",
    "yesterday", "before", "since since since", "9" * 400, "a_" * 3000,
)  # fmt: skip


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("query", AWKWARD)
def test_awkward_queries_are_answered_or_declined(
    shop: Holdfast, query: str, budget: Budget
) -> None:
    found = shop.recall(query, "shop", budget=budget)
    assert found.query == query and found.abstained is all(hit.weak for hit in found.hits)
    assert all(0 <= hit.score <= 1 for hit in found.hits)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("piece", ["session cookies ", "x", "a.b/c_d ", "日本 ", '"', "🙂"])
def test_a_query_of_one_megabyte_is_answered(shop: Holdfast, piece: str, budget: Budget) -> None:
    query = piece * (1_000_000 // len(piece.encode()))
    found = shop.recall(query, "shop", budget=budget)
    assert found.query == query and found.abstained is all(hit.weak for hit in found.hits)
    assert piece != "session cookies " or found.hits


def test_recall_changes_nothing(shop: Holdfast) -> None:
    before = shop.inventory.counts("all")
    for query in AWKWARD:
        shop.recall(query, "all", budget=Budget.LOW)
    assert shop.inventory.counts("all") == before and before.turns > 20


def answers(folder: Path) -> list[tuple[str, float]]:
    """What a fresh memory says to all questions, at both budgets, under both fusions."""
    with open_home(folder) as memory:
        return [
            (hit.uri, hit.score)
            for query in QUERIES
            for budget in BUDGETS
            for fusion in Fusion
            for hit in memory.search.recall_with_plan(
                query, "shop", RecallPlan(budget=budget, fusion=fusion)
            ).hits
        ]


def test_recall_is_the_same_after_derived_data_is_rebuilt(tmp_path: Path) -> None:
    make_shop(tmp_path).close()
    before = answers(tmp_path)
    assert len(before) > 50
    with open_home(tmp_path) as memory:
        assert memory.ingestion.rebuild() > 10
    shutil.rmtree(tmp_path / "home" / "vectors", ignore_errors=True)
    assert answers(tmp_path) == before
    store = SqliteStore(tmp_path / "home" / "memory.db")
    with store.transaction():
        assert store.vectors.prune("no model at all") > 0
    assert store.vectors.models() == []
    store.close()
    assert answers(tmp_path) != before
    with open_home(tmp_path) as memory:
        assert memory.ingestion.embed() == 0
    assert answers(tmp_path) == before
