"""What is read of the sentences of a statement is what is read of the statement itself."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.records import Role
from holdfast.refine.distil.features import (
    CUES,
    Cue,
    content_words,
    describe,
    find_candidates,
    hashed_words,
    sentences_of,
)
from holdfast.refine.distil.selector import scale
from holdfast.refine.distil.utterances import Place, Utterance
from tests.refine.distil.test_distil import said, statement

MESSAGES = (
    "Fixed `read.py`. It turns out that the wrapper reads twice, due to `retry()`. Done!",
    "**Summary**\n\n- Added the key. Don't drop it. We will keep 3 of them, e.g. in `sums.py`.\n"
    "- Let's follow up later: not yet tested. Ünïcode… is “kept.” And then?\n",
    "The issue. Is it. I. Will they? Now. I need. To go! “So that.” Let. Me see. n't. Not. Yet.",
    "Rules:\n\n- Never log a key.\n- Keep it `a. b` c. And `x.y` d.\n",
)


def utterances(*texts: str, is_person: bool = False) -> list[Utterance]:
    role = Role.USER if is_person else Role.ASSISTANT
    place = Place.PROMPT if is_person else Place.CLOSING
    return [Utterance(said(role, text), text, place, is_person) for text in texts]


@pytest.mark.parametrize("is_person", [True, False])
def test_a_statement_is_described_like_its_sentences(is_person: bool) -> None:
    messages = utterances(*MESSAGES, is_person=is_person)
    candidates = find_candidates(messages)
    whole = [(one.statement.text,) for one in candidates]
    sentences = sentences_of(messages, candidates)
    assert any(len(own) > 1 for own in sentences)
    assert describe(messages, candidates).tolist() == describe(messages, candidates, whole).tolist()
    for (_, one), own in zip(candidates, sentences, strict=True):
        assert hashed_words(one, is_person, own) == hashed_words(one, is_person)


def test_a_list_of_rules_is_its_own_sentence() -> None:
    messages = utterances(MESSAGES[-1], is_person=True)
    candidates = find_candidates(messages)
    sentences = sentences_of(messages, candidates)
    assert sentences[-1] == (candidates[-1].statement.text,)
    assert candidates[-1].statement.text == "Never log a key; Keep it `a. b` c. And `x.y` d"


PARTS = (
    "because", "root cause", "caused by", "turn out", "turns out", "turned", "due to", "the",
    "issue", "bug", "is", "was", "fix", "fixed", "prefix", "do not", "don't", "donut", "make sure",
    "from now on", "decide", "decided", "go with", "let's", "lets", "letters", "we'll", "we will",
    "well", "rather than", "instead", "instead of", "follow-up", "followup", "follow", "next",
    "next step", "next steps", "not yet", "out of scope", "I'll", "I will", "let me", "I'm going",
    "now I", "I need to", "going to", "n't", "isn't", "cannot", "no", "_no_", "README", "Test",
    "CI", "city", "keep", "keeps", ".", ",", "`", "1", "—",
)  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=9), st.sampled_from((" ", "", "-")))
def test_hints_of_a_cue_leave_nothing_out(parts: list[str], between: str) -> None:
    text = between.join(parts)
    low = text.lower()
    words = frozenset(re.findall(r"\w+", low))
    for cue in CUES:
        assert cue.is_in(low, words) is (_plain_pattern(cue).search(text) is not None), cue.words


def _plain_pattern(cue: Cue) -> re.Pattern[str]:
    phrases = f"|{cue.phrases.pattern}" if cue.phrases.pattern else ""
    return re.compile(rf"\b(?:{'|'.join(cue.words)})\b{phrases}", re.IGNORECASE)


def test_long_texts_have_the_same_words_as_short_ones() -> None:
    text = "The wrapper reads every row of the ledger twice. "
    assert content_words(text) == content_words(text * 200)


def test_what_was_rare_in_training_does_not_decide_alone() -> None:
    numbers = np.zeros((1, 3), np.float32)
    weights = {"mean": np.full(3, -1e6, np.float32), "spread": np.full(3, 0.1, np.float32)}
    assert np.abs(scale(weights, numbers)).max() < 10


def test_hashed_words_have_length_one_and_tell_people_from_agents() -> None:
    one = statement("The tenant is part of every key.")
    by_person, by_agent = hashed_words(one, True), hashed_words(one, False)
    assert by_person != by_agent
    assert sum(v * v for v in by_person.values()) == pytest.approx(1.0)
