from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import ModelError, StoreError
from holdfast.inference.embedder import Vectors
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer
from holdfast.recall.core.parallel import Retriever, RetrieverResult, run_retrievers
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.engine import recall
from holdfast.recall.query.query import read_query
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.recall.retrievers.text import direct, direct_and_summaries, summaries
from holdfast.store.protocol import Reader
from holdfast.store.sqlite.store import SqliteStore
from tests.support.recall_bank import BUDGETS, NOW, make_shop, open_home, open_with_sessions, talk
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with make_shop(tmp_path_factory.mktemp("shop")) as memory:
        yield memory


@pytest.fixture
def store(shop: Holdfast) -> Iterator[SqliteStore]:
    opened = SqliteStore(shop.settings.database, create=False)
    yield opened
    opened.close()


def days(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.time[:10] for hit in hits]


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("mailer queue ordering", "2026-03-10"),
        ("parseHTTPRequest", "2026-05-02"),
        ("parse_http_request", "2026-05-02"),
        ("src/ui/rest.js:42", "2026-05-02"),
        ("TypeError: cannot unpack non-iterable NoneType object", "2026-06-11"),
        ('what raised "cannot unpack non-iterable NoneType object"?', "2026-06-11"),
    ],
)
def test_words_and_names_are_found_literally(
    shop: Holdfast, query: str, day: str, budget: Budget
) -> None:
    best = shop.recall(query, "shop", budget=budget).hits[0]
    assert best.time.startswith(day)
    assert "direct_fts" in best.why


def test_a_name_finds_the_turn_with_that_exact_spelling(shop: Holdfast) -> None:
    best = shop.recall("parse_http_request", "shop", [Layer.TRANSCRIPTS], budget=Budget.LOW)
    assert "parse_http_request" in best.hits[0].text


@pytest.mark.parametrize(
    ("query", "said"),
    [("the PR", "pull request"), ("a bug", "defect"), ("an issue", "defect")],
)
def test_synonyms_are_found_by_expansion_alone(shop: Holdfast, query: str, said: str) -> None:
    widened = shop.search.rank(query, "shop", RecallPlan(budget=Budget.LOW)).candidates
    plain = shop.search.rank(
        query, "shop", RecallPlan(budget=Budget.LOW, expansion="none")
    ).candidates
    assert said in widened[0].passage.body
    assert "expanded_fts" in widened[0].ranks and "direct_fts" not in widened[0].ranks
    assert plain == []


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    """A memory in which the same is said in several words and forms."""
    said = (
        "There is a bug in the checkout.",
        "There is a defect in the refunds.",
        "The refactoring of the parser took long.",
        "Please restructure the lexer.",
        *(f"Please tidy the {name} drawer." for name in ("spoon", "fork", "knife", "plate")),
    )
    scripts = [talk(n, f"2026-03-{n:02d}", text, "Done.") for n, text in enumerate(said, start=10)]
    with open_with_sessions(tmp_path_factory.mktemp("words"), *scripts) as memory:
        yield memory


@pytest.mark.parametrize(
    ("query", "expansion", "subjects"),
    [
        ("bug", "none", ["checkout"]),
        ("bug", "minimal", ["checkout"]),
        ("bug", "full", ["checkout", "refunds"]),
        ("refactor", "none", []),
        ("refactoring", "none", ["parser"]),
        ("refactor", "minimal", ["parser"]),
        ("refactor", "full", ["parser", "lexer"]),
        ("issue", "minimal", []),
        ("issue", "full", ["checkout", "refunds"]),
        ("issue checkout", "full", ["checkout"]),
        ("issue zebra", "full", []),
    ],
)
def test_an_expansion_decides_what_is_found_and_the_given_word_comes_first(
    words: Holdfast, query: str, expansion: str, subjects: list[str]
) -> None:
    plan = RecallPlan(budget=Budget.LOW, expansion=expansion)
    texts = [hit.text for hit in words.search.recall_with_plan(query, "shop", plan).hits]
    named = [s for text in texts for s in ("checkout", "refunds", "parser", "lexer") if s in text]
    assert list(dict.fromkeys(named)) == subjects


def test_expansion_adds_to_words_that_match(shop: Holdfast) -> None:
    hits = shop.recall("which PR waits for Maria?", "shop", budget=Budget.LOW).hits
    assert hits and "pull request" in hits[0].text


def test_semantic_search_finds_passages_that_share_no_word(shop: Holdfast) -> None:
    found = shop.recall("canine illness", "shop")
    assert "My dog is sick" in found.hits[0].text
    assert {"semantic"} == {name for name in found.hits[0].why if name in _ARMS}
    assert shop.recall("canine illness", "shop", budget=Budget.LOW).abstained


_ARMS = ("direct_fts", "expanded_fts", "semantic", "summaries", "temporal", "recent")


def test_summaries_have_a_retriever_of_their_own(shop: Holdfast, store: SqliteStore) -> None:
    bank = shop.context.bank_id("shop")
    terms = read_query(store, bank, "session cookies", lambda: NOW).terms
    found = summaries(bank, terms, (), 30).run(store).passages
    kinds = {find.passage.kind for find in found}
    assert kinds == {"concept", "digest", "exchange", "memory"}
    assert summaries(bank, terms, (Layer.TRANSCRIPTS,), 30).run(store).passages == []
    assert {f.passage.kind for f in direct(bank, terms, (), 30).run(store).passages} > {"turn"}


@pytest.mark.parametrize("layers", [(), (Layer.TRANSCRIPTS,), (Layer.SUMMARIES, Layer.TEAM)])
def test_one_query_finds_what_the_retrievers_of_words_and_of_summaries_find(
    shop: Holdfast, store: SqliteStore, layers: tuple[Layer, ...]
) -> None:
    bank = shop.context.bank_id("shop")
    terms = read_query(store, bank, "session cookies", lambda: NOW).terms
    both = direct_and_summaries(bank, terms, layers, 30)
    alone = direct(bank, terms, layers, 30), summaries(bank, terms, layers, 30)
    assert [one.name for one in both] == [one.name for one in alone]
    assert [one.run(store) for one in both] == [one.run(store) for one in alone]
    assert direct_and_summaries(bank, terms, layers, 30)[1].run(store) == alone[1].run(store)


def test_retrievers_that_run_in_turn_use_one_connection_and_one_limit(store: SqliteStore) -> None:
    used: list[Reader] = []

    def find(reader: Reader) -> RetrieverResult:
        used.append(reader)
        return RetrieverResult(())

    def endless(reader: Reader) -> RetrieverResult:
        store.database.all(ENDLESS)
        return RetrieverResult(())

    finding = Retriever("find", find)
    run_retrievers(store, [finding, finding, finding], inline=3)
    assert used == [store, store, store]
    slow, late = run_retrievers(store, [Retriever("endless", endless)] * 2, 0.2, inline=2)
    assert slow.report.timed_out and late.report.timed_out
    assert store.banks.all(), "the store can be asked again"


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("what did I do yesterday?", {"2026-09-19"}),
        ("what happened last week?", {"2026-09-12"}),
        ("what did we do in March?", {"2026-03-10"}),
        ("what did we do before the release?", {"2026-08-10"}),
        ("what did we do before the last release?", {"2026-08-10"}),
        ("what happened since v2?", {"2026-09-19"}),
    ],
)
def test_a_question_about_a_time_is_answered_from_that_time(
    shop: Holdfast, query: str, wanted: set[str], budget: Budget
) -> None:
    found = shop.recall(query, "shop", budget=budget)
    released = "2026-08-15"
    assert days(found.hits)[0] in wanted
    if "release" in query:
        assert all(day < released for day in days(found.hits))
    elif "v2" in query:
        assert all(day >= released for day in days(found.hits))
    else:
        assert set(days(found.hits)) == wanted
    assert all("temporal" in hit.why for hit in found.hits[:2])


def test_a_word_from_a_commit_subject_is_not_a_time_range(
    shop: Holdfast, store: SqliteStore
) -> None:
    for query in ("what came before the colour picker?", "what happened since the library?"):
        assert (
            read_query(store, shop.context.bank_id("shop"), query, lambda: NOW).time_range is None
        ), query


def test_a_version_does_not_match_one_that_only_starts_like_it(
    shop: Holdfast, store: SqliteStore
) -> None:
    query = read_query(store, shop.context.bank_id("shop"), "what happened since v2?", lambda: NOW)
    assert query.time_range is not None and query.time_range.start == "2026-08-15T12:00:00.000Z"
    unknown = read_query(
        store, shop.context.bank_id("shop"), "what happened since v3?", lambda: NOW
    )
    assert unknown.time_range is None


def test_words_and_a_time_range_both_apply(shop: Holdfast) -> None:
    later = shop.recall("session cookies in September", "shop").hits[0]
    earlier = shop.recall("session cookies in August", "shop").hits[0]
    assert (later.time[:7], earlier.time[:7]) == ("2026-09", "2026-08")


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("avatar upload last week", "2026-09-12"),
        ("invoice totals before the release", "2026-07-15"),
        ("checkout tour since v2", "2026-09-19"),
        ("mailer queue before April", "2026-03-10"),
    ],
)
def test_records_of_a_time_range_need_not_contain_the_time_phrase(
    shop: Holdfast, query: str, day: str, budget: Budget
) -> None:
    found = shop.recall(query, "shop", budget=budget)
    assert days(found.hits)[:1] == [day] and not found.fallbacks
    assert found.hits[0].why["coverage"] == 1.0
    assert shop.recall(f"zeppelin zymurgy quux {query}", "shop", budget=Budget.LOW).abstained


@pytest.mark.slow
def test_a_time_range_finds_records_that_others_would_crowd_out(tmp_path: Path) -> None:
    many = [
        talk(n, f"2026-08-{n + 1:02}", *(f"cache eviction {n} {k}" for k in range(8)))
        for n in range(20)
    ]
    said = "The cache went cold since its eviction took what readers needed, and so all asked on."
    old = talk(50, "2026-03-10", "What do readers wait for?", said)
    with open_with_sessions(tmp_path, *many, old) as memory:
        found = memory.recall("cache eviction before April", "shop", budget=Budget.LOW)
        assert days(found.hits)[:1] == ["2026-03-10"]
        assert "temporal" in found.hits[0].why and "direct_fts" not in found.hits[0].why


def test_a_day_without_work_has_no_results(shop: Holdfast) -> None:
    for query in ("what did I do on January 3?", "what was I working on on January 3?"):
        assert shop.recall(query, "shop").abstained, query


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("query", ["what was I working on?", "what is left to do?"])
def test_a_question_where_work_stopped_returns_the_latest_digests(
    shop: Holdfast, query: str, budget: Budget
) -> None:
    hits = shop.recall(query, "shop", budget=budget).hits
    latest = [hit for hit in hits if "recent" in hit.why]
    assert hits[0] == latest[0] and latest[0].kind == "digest"
    assert days(hits)[:2] == ["2026-09-19", "2026-09-12"]
    assert [hit.why["recent"] for hit in latest[:3]] == [1, 2, 3]


@pytest.mark.parametrize("layer", [Layer.TRANSCRIPTS, Layer.OBSERVATIONS, Layer.SUMMARIES])
@pytest.mark.parametrize(
    "query",
    [
        "session cookies",
        "a bug in the totals",
        "canine illness",
        "what did I do yesterday?",
        "what was I working on?",
        "zymurgy yesterday",
    ],
)
def test_every_retriever_respects_the_requested_layer(
    shop: Holdfast, query: str, layer: Layer
) -> None:
    for budget in BUDGETS:
        found = shop.recall(query, "shop", [layer], budget=budget)
        assert {hit.layer for hit in found.hits} <= {layer}
        ranked = shop.search.rank(query, "shop", RecallPlan((layer,), budget=budget)).candidates
        assert {LAYER_BY_KIND[c.passage.kind] for c in ranked} <= {layer}


@pytest.mark.parametrize("layer", [Layer.TRANSCRIPTS, Layer.OBSERVATIONS, Layer.SUMMARIES])
def test_every_layer_answers_a_question_about_a_time(shop: Holdfast, layer: Layer) -> None:
    hits = shop.recall("what did I do yesterday?", "shop", [layer]).hits
    assert hits and set(days(hits)) == {"2026-09-19"}


def test_a_failing_retriever_is_reported_and_the_others_answer(
    shop: Holdfast, store: SqliteStore
) -> None:
    bank = shop.context.bank_id("shop")
    query = read_query(store, bank, "session cookies", lambda: NOW)

    def fail(reader: Reader) -> RetrieverResult:
        raise ModelError("The model is gone.")

    good, bad = run_retrievers(
        store, [direct(bank, query.terms, (), 30), Retriever("broken", fail)]
    )
    assert good.result.passages and not good.report.problem
    assert (bad.report.name, bad.report.problem) == ("broken", "The model is gone.")
    assert list(bad.result.passages) == []


def test_the_first_retriever_may_fail_too(shop: Holdfast, store: SqliteStore) -> None:
    bank = shop.context.bank_id("shop")
    query = read_query(store, bank, "session cookies", lambda: NOW)

    def fail(reader: Reader) -> RetrieverResult:
        raise ModelError("The model is gone.")

    bad, good = run_retrievers(
        store, [Retriever("broken", fail), direct(bank, query.terms, (), 30)]
    )
    assert bad.report.problem and good.result.passages


def test_a_slow_retriever_is_reported_and_the_others_answer(
    shop: Holdfast, store: SqliteStore
) -> None:
    bank = shop.context.bank_id("shop")
    query = read_query(store, bank, "session cookies", lambda: NOW)
    released, left = threading.Event(), threading.Event()

    def dawdle(reader: Reader) -> RetrieverResult:
        released.wait(60)
        left.set()
        return RetrieverResult(())

    found = direct(bank, query.terms, (), 30).run(store)

    def find(reader: Reader) -> RetrieverResult:
        return found

    good, slow = run_retrievers(store, [Retriever("good", find), Retriever("slow", dawdle)], 0.05)
    released.set()
    assert good.result.passages
    assert slow.report.name == "slow" and slow.report.timed_out
    assert left.wait(60)


def test_a_late_retriever_closes_its_connection_when_it_ends(store: SqliteStore) -> None:
    released = threading.Event()
    lent: list[Reader] = []

    def find(reader: Reader) -> RetrieverResult:
        return RetrieverResult(())

    def dawdle(reader: Reader) -> RetrieverResult:
        lent.append(reader)
        released.wait(60)
        return RetrieverResult(())

    def is_closed() -> bool:
        try:
            lent[0].banks.all()
        except StoreError as error:
            return "closed" in error.message
        return False

    _, slow = run_retrievers(store, [Retriever("good", find), Retriever("slow", dawdle)], 0.05)
    wait_until(lambda: bool(lent), "the slow retriever has a reader")
    assert slow.report.timed_out and not is_closed()
    released.set()
    wait_until(lambda: not _is_running("slow"), "the slow retriever has ended")
    assert is_closed()


def test_a_retriever_with_a_longer_limit_of_its_own_is_waited_for(store: SqliteStore) -> None:
    over = threading.Event()

    def find(reader: Reader) -> RetrieverResult:
        return RetrieverResult(())

    def hang(reader: Reader) -> RetrieverResult:
        over.wait(60)
        return RetrieverResult(())

    def arrive_late(reader: Reader) -> RetrieverResult:
        over.wait(0.3)
        return RetrieverResult(())

    quick, late, remote = run_retrievers(
        store,
        [
            Retriever("quick", find),
            Retriever("late", hang, is_external=True),
            Retriever("remote", arrive_late, is_external=True, timeout_s=60),
        ],
        0.05,
    )
    over.set()
    assert late.report.timed_out
    assert not quick.report.timed_out and not remote.report.timed_out


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


def test_a_search_that_does_not_end_is_interrupted(store: SqliteStore) -> None:
    begun, ended = threading.Event(), threading.Event()

    def quick(reader: Reader) -> RetrieverResult:
        begun.wait(60)
        return RetrieverResult(())

    def endless(reader: Reader) -> RetrieverResult:
        assert isinstance(reader, SqliteStore)
        begun.set()
        try:
            reader.database.all(ENDLESS)
        finally:
            ended.set()
        return RetrieverResult(())

    first, slow = run_retrievers(
        store, [Retriever("quick", quick), Retriever("endless", endless)], 0.1
    )
    assert not first.failed and slow.report.timed_out
    assert ended.wait(60)


def test_the_first_search_is_interrupted_too(store: SqliteStore) -> None:
    def endless(reader: Reader) -> RetrieverResult:
        assert isinstance(reader, SqliteStore)
        wait_until(lambda: not _is_running("quick"), "the other search has ended")
        reader.database.all(ENDLESS)
        return RetrieverResult(())

    def quick(reader: Reader) -> RetrieverResult:
        return RetrieverResult(())

    for retrievers in (
        [Retriever("endless", endless)],
        [Retriever("endless", endless), Retriever("quick", quick)],
    ):
        slow, *others = run_retrievers(store, retrievers, 0.2)
        assert slow.report.timed_out and not any(other.failed for other in others)
    assert store.banks.all(), "the store can be asked again"


def _is_running(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())


@pytest.mark.parametrize("place", [0, 1], ids=["first", "beside"])
def test_a_search_that_starts_after_the_deadline_is_interrupted(
    store: SqliteStore, place: int
) -> None:
    """An interrupt that comes while nothing is asked does not end what is asked next."""
    ended = threading.Event()

    def endless(reader: Reader) -> RetrieverResult:
        assert isinstance(reader, SqliteStore)
        threading.Event().wait(0.3)
        try:
            reader.database.all(ENDLESS)
        finally:
            ended.set()
        return RetrieverResult(())

    def quick(reader: Reader) -> RetrieverResult:
        return RetrieverResult(())

    retrievers = [Retriever("quick", quick)]
    retrievers.insert(place, Retriever("endless", endless))
    runs = run_retrievers(store, retrievers, 0.05)
    assert runs[place].report.timed_out
    assert ended.wait(60)
    assert store.banks.all(), "the store can be asked again"


class _Forgetful:
    """Has a name, and no vector for anything."""

    name = "forgetful"
    dimension = 4

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ModelError("The embedder does not answer.")


def test_recall_answers_by_words_if_the_model_fails(
    shop: Holdfast, store: SqliteStore, tmp_path: Path
) -> None:
    broken: SemanticSearch = ModelSemanticSearch(
        tmp_path, SemanticModels(_Forgetful(), None, None, None)
    )
    found = recall(
        store, shop.context.bank_id("shop"), "session cookies", RecallPlan(), lambda: NOW, broken
    )
    problems = {strategy.name: strategy.problem for strategy in found.strategies}
    assert problems["semantic"] == "The embedder does not answer."
    assert found.hits and "cookies" in found.hits[0].text


def test_an_empty_memory_has_no_results_and_says_so(tmp_path: Path) -> None:
    with open_home(tmp_path) as memory:
        for budget in BUDGETS:
            assert memory.recall("anything at all", "all", budget=budget).abstained
        ranking = memory.search.rank("what was I working on?", "all")
        assert ranking.candidates == [] and ranking.abstains


def test_the_example_of_the_documents_is_a_working_retriever(store: SqliteStore) -> None:
    page = (Path(__file__).parents[3] / "docs" / "adding-a-retriever.md").read_text("utf-8")
    scope: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], scope)
    example = scope["by_title"](None, ["mailer"], ["summaries"], 5)
    [run] = run_retrievers(store, [example])
    assert run.report.name == "by_title" and not run.failed
    assert run.result.passages
    assert {found.passage.kind for found in run.result.passages} <= {"digest", "concept"}
