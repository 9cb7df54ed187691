from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.inference import packaged
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.query import Layer, Passage
from holdfast.recall.core.candidates import passage_key
from holdfast.recall.core.parallel import RetrieverResult
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.recall.retrievers.vector_matrix import MAX_UNWRITTEN
from holdfast.refine.sessions.embedding import embed_pending, split_text
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, NOON, OTHER, SESSION, a_session
from tests.support.embedders import BagOfWords
from tests.support.empty_memory import put_empty_memory

SPOKEN = {
    BANK: {
        "anchor": "raise the anchor at dawn",
        "buoy": "paint the buoy red",
        "tide": "the tide table was off by one hour",
    },
    OTHER: {"lamp": "the lamp of the lighthouse needs a new lens", "same": "paint the buoy red"},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))) as opened:
        for bank, said in SPOKEN.items():
            with opened.transaction():
                opened.banks.add(Bank(bank, bank, NOON))
                opened.sessions.add(a_session(bank))
                opened.derived.put(bank, SESSION, [passage(id, t, bank) for id, t in said.items()])
        yield opened


def passage(id: str, body: str, bank: str = BANK) -> Passage:
    return Passage(bank, "digest", id, SESSION, NOON, body, hash=content_id(body))


def semantics(tmp_path: Path, embedder: BagOfWords | None) -> ModelSemanticSearch:
    return ModelSemanticSearch(
        tmp_path / "home" / "vectors", SemanticModels(embedder, None, None, None)
    )


@pytest.fixture(scope="module")
def words() -> ModelSemanticSearch:
    """The shipped vectors of pieces."""
    tokenizer = open_tokenizer(packaged.TOKENIZER)
    parts = SemanticModels(None, tokenizer, TokenVectors(packaged.EMBEDDER), None)
    return ModelSemanticSearch(Path("nowhere"), parts)


def names(found: RetrieverResult) -> list[str]:
    return [find.passage.id for find in found.passages]


def test_texts_are_compared_with_a_query(tmp_path: Path) -> None:
    bag = BagOfWords()
    found = semantics(tmp_path, bag).cosines("paint the buoy", ["paint the buoy", "a lamp"])
    assert found[0] == pytest.approx(1.0) and found[1] < 0.9
    assert semantics(tmp_path, bag).cosines("paint the buoy", []) == []
    assert semantics(tmp_path, None).cosines("paint the buoy", ["a lamp"]) == []


def test_the_nearest_passages_come_first_with_their_cosines(
    store: SqliteStore, tmp_path: Path
) -> None:
    embedder = BagOfWords(dimension=256)
    embed_pending(store, embedder)
    query = "paint the buoy"
    found = semantics(tmp_path, embedder).nearest(store, BANK, query, 10)
    rows = embedder.embed([query, *(find.passage.body for find in found.passages)])
    scores = [find.score for find in found.passages]
    assert names(found)[0] == "buoy" and set(names(found)) == set(SPOKEN[BANK])
    assert scores == sorted(scores, reverse=True)
    assert np.allclose(scores, rows[1:] @ rows[0], atol=1e-5)
    assert found.lowest_score == pytest.approx(scores[-1], abs=1e-5)
    assert len(semantics(tmp_path, embedder).nearest(store, BANK, query, 2).passages) == 2


def test_without_a_bank_all_banks_are_searched(store: SqliteStore, tmp_path: Path) -> None:
    embedder = BagOfWords(dimension=256)
    embed_pending(store, embedder)
    meaning = semantics(tmp_path, embedder)
    everywhere = meaning.nearest(store, None, "paint the buoy red", 10)
    assert {find.passage.bank for find in everywhere.passages[:2]} == {BANK, OTHER}
    assert sorted(names(everywhere)) == ["anchor", "buoy", "lamp", "same", "tide"]
    lowest = [
        meaning.nearest(store, b, "paint the buoy red", 10).lowest_score for b in (BANK, OTHER)
    ]
    assert everywhere.lowest_score == pytest.approx(min(lowest))
    for bank in (BANK, OTHER):
        own = meaning.nearest(store, bank, "paint the buoy red", 10)
        assert {find.passage.bank for find in own.passages} == {bank}
    assert meaning.nearest(store, "no such bank", "paint", 10) == RetrieverResult([], 0.0)


def test_a_long_passage_ranks_by_its_best_part(store: SqliteStore, tmp_path: Path) -> None:
    lines = [f"Line {n} of a report on nothing in particular." for n in range(60)]
    long = "\n".join([*lines[:40], "zebra " * 200, *lines[40:]])
    with store.transaction():
        store.derived.put(BANK, SESSION, [passage("long", long), passage("z", "zebra and gnu")])
    embedder = BagOfWords(dimension=256)
    embed_pending(store, embedder)
    meaning = semantics(tmp_path, embedder)
    found = meaning.nearest(store, BANK, "zebra", 10)
    assert names(found) == ["long", "z"]
    rows = embedder.embed(["zebra", *split_text(long)])
    best = float((rows[1:] @ rows[0]).max())
    assert found.passages[0].score == pytest.approx(best, abs=1e-5)
    alike = meaning.similarities(store, "zebra", [passage("long", long)])
    assert alike == {(BANK, "digest", "long"): pytest.approx(best, abs=1e-5)}


def test_similarities_are_the_cosines_of_what_is_stored(store: SqliteStore, tmp_path: Path) -> None:
    embedder = BagOfWords(dimension=256)
    embed_pending(store, embedder)
    asked = [passage(id, body, bank) for bank, said in SPOKEN.items() for id, body in said.items()]
    unknown = [passage("new", "never embedded"), passage("tool", "none")._replace(hash="")]
    query = "the red lamp"
    found = semantics(tmp_path, embedder).similarities(store, query, [*asked, *unknown])
    rows = embedder.embed([query, *(p.body for p in asked)])
    wanted = dict(zip(map(passage_key, asked), map(float, rows[1:] @ rows[0]), strict=True))
    assert found == pytest.approx(wanted, abs=1e-5)
    assert semantics(tmp_path, embedder).similarities(store, query, []) == {}


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38, 5.0])
def test_an_invalid_vector_is_ignored(store: SqliteStore, tmp_path: Path, value: float) -> None:
    embedder = BagOfWords(dimension=64)
    torn, short, whole = (passage(id, f"{id} buoy") for id in ("torn", "short", "whole"))
    data = np.full(64, value, np.float32).tobytes()
    with store.transaction():
        store.vectors.put(BANK, embedder.name, [(torn.hash, 0, data), (short.hash, 0, data[:-4])])
        store.derived.put(BANK, SESSION, [torn, short, whole])
    embed_pending(store, embedder)
    meaning = semantics(tmp_path, embedder)
    asked = meaning.similarities(store, "buoy", [torn, short, whole])
    assert list(asked) == [passage_key(whole)]
    assert names(meaning.nearest(store, BANK, "buoy", 10)) == ["whole"]


def test_many_turns_do_not_crowd_out_the_requested_layer(
    store: SqliteStore, tmp_path: Path
) -> None:
    turns = [passage(f"t{n}", f"buoy red {n}")._replace(kind="turn") for n in range(60)]
    wanted = [passage("near", "paint the buoy"), passage("far", "raise the anchor")]
    with store.transaction():
        store.derived.put(BANK, SESSION, [*turns, *wanted])
    embedder = BagOfWords(dimension=256)
    embed_pending(store, embedder)
    meaning = semantics(tmp_path, embedder)
    everything = meaning.nearest(store, BANK, "buoy red", 20)
    assert {find.passage.kind for find in everything.passages} == {"turn"}
    summed_up = meaning.nearest(store, BANK, "buoy red", 20, [Layer.SUMMARIES])
    assert names(summed_up) == ["near", "far"] and summed_up.lowest_score == everything.lowest_score
    spoken = meaning.nearest(store, BANK, "buoy red", 20, [Layer.TRANSCRIPTS])
    assert names(spoken) == names(everything)
    assert meaning.nearest(store, BANK, "buoy red", 20, [Layer.TEAM]).passages == []


def test_without_an_embedder_nothing_is_found(store: SqliteStore, tmp_path: Path) -> None:
    embed_pending(store, BagOfWords())
    meaning = semantics(tmp_path, None)
    assert meaning.nearest(store, None, "buoy", 10) == RetrieverResult(())
    assert meaning.similarities(store, "buoy", [passage("x", "buoy")]) == {}
    assert meaning.soft_coverage({"buoy": 1.0}, [("buoy",), ("",)]) == [0.0, 0.0]
    assert not meaning.reranks("buoy", thoroughly=True)
    assert meaning.rerank("buoy", ["buoy"], 0.0, 9) is None


def test_a_repeated_query_is_embedded_once(store: SqliteStore, tmp_path: Path) -> None:
    embedder = BagOfWords()
    embed_pending(store, embedder)
    embedder.asked.clear()
    meaning = semantics(tmp_path, embedder)
    for query in ("buoy", "anchor", "buoy"):
        meaning.nearest(store, None, query, 5)
        meaning.similarities(store, query, [passage("x", "paint the buoy red")])
    assert embedder.asked == ["buoy", "anchor"]
    for n in range(100):
        meaning.nearest(store, BANK, f"question {n}", 1)
    assert names(meaning.nearest(store, BANK, "paint the buoy red", 1)) == ["buoy"]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [3, MAX_UNWRITTEN - 500])
def test_deleted_passages_are_not_found(store: SqliteStore, tmp_path: Path, kept: int) -> None:
    said = [passage(f"p{n}", f"word{n} buoy") for n in range(MAX_UNWRITTEN + 100)]
    with store.transaction():
        store.derived.put(BANK, SESSION, said)
    embedder = BagOfWords(dimension=64)
    embed_pending(store, embedder)
    meaning = semantics(tmp_path, embedder)
    assert len(meaning.nearest(store, BANK, "buoy", 5000).passages) == len(said)
    with store.transaction():
        store.derived.put(BANK, SESSION, [*said[:kept], said[-1]])
    wanted = {p.id for p in (*said[:kept], said[-1])}
    assert set(names(meaning.nearest(store, BANK, "buoy", 5000))) == wanted
    with store.transaction():
        store.vectors.prune(embedder.name)
    for asked in (meaning, semantics(tmp_path, embedder)):
        assert set(names(asked.nearest(store, BANK, "buoy", 5000))) == wanted


def test_identical_words_match_completely(words: ModelSemanticSearch) -> None:
    weight = {"retry": 2.0, "wrapper": 1.0, "parsehttprequest": 0.5}
    texts = ["the retry wrapper calls parsehttprequest", "retry", "zebra crossing", ""]
    whole, part, strange, nothing = words.soft_coverage(weight, [(text,) for text in texts])
    assert whole == pytest.approx(1.0, abs=1e-5)
    assert 1 > part > strange >= nothing >= 0


def test_a_text_given_in_parts_is_matched_as_one_text(words: ModelSemanticSearch) -> None:
    weight = {"retry": 2.0, "wrapper": 1.0}
    apart, one = words.soft_coverage(weight, [("the retry", "wrapper"), ("the retry wrapper",)])
    assert apart == one == pytest.approx(1.0, abs=1e-5)


def test_a_text_is_read_up_to_a_limit_however_it_is_given(words: ModelSemanticSearch) -> None:
    weight = {"retry": 2.0, "wrapper": 1.0}
    short, long = "the retry", "zebra " * 399
    whole = words.soft_coverage(weight, [(f"{short} {long} wrapper",)])
    apart = words.soft_coverage(weight, [(short, f"{long} wrapper"), (short, "wrapper"), ("", "")])
    assert apart[:1] == pytest.approx(whole, abs=1e-6)
    # The last word of the long text comes after the limit.
    assert apart[0] < apart[1] == pytest.approx(1.0, abs=1e-5)
    assert apart[2] < apart[0]


def test_a_similar_word_counts_in_part(words: ModelSemanticSearch) -> None:
    near, far = words.soft_coverage(
        {"car": 1.0}, [("the automobile vehicle",), ("the oxygen treaty",)]
    )
    assert 1 > near > far


@settings(max_examples=60)
@given(
    st.dictionaries(st.text(max_size=12), st.floats(0, 10), max_size=4),
    st.lists(st.text(max_size=60), max_size=4),
)
def test_soft_matching_stays_within_bounds(
    words: ModelSemanticSearch, weight: dict[str, float], texts: list[str]
) -> None:
    same = " ".join(weight)
    values = words.soft_coverage(weight, [(text,) for text in (*texts, same, same * 2)])
    assert len(values) == len(texts) + 2 and all(0 <= value <= 1 for value in values)
