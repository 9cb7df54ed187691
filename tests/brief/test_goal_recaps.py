"""A prompt in other words than the memory is told the decision as it finally stood, whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench.recaps import unrelated_prompts

from holdfast.app.memory import Holdfast
from holdfast.recall.retrievers.recaps import LIMITS, RecapSearch
from tests.support.harbour import harbour_matters, harbour_memory

# Two that a later conversation changed, one by a person, one with an exception said afterwards.
WANTED = ("quiet-hours", "turnaround-gap", "webhook-retries", "fleet-import", "length-units")


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with harbour_memory(tmp_path_factory.mktemp("harbour")) as memory:
        yield memory


@pytest.mark.model
@pytest.mark.parametrize("id", WANTED)
def test_the_brief_holds_the_whole_recap_and_nothing_that_was_rejected(
    harbour: Holdfast, id: str
) -> None:
    matter = harbour_matters()[id]
    text = harbour.briefs.goal_brief(matter.prompt).text.replace("’", "'")
    assert [words for words in matter.must if words not in text] == []
    assert [words for words in matter.must_not if words in text] == []


@pytest.mark.model
def test_a_changed_recap_is_named_and_not_quoted(harbour: Holdfast) -> None:
    matter = harbour_matters()["quiet-hours"]
    brief = harbour.briefs.goal_brief(matter.prompt)
    assert "This changes what was settled 2026-01-22: holdfast://memory/" in brief.text
    assert "07:00" not in brief.text
    assert any("/memory/" in name for name in brief.records)
    assert any("/turn/" in name for name in brief.records)


@pytest.mark.model
@pytest.mark.parametrize("quickly", [False, True])
def test_an_unrelated_prompt_gets_silence(harbour: Holdfast, quickly: bool) -> None:
    told = [p for p in unrelated_prompts() if harbour.briefs.goal_brief(p, quickly=quickly).text]
    assert told == []


@pytest.mark.model
@pytest.mark.parametrize(
    ("share", "rare_words", "is_told"),
    [
        (LIMITS.min_share, LIMITS.min_rare_words, True),
        (LIMITS.min_share, LIMITS.min_rare_words - 1, False),
        (LIMITS.min_share - 0.01, LIMITS.min_rare_words, False),
    ],
)
def test_by_words_a_recap_needs_both_many_words_and_a_large_share(
    harbour: Holdfast, share: float, rare_words: int, is_told: bool
) -> None:
    search = RecapSearch(harbour.reader, harbour.context.bank_id() or "")
    found = search.find("boats", lambda _: (share, rare_words), [], None)
    assert bool(found) is is_told


@pytest.mark.model
def test_a_forgotten_recap_is_not_told(harbour: Holdfast) -> None:
    matter = harbour_matters()["length-units"]
    bank = harbour.context.bank_id() or ""
    recap = next(
        one for one in harbour.reader.memories.recaps(bank) if "feet first" in one.memory.what
    )
    harbour.forget(f"holdfast://memory/{recap.memory.id}")
    try:
        assert "feet first" not in harbour.briefs.goal_brief(matter.prompt).text
    finally:
        harbour.restore(f"holdfast://memory/{recap.memory.id}")
