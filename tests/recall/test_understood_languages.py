"""Where the embedder does not know the language of a question, words decide whether anything
answers it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from holdfast.brief.goal.goal_brief import nearest_passages
from holdfast.inference.embedder import Vectors
from holdfast.model.bank import Bank
from holdfast.model.ids import content_id
from holdfast.model.query import Passage
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.engine import recall
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.refine.sessions.embedding import embed_pending
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import BANK, NOON, SESSION, a_session
from tests.support.embedders import BagOfWords
from tests.support.empty_memory import put_empty_memory

SAID = (
    "Die Lagerbuchungen laufen asynchron über Kafka.",
    "決済のリトライは最大3回までにした。",
    "Пароли храним через argon2id.",
    "Stock movements are booked through Kafka.",
)
# On none of these the bank has anything.
UNKNOWN = (
    "Wer betreut die Übersetzung ins Japanische?",
    "¿Quién lleva la traducción al japonés?",
    "Кто занимается переводом на китайский язык?",
    "翻訳会社との契約は更新した？",
    "번역 업체는 어디로 정했어?",
    "法语版网站由谁翻译？",
)


class AllAlike(BagOfWords):
    """A model that finds all texts alike, as one does in a language that it was not trained on."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        rows[:, 0] = 1.0
        return rows


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(put_empty_memory(tmp_path / "home" / "memory.db"))) as opened:
        with opened.transaction():
            opened.banks.add(Bank(BANK, BANK, NOON))
            opened.sessions.add(a_session(BANK))
            passages = [
                Passage(BANK, "digest", f"d{n}", SESSION, NOON, text, hash=content_id(text))
                for n, text in enumerate(SAID)
            ]
            opened.derived.put(BANK, SESSION, passages)
        embed_pending(opened, AllAlike())
        yield opened


def meaning(tmp_path: Path, english_only: bool) -> ModelSemanticSearch:
    parts = SemanticModels(AllAlike(), None, None, None, english_only)
    return ModelSemanticSearch(tmp_path / "home" / "vectors", parts)


def abstains(store: SqliteStore, query: str, semantic: ModelSemanticSearch) -> bool:
    return recall(store, BANK, query, RecallPlan(), lambda: NOON, semantic).abstained


@pytest.mark.parametrize("query", UNKNOWN)
def test_likeness_to_a_model_of_english_answers_no_question_in_another_language(
    store: SqliteStore, tmp_path: Path, query: str
) -> None:
    assert abstains(store, query, meaning(tmp_path, english_only=True))
    # A model that somebody chose is trusted with every language.
    assert not abstains(store, query, meaning(tmp_path, english_only=False))


def test_likeness_to_a_model_of_english_still_answers_a_question_in_english(
    store: SqliteStore, tmp_path: Path
) -> None:
    query = "who looks after the translation into Japanese?"
    assert not abstains(store, query, meaning(tmp_path, english_only=True))


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("Warum laufen die Lagerbuchungen über Kafka?", SAID[0]),
        ("決済のリトライは最大何回まで？", SAID[1]),
        ("Через что мы храним пароли?", SAID[2]),
    ],
)
def test_words_answer_in_a_language_that_the_model_does_not_know(
    store: SqliteStore, tmp_path: Path, query: str, answer: str
) -> None:
    semantic = meaning(tmp_path, english_only=True)
    found = recall(store, BANK, query, RecallPlan(), lambda: NOON, semantic)
    assert [hit.text for hit in found.hits][:1] == [answer]


@pytest.mark.parametrize("goal", UNKNOWN)
def test_a_brief_for_a_goal_in_another_language_goes_by_words(
    store: SqliteStore, tmp_path: Path, goal: str
) -> None:
    assert not nearest_passages(store, BANK, meaning(tmp_path, english_only=True), goal)
    assert nearest_passages(store, BANK, meaning(tmp_path, english_only=False), goal)
