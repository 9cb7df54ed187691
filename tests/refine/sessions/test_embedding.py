from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ModelError
from holdfast.inference.embedder import Vectors
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.query import Passage
from holdfast.refine.core.passages import EMBEDDED_FIRST
from holdfast.refine.sessions.embedding import (
    MAX_PART_CHARACTERS,
    MAX_PARTS,
    embed_pending,
    split_text,
)
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, NOON, OTHER, SESSION, a_commit, a_session
from tests.support.embedders import BagOfWords
from tests.support.empty_memory import put_empty_memory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(put_empty_memory(tmp_path / "memory.db"))) as opened:
        with opened.transaction():
            for bank in (BANK, OTHER):
                opened.banks.add(Bank(bank, bank, NOON))
                opened.sessions.add(a_session(bank))
        yield opened


def passage(id: str, body: str, kind: str = "turn", bank: str = BANK) -> Passage:
    return Passage(bank, kind, id, SESSION, NOON, body, hash=content_id(body))


def derive(store: SqliteStore, *passages: Passage, bank: str = BANK) -> None:
    with store.transaction():
        store.derived.put(bank, SESSION, passages)


def vectors_of(store: SqliteStore, model: str, body: str, bank: str = BANK) -> list[Vectors]:
    found = store.vectors.of_hashes(bank, model, [content_id(body)])
    return [np.frombuffer(v.data, np.float32) for v in sorted(found, key=lambda v: v.part)]


class FailsAfter(BagOfWords):
    """Goes on strike after some calls."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._calls = calls

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self._calls:
            raise ModelError("on strike")
        self._calls -= 1
        return super().embed(texts)


def test_every_pending_passage_gets_a_vector(store: SqliteStore) -> None:
    derive(store, *(passage(f"p{n}", f"word number {n}") for n in range(150)))
    derive(store, passage("o", "of the other bank", bank=OTHER), bank=OTHER)
    embedder = BagOfWords()
    progress: list[int] = []
    assert store.vectors.count_unembedded(embedder.name) == 151
    assert embed_pending(store, embedder, on_progress=progress.append) == 151
    assert store.vectors.count_unembedded(embedder.name) == 0
    assert progress == sorted(progress) and progress[-1] == 151
    assert store.vectors.span(BANK, embedder.name).total == 150
    assert store.vectors.span(OTHER, embedder.name).total == 1
    asked = len(embedder.asked)
    assert embed_pending(store, embedder) == 0
    assert len(embedder.asked) == asked


def test_a_passage_without_a_hash_is_not_embedded(store: SqliteStore) -> None:
    derive(store, passage("p", "a tool call")._replace(hash=""))
    embedder = BagOfWords()
    assert embed_pending(store, embedder) == 0 and embedder.asked == []


def test_embedding_stops_at_its_timeout_and_continues_later(store: SqliteStore) -> None:
    derive(store, *(passage(f"p{n}", f"word number {n}", "digest") for n in range(200)))
    embedder = BagOfWords()
    assert embed_pending(store, embedder, timeout_s=-1) == 0 and embedder.asked == []
    done = embed_pending(store, embedder, timeout_s=0)
    assert done < 200 and store.vectors.count_unembedded(embedder.name) == 200 - done
    assert embed_pending(store, embedder) == 200 - done
    assert store.vectors.count_unembedded(embedder.name) == 0
    assert max(Counter(embedder.asked).values()) == 1


def test_kinds_are_embedded_in_the_given_order(store: SqliteStore) -> None:
    commit, said = a_commit("c", "commit words")
    derive(
        store, *(passage(kind, f"{kind} words", kind) for kind in ("turn", "exchange", "digest"))
    )
    with store.transaction():
        store.git.put_commits([(commit, said._replace(hash="c"))])
    embedder = BagOfWords()
    assert embed_pending(store, embedder, EMBEDDED_FIRST) == 2
    assert embedder.asked == ["digest words", "exchange words"]
    assert (
        store.vectors.count_unembedded(embedder.name),
        store.vectors.count_unembedded(embedder.name, EMBEDDED_FIRST),
    ) == (2, 0)


@pytest.mark.parametrize("count", [2, 1000])
def test_the_same_text_is_embedded_once_per_bank(store: SqliteStore, count: int) -> None:
    derive(store, *(passage(f"p{n}", "the same words", "digest") for n in range(count)))
    fillers = [passage(f"f{n}", f"filler {n}", "digest", OTHER) for n in range(200)]
    derive(store, *fillers, passage("o", "the same words", "digest", OTHER), bank=OTHER)
    embedder = BagOfWords()
    assert embed_pending(store, embedder) == count + 201
    assert Counter(embedder.asked)["the same words"] == 2
    assert store.vectors.span(BANK, embedder.name).total == 1
    number = store.vectors.span(BANK, embedder.name).highest
    assert len(store.vectors.passages(BANK, embedder.name, [number])) == count


def test_a_short_turn_is_embedded_with_its_context(store: SqliteStore) -> None:
    derive(store, passage("p", "yes, do that")._replace(context="shall I paint the buoy"))
    embedder = BagOfWords()
    embed_pending(store, embedder)
    assert embedder.asked == ["yes, do that", "shall I paint the buoy yes, do that"]
    (vector,) = vectors_of(store, embedder.name, "yes, do that")
    assert np.allclose(vector, embedder.embed(embedder.asked[:2]).mean(axis=0))
    assert np.linalg.norm(vector) <= 1.0001


def test_a_long_text_has_a_vector_for_each_part(store: SqliteStore) -> None:
    body = "\n".join(f"Line {n} speaks of the harbour." for n in range(200))
    derive(store, passage("p", body))
    embedder = BagOfWords()
    assert embed_pending(store, embedder) == 1
    parts = split_text(body)
    assert len(parts) > 3 and embedder.asked == parts
    found = vectors_of(store, embedder.name, body)
    assert len(found) == len(parts)
    assert all(np.allclose(v, row) for v, row in zip(found, embedder.embed(parts), strict=True))


def test_a_text_without_words_is_embedded_too(store: SqliteStore) -> None:
    bodies = ["", " \n" * MAX_PART_CHARACTERS, "🦜" * 3 * MAX_PART_CHARACTERS, "\x00"]
    derive(store, *(passage(f"p{n}", body, "digest") for n, body in enumerate(bodies)))
    embedder = BagOfWords()
    assert embed_pending(store, embedder) == len(bodies)
    assert store.vectors.count_unembedded(embedder.name) == 0


def test_vectors_stay_when_the_model_fails_midway(store: SqliteStore) -> None:
    derive(store, *(passage(f"p{n}", f"word number {n}", "digest") for n in range(200)))
    first = FailsAfter(calls=2)
    with pytest.raises(ModelError):
        embed_pending(store, first)
    done = store.vectors.span(BANK, first.name).total
    assert done == len(first.asked) > 0
    assert store.vectors.count_unembedded(first.name) == 200 - done
    second = BagOfWords()
    assert embed_pending(store, second) == 200 - done
    assert not set(first.asked) & set(second.asked)


def test_a_new_model_embeds_everything_again(store: SqliteStore) -> None:
    derive(store, *(passage(f"p{n}", f"word number {n}") for n in range(20)))
    embed_pending(store, BagOfWords("old"))
    assert store.vectors.count_unembedded("new") == 20
    assert embed_pending(store, BagOfWords("new", dimension=8)) == 20
    assert store.vectors.models() == [("new", 20), ("old", 20)]


def test_changed_text_is_embedded_again(store: SqliteStore) -> None:
    derive(store, passage("p1", "stays"), passage("p2", "changes"))
    embed_pending(store, BagOfWords())
    derive(store, passage("p1", "stays"), passage("p2", "has changed"))
    embedder = BagOfWords()
    assert embed_pending(store, embedder) == 1
    assert set(embedder.asked) == {"has changed", " has changed"}


class ErasesMeanwhile(BagOfWords):
    """Another process erases the session while the model works."""

    def __init__(self, store: SqliteStore, left: Sequence[Passage]) -> None:
        super().__init__()
        self._store, self._left = store, left

    def embed(self, texts: Sequence[str]) -> Vectors:
        derive(self._store, *self._left)
        return super().embed(texts)


def test_a_text_that_is_erased_meanwhile_gets_no_vector(store: SqliteStore) -> None:
    stays = passage("p1", "stays")
    derive(store, stays, passage("p2", "a secret"), passage("p3", "a secret", "digest"))
    embedder = ErasesMeanwhile(store, [stays])
    embed_pending(store, embedder)
    assert "a secret" in embedder.asked
    assert vectors_of(store, embedder.name, "a secret") == []
    assert len(vectors_of(store, embedder.name, "stays")) == 1
    assert store.vectors.prune(embedder.name) == 0


@pytest.mark.parametrize(("count", "is_one_look"), [(100, True), (300, False)])
def test_few_waiting_passages_are_listed_by_one_look(
    store: SqliteStore, count: int, is_one_look: bool
) -> None:
    kinds = ("turn", "digest")
    own = [passage(f"{kind}{n}", f"{kind} {n}", kind) for kind in kinds for n in range(count)]
    derive(store, *own, *(passage(f"same {kind}", "both say this", kind) for kind in kinds))
    embedder, asked = BagOfWords(), list[str]()
    connection = cast(sqlite3.Connection, store.__dict__["_raw"])
    connection.set_trace_callback(asked.append)
    embed_pending(store, embedder)
    connection.set_trace_callback(None)
    looks = [sql for sql in asked if "NOT EXISTS (SELECT 1 FROM vector" in sql]
    assert (len(looks) == 1) is is_one_look
    assert store.vectors.count_unembedded(embedder.name) == 0
    assert Counter(embedder.asked)["both say this"] == 1


WORDS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "\n",
            "\n\n",
            ". ",
            "? ",
            " ",
            "x" * (MAX_PART_CHARACTERS - 1),
            "x" * MAX_PART_CHARACTERS,
            "y" * 3 * MAX_PART_CHARACTERS,
        ]
    ),
)


@pytest.mark.slow
@given(st.lists(WORDS, max_size=40).map("".join))
def test_split_parts_are_short_complete_and_never_empty(text: str) -> None:
    parts = split_text(text)
    assert 0 < len(parts) <= MAX_PARTS
    assert all(len(part) <= MAX_PART_CHARACTERS for part in parts)
    assert all(parts) or not text
    kept, whole = (re.sub(r"\s+", "", t) for t in ("".join(parts), text))
    assert whole.startswith(kept)
    assert kept == whole or len(parts) == MAX_PARTS
