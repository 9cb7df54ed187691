"""What says in so many words which statement it replaces is linked to that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.trust import Status, Trust
from holdfast.refine.core.named_supersession import (
    names_any_day,
    names_day,
    names_superseded,
    supersession_sentences,
)
from tests.support.refine_banks import open_filled_at_once, session_on
from tests.support.transcripts import Script

# What was settled on 3 May, and what an agent says later.
EARLIER = "Search results are cached in Redis for an hour."
LATER = "Search results are a table in SQLite. This replaces what we agreed on May 3rd."


def talk(day: str, number: int, *texts: str) -> Script:
    script = session_on(day, number)
    for asked, replied in zip(texts[::2], texts[1::2], strict=True):
        script.user(asked)
        script.assistant(replied)
    return script


def test_what_an_agent_settled_is_superseded_by_its_day(tmp_path: Path) -> None:
    with open_filled_at_once(
        tmp_path,
        talk("2026-05-03", 1, "the search page is slow", EARLIER),
        talk("2026-05-04", 2, "log what is searched for", "Searches are logged as JSON lines."),
        talk("2026-06-09", 3, "redis was down again", LATER),
    ) as memory:
        facts = {fact.content: fact for fact in memory.browse.facts(all=True)}
        answer = memory.ask("Redis SQLite?")
    old, new = facts[EARLIER], facts[LATER]
    assert old.status is Status.SUPERSEDED and old.superseded_by == f"holdfast://fact/{new.id}"
    assert new.supersedes == (f"holdfast://fact/{old.id}",) and new.trust is Trust.ASSISTANT
    current = [line for line in answer.answer.splitlines() if "does not hold" not in line]
    assert all(EARLIER not in line for line in current), answer.answer


def test_a_person_supersedes_what_was_agreed_on_a_day(tmp_path: Path) -> None:
    with open_filled_at_once(
        tmp_path,
        talk("2026-05-03", 1, "uploads are capped at 10 MB", "Set."),
        talk("2026-05-05", 2, "downloads are capped at 10 MB", "Set."),
        talk(
            "2026-06-09",
            3,
            "uploads go up to a gigabyte. this replaces what we agreed on 3 May",
            "Raised.",
        ),
    ) as memory:
        facts = memory.browse.facts(all=True)
    ended = [fact.content for fact in facts if fact.status is Status.SUPERSEDED]
    assert ended == ["uploads are capped at 10 MB"]


def test_another_day_another_matter_and_what_a_person_denies_supersede_nothing(
    tmp_path: Path,
) -> None:
    reply = "Search results are a table in SQLite. This supersedes the decision of {}."
    with open_filled_at_once(
        tmp_path,
        talk("2026-05-03", 1, "why is search slow", "Search results are cached in Redis."),
        talk("2026-05-20", 2, "and mails?", "Newsletters go out through Postmark."),
        talk("2026-06-09", 3, "redis is down", reply.format("4 April")),
        talk("2026-06-10", 4, "redis is down", reply.format("20 May")),
        talk("2026-06-11", 5, "redis is down", reply.format("3 May"), "no, that's wrong", "Sorry."),
    ) as memory:
        facts = memory.browse.facts(all=True)
    assert [fact.content for fact in facts if fact.status is Status.SUPERSEDED] == []


@pytest.mark.parametrize(
    "text",
    ["3 May", "the 3rd of May", "May 3", "2026-05-03", "3.5.", "03.05.2026", "5/3", "3/5"],
)
def test_a_day_is_known_however_it_is_written(text: str) -> None:
    assert names_any_day(text)
    assert names_day(text, "2026-05-03T12:00:00.000Z")
    assert not names_day(text, "2026-05-13T12:00:00.000Z")
    assert not names_day(text, "2026-06-23T12:00:00.000Z")


def test_a_day_is_that_of_any_time_zone() -> None:
    assert names_day("4 May", "2026-05-03T20:00:00.000Z")
    assert not names_day("5 May", "2026-05-03T20:00:00.000Z")


@pytest.mark.parametrize(
    "text",
    [
        "Does this supersede the decision of 3 May?",
        "I replaced the mock with the real client.",
        "Use tabs instead of spaces.",
        "The rule of 3 May still holds.",
    ],
)
def test_what_replaces_no_decision_names_none(text: str) -> None:
    assert not names_superseded(text)


def test_a_sentence_that_points_back_is_told_with_the_one_before() -> None:
    text = "Tests pass. Uploads go to S3. This supersedes the decision of 3 May. Anything else?"
    assert supersession_sentences(text) == [
        "Uploads go to S3. This supersedes the decision of 3 May."
    ]
