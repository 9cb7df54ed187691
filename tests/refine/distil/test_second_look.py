"""The second look at the best statements of a session, by vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import best_statements, distil
from holdfast.refine.distil.features import Numbers, find_candidates
from holdfast.refine.distil.second_look import (
    LIMITS_BY_VECTORS,
    PREFIX,
    SECOND_LOOK,
    describe_again,
    look_again,
)
from holdfast.refine.distil.selector import Scored, packaged_selector
from holdfast.refine.distil.utterances import Utterance, find_utterances
from holdfast.refine.distil.wording import Context

NAMES = (
    "crane ledger harbour lock quay buoy pilot tug ferry gauge tide mast anchor winch rope chart"
)


# Of the vectors that the packaged model gives.
DIMENSIONS = 384


class CountingEmbedder:
    """Gives each text the direction of its first known name, and notes the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Numbers:
        self.texts += texts
        names = NAMES.split()
        rows = np.full((len(texts), DIMENSIONS), 0.01, np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[next((n for n, name in enumerate(names) if name in text.lower()), 0)] = 1
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def session_of(statements: int) -> list[Turn]:
    """A session in which an agent says so many different things about the harbour."""
    texts = ["Find out why the reports of the harbour office are wrong and fix the cause."]
    names = NAMES.split()
    for n in range(statements):
        first, second = names[n % len(names)], names[(n * 7 + 3) % len(names)]
        texts.append(
            f"The {first} table number {n} was wrong because the {second} importer {n} loaded "
            f"column_{n}_{first} twice."
        )
    return [
        Turn(
            "bank", f"t{n}", "s", n, "2026-05-01T10:00:00Z", Role.ASSISTANT if n else Role.USER,
            Trust.ASSISTANT if n else Trust.USER, text,
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip


def scored_of(turns: Sequence[Turn]) -> tuple[list[Scored], list[Utterance]]:
    utterances = find_utterances(turns)
    scored = packaged_selector().score(utterances, find_candidates(utterances))
    return best_statements(scored, utterances), utterances


@pytest.mark.parametrize(("statements", "embedded"), [(8, 0), (40, 40), (90, SECOND_LOOK.best)])
def test_only_the_best_statements_of_a_session_with_many_get_a_vector(
    statements: int, embedded: int
) -> None:
    embedder = CountingEmbedder()
    found = distil(session_of(statements), Context(), packaged_selector(), embed=embedder.embed)
    assert found
    assert len(embedder.texts) == pytest.approx(embedded, abs=1)
    assert len(found) <= LIMITS_BY_VECTORS.most


def test_without_an_embedder_the_words_choose_as_they_do_in_a_short_session() -> None:
    turns = session_of(8)
    by_words = distil(turns, Context(), packaged_selector())
    assert distil(turns, Context(), packaged_selector(), embed=CountingEmbedder().embed) == by_words


@pytest.mark.slow
def test_a_second_look_gives_the_same_statements_every_time() -> None:
    turns = session_of(50)
    first, again = (
        distil(turns, Context(), packaged_selector(), embed=CountingEmbedder().embed)
        for _ in range(2)
    )
    assert first == again != distil(turns, Context(), packaged_selector())


def test_what_several_statements_say_is_nearer_than_what_one_says() -> None:
    names = NAMES.split()
    texts = ["Why is the crane slow?", *(f"The crane number {n} is slow today." for n in range(5))]
    texts.append(f"The {names[5]} of the harbour was painted in red colours.")
    turns = [
        Turn("bank", f"t{n}", "s", n, "", Role.ASSISTANT if n else Role.USER, Trust.USER, text)
        for n, text in enumerate(texts)
    ]
    utterances = find_utterances(turns)
    candidates = [c for c in find_candidates(utterances) if c.utterance]
    scored = [Scored(candidate, 0.0, Kind.FACT, (1.0, 2.0)) for candidate in candidates]
    numbers = describe_again(scored, utterances, CountingEmbedder().embed)
    assert numbers[:, :2].tolist() == [[1.0, 2.0]] * len(scored)
    centre, mean = numbers[:, 2], numbers[:, 4]
    assert centre[-1] < centre[:-1].min() and mean[-1] < mean[:-1].min()


def test_what_vectors_say_is_added_to_the_score() -> None:
    best, utterances = scored_of(session_of(40))
    width = describe_again(best, utterances, CountingEmbedder().embed).shape[1]
    weights = {
        "near_mean": np.zeros(width, np.float32),
        "near_spread": np.ones(width, np.float32),
        "near_hidden": np.zeros((width, 1), np.float32),
        "near_hidden_bias": np.zeros(1, np.float32),
        "near_out": np.zeros(1, np.float32),
        "near_out_bias": np.full((), 0.25, np.float32),
    }
    again = look_again(weights, best, utterances, CountingEmbedder().embed)
    assert [one.score for one in again] == pytest.approx([one.score + 0.25 for one in best])
    assert [one.candidate for one in again] == [one.candidate for one in best]


def test_the_weights_fit_the_numbers_of_the_second_look() -> None:
    best, utterances = scored_of(session_of(40))
    numbers = describe_again(best, utterances, CountingEmbedder().embed)
    weights = packaged_selector().weights
    assert weights[f"{PREFIX}mean"].shape == weights[f"{PREFIX}spread"].shape == numbers.shape[1:]
    assert weights[f"{PREFIX}hidden"].shape[0] == numbers.shape[1]
