from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.trust import Status
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.engine import recall
from holdfast.recall.query.expansion import identifiers
from holdfast.recall.ranking.exact_names import put_exact_names_first
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, NOON, SESSION, a_session
from tests.support.empty_memory import put_empty_memory


def ranked(*bodies: str, ended: str = "") -> list[Candidate]:
    return [
        Candidate(
            Passage(
                "b", "turn", str(n), "s", "", body,
                status=Status.SUPERSEDED if body == ended else Status.OBSERVED,
            ),
            score=1 - n / 10,
        )
        for n, body in enumerate(bodies)
    ]  # fmt: skip


def bodies(candidates: list[Candidate]) -> list[str]:
    return [candidate.passage.body for candidate in candidates]


def test_a_record_with_the_name_comes_third_at_the_latest() -> None:
    given = ranked("a", "b", "c", "d", "see GIT_PS1 here", "GIT_PS1 again")
    found = put_exact_names_first(given, ["GIT_PS1"], names_only=False)
    assert bodies(found) == ["a", "b", "see GIT_PS1 here", "c", "d", "GIT_PS1 again"]
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)


def test_a_ranking_with_the_name_among_the_first_stays_as_it_is() -> None:
    given = ranked("a", "GIT_PS1", "c", "GIT_PS1")
    assert put_exact_names_first(given, ["GIT_PS1"], names_only=False) == given


def test_all_records_with_the_name_come_first_where_nothing_else_is_asked() -> None:
    given = ranked("a git ps1", "GIT_PS1 one", "c", "GIT_PS1 two")
    found = put_exact_names_first(given, ["GIT_PS1"], names_only=True)
    assert bodies(found) == ["GIT_PS1 one", "GIT_PS1 two", "a git ps1", "c"]


def test_a_name_is_held_as_a_whole_and_in_its_own_case_before_another() -> None:
    given = ranked("gradientLasting", "x", "y", "gradientlast", "gradientLast")
    found = put_exact_names_first(given, ["gradientLast"], names_only=True)
    assert bodies(found)[0] == "gradientLast"
    given = ranked("gradientLasting", "x", "y", "GRADIENTLAST")
    assert bodies(put_exact_names_first(given, ["gradientLast"], True))[0] == "GRADIENTLAST"


def test_what_no_longer_holds_is_not_put_first() -> None:
    given = ranked("a", "b", "c", "GIT_PS1 was", ended="GIT_PS1 was")
    assert put_exact_names_first(given, ["GIT_PS1"], names_only=True) == given


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))) as opened:
        with opened.transaction():
            opened.banks.add(Bank(BANK, BANK, NOON))
            opened.sessions.add(a_session(BANK))
        yield opened


def put(store: SqliteStore, *said: str) -> None:
    found = [Passage(BANK, "digest", f"d{n}", SESSION, NOON, body) for n, body in enumerate(said)]
    with store.transaction():
        store.derived.put(BANK, SESSION, found)


def first_texts(store: SqliteStore, query: str) -> list[str]:
    found = recall(store, BANK, query, RecallPlan(limit=3), lambda: NOON)
    return [hit.text for hit in found.hits]


def test_a_name_is_found_among_many_records_with_its_words(store: SqliteStore) -> None:
    others = [f"change the error of run {n}: why the error?" for n in range(300)]
    held = f"The level is called ERROR {'and so on ' * 30}"
    put(store, *others, held)
    assert held in first_texts(store, "Why did we change ERROR?")


def test_a_name_whose_only_word_is_in_every_record_is_found(store: SqliteStore) -> None:
    held = f"uv run --with numpy {'and with much else ' * 30}"
    put(store, held, *(f"go on with run {n}" for n in range(500)))
    for query in ("Where do we use --with?", "Why did we change --with?"):
        assert held in first_texts(store, query)


def test_a_name_is_found_wherever_it_stands_in_a_long_record(store: SqliteStore) -> None:
    held = f"{'some other line of a long log. ' * 900} ProfileData"
    put(store, "profile settings", "data of a run", "the profile of a change", held)
    for query in ("What is ProfileData?", "Why did we change ProfileData?", "ProfileData"):
        assert held in first_texts(store, query)


def test_a_name_that_is_not_known_leaves_a_search_as_it_was(store: SqliteStore) -> None:
    put(store, "profile settings", "data of a run")
    assert first_texts(store, "Where do we use ChurnBase?") == []


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What is POSH_GIT_STRING?", "POSH_GIT_STRING"),
        ("Where do we call GradientLast()?", "GradientLast"),
        ("Why does src/app/_layout.tsx fail?", "src/app/_layout.tsx"),
        ("when did we bump to v2.1.3?", "v2.1.3"),
        ("what came of PROJ-123?", "PROJ-123"),
        ("error TS2304 in the build", "TS2304"),
        ("what did 3f2a91c change", "3f2a91c"),
        ("does it take --no-verify-ssl?", "--no-verify-ssl"),
        ("what is --format?", "--format"),
        ("why US-5?", "US-5"),
        ("who reads ./src/config.ts?", "./src/config.ts"),
        ("what is EPIPE", "EPIPE"),
        ("what does `retry` do", "retry"),
    ],
)
def test_identifiers_of_a_query_are_known(query: str, name: str) -> None:
    assert name in identifiers(query)


@pytest.mark.parametrize("query", ["why did we drop the cache", "a read-only follow-up", "in 2026"])
def test_plain_words_are_no_identifiers(query: str) -> None:
    assert identifiers(query) == ()
