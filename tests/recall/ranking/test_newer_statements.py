"""Of two statements on one subject the later comes first, though nothing links them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Hit
from holdfast.model.trust import Status
from tests.support.refine_banks import open_filled_at_once, session_on
from tests.support.transcripts import Script

EARLIER_DAY, LATER_DAY = "2026-03-01", "2026-05-01"
Turns = Sequence[tuple[str, str]]
PHONES: Turns = (
    ("user", "store phone numbers the way people type them"),
    ("assistant", "Phone numbers are stored as typed."),
)


def session(day: str, number: int, turns: Turns) -> Script:
    script = session_on(day, number)
    for speaker, text in turns:
        script.user(text) if speaker == "user" else script.assistant(text)
    return script


def open_pair(home: Path, earlier: Turns, later: Turns) -> Holdfast:
    scripts = session(EARLIER_DAY, 1, earlier), session(LATER_DAY, 2, later)
    return open_filled_at_once(home, *scripts)


def recalled(home: Path, question: str, earlier: Turns, later: Turns) -> tuple[Hit, ...]:
    with open_pair(home, earlier, later) as memory:
        return memory.recall(question).hits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "earlier", "later"),
    [
        (
            "How do we store phone numbers?",
            PHONES,
            (
                ("user", "phone numbers must be normalised to E.164 before they are stored"),
                ("assistant", "Phone numbers are normalised to E.164."),
            ),
        ),
        (
            "What about product images?",
            (
                ("user", "product images are jpeg, nothing fancy"),
                ("assistant", "Product images are stored as JPEG."),
            ),
            (
                ("user", "webp for product images, every browser can read that by now"),
                ("assistant", "Converted."),
            ),
        ),
    ],
    ids=["in other words", "in fewer words"],
)
def test_a_later_statement_that_is_about_as_relevant_comes_first_and_marks_nothing(
    tmp_path: Path, question: str, earlier: Turns, later: Turns
) -> None:
    hits = recalled(tmp_path, question, earlier, later)
    assert hits[0].time.startswith(LATER_DAY) and "newer" in hits[0].why
    assert {hit.time[:10] for hit in hits} == {EARLIER_DAY, LATER_DAY}
    assert not [hit for hit in hits if hit.status is not Status.OBSERVED or hit.superseded_by]


@pytest.mark.parametrize(
    "later",
    [
        (
            ("user", "are phone numbers stored the way people type them in the archive?"),
            ("assistant", "Yes, phone numbers are stored as typed there."),
        ),
        (
            ("user", "store the phone numbers of this import without blanks, just this once"),
            ("assistant", "The phone numbers of the import are stored without blanks."),
        ),
        (
            ("user", "the form is hard to read, give it more room"),
            ("assistant", "Let me see how phone numbers are stored and typed first."),
            ("assistant", "The form has more room."),
        ),
    ],
    ids=["a question", "an exception for once", "an agent on its way"],
)
def test_what_states_nothing_does_not_come_before_an_earlier_statement(
    tmp_path: Path, later: Turns
) -> None:
    hits = recalled(tmp_path, "How do we store phone numbers that people type?", PHONES, later)
    assert hits[0].time.startswith(EARLIER_DAY)
    assert not [hit for hit in hits if "newer" in hit.why]


def test_a_later_statement_about_another_thing_does_not_come_first(tmp_path: Path) -> None:
    hits = recalled(
        tmp_path,
        "How often are exchange rates refreshed?",
        (("user", "exchange rates are refreshed every hour"), ("assistant", "OK.")),
        (("user", "shipping rates are refreshed every day"), ("assistant", "OK.")),
    )
    assert hits[0].time.startswith(EARLIER_DAY)
    assert LATER_DAY in {hit.time[:10] for hit in hits}
    assert not [hit for hit in hits if "newer" in hit.why]


@pytest.mark.slow
def test_what_a_person_asked_to_remember_stays_above_what_is_said_later(tmp_path: Path) -> None:
    later = (
        ("user", "phone numbers must be normalised to E.164 before they are stored"),
        ("assistant", "Phone numbers are normalised to E.164."),
    )
    with open_pair(tmp_path, PHONES, later) as memory:
        memory.remember("Phone numbers are stored with their country code.", "proj")
        first = memory.recall("How do we store phone numbers?").hits[0]
        assert first.kind == "memory" and "country code" in first.text
