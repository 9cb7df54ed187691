"""A prompt in other words than the memory is told the decision as it finally stood, whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.recaps import unrelated_prompts

from holdfast.app.memory import Holdfast
from holdfast.recall.retrievers.recaps import LIMITS, RecapSearch
from holdfast.settings import Settings
from tests.support.harbour import harbour_matters, harbour_memory
from tests.support.transcripts import Script

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


@pytest.mark.model
@pytest.mark.parametrize(
    ("before", "after", "amid_work"), [(0, 0, False), (0, 8, True), (14, 0, True)]
)
def test_a_recap_in_a_session_about_much_else_counts_as_said_amid_work(
    tmp_path: Path, before: int, after: int, amid_work: bool
) -> None:
    start = datetime(2026, 5, 4, 9, tzinfo=UTC)
    script = Script("00000009-0000-4000-8000-000000000003", "/home/dev/harbour", start=start)
    conversation = harbour_matters()["length-units"].conversations[0]
    for number in range(before):
        script.user(f"Rename list {number} of the berths, please")
        script.assistant(f"Renamed list {number}.")
    for speaker, text in conversation.turns:
        script.user(text) if speaker == "user" else script.assistant(text)
    for number in range(after):
        script.user(f"Now remove column {number} of the piers")
        script.assistant(f"Removed column {number}.")
    script.write(tmp_path / "p")
    settings = Settings(tmp_path / "home", tmp_path / "claude", bank="harbour")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        search = RecapSearch(memory.reader, memory.context.bank_id() or "")
        search.find("feet and metres", lambda _: (1.0, 9), [], None)
        assert [match.amid_work for match in search.all] == [amid_work]
