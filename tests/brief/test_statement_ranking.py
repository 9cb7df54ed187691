from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.usefulness import taken_off_for, usefulness
from holdfast.model.knowledge import Kind, Memory, Network
from holdfast.model.trust import Trust
from tests.brief.test_known_statements import FILLER, brief_of, group, retain, session
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

KNOWN = "Known from earlier sessions"
KEPT = "Each berth keeps its own queue of ships, since the harbour master moves them at night."


def memory_of(text: str, worth: float | None = 0.5, trust: Trust = Trust.ASSISTANT) -> Memory:
    return Memory("bank", "id", Network.WORLD, text, trust, kind=Kind.FACT, worth=worth)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The clock is read once, because a call costs a second.", "The clock is read by a call."),
        ("The panel reads the clock of the tower.", "The tests read the clock of the tower."),
        ("The panel reads the clock of the tower.", "I read the clock of the tower."),
    ],
)
def test_what_readers_found_useful_has_a_higher_score(more: str, less: str) -> None:
    assert usefulness(memory_of(more)) > usefulness(memory_of(less))


def test_a_person_and_a_better_score_make_a_statement_more_useful() -> None:
    one = memory_of(KEPT)
    assert usefulness(memory_of(KEPT, trust=Trust.USER)) > usefulness(one)
    assert usefulness(memory_of(KEPT, worth=2.0)) > usefulness(one)
    assert usefulness(memory_of(KEPT, worth=None)) == usefulness(memory_of(KEPT, worth=0.0))


def test_what_a_session_said_early_counts_less_up_to_a_limit() -> None:
    taken_off = [taken_off_for(turns) for turns in (-1, 0, 1, 20, 255, 9000)]
    assert taken_off == sorted(taken_off)
    assert taken_off[:2] == [0.0, 0.0] and taken_off[-2] == taken_off[-1] < 1.0


def test_what_is_hardly_useful_is_not_told_although_there_is_room(tmp_path: Path) -> None:
    poor = "The tests of the lamps check the bulbs of the pier."
    with open_filled(
        tmp_path,
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, "Look at the lamps, please.", poor),
    ) as memory:
        retain(memory, KEPT, Kind.FACT, worth=0.5)
        retain(memory, poor, Kind.FACT, worth=-0.9)
        first = group(brief_of(memory), KNOWN)
        retain(memory, poor, Kind.FACT, worth=None)
        second = group(brief_of(memory), KNOWN)
    assert KEPT in first and poor not in first
    assert poor in second, "a statement without a score was made by a rule or by a model"


def test_what_was_so_at_the_time_comes_after_the_rest(tmp_path: Path) -> None:
    past = "Each crane still keeps its list of loads, since the harbour master swaps them by day."
    with open_filled(
        tmp_path,
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, "Look at the cranes, please.", past),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    ) as memory:
        retain(memory, KEPT, Kind.FACT, worth=1.5)
        retain(memory, past, Kind.FACT, worth=2.5)
        known = group(brief_of(memory), KNOWN)
    assert 0 < known.index(KEPT) < known.index(past)


def test_what_was_said_on_the_way_to_a_change_comes_after_the_rest(tmp_path: Path) -> None:
    other = "Each crane keeps its own list of loads, since the harbour master swaps them by day."

    def said(number: int, day: str, text: str, changes: bool) -> Script:
        script = session_on(day, number)
        script.user(FILLER)
        script.assistant(text)
        if changes:
            script.tool("Edit", "ok", file_path="/p/berth.py", old_string="a", new_string="b")
        script.assistant("That was all.")
        return script

    ways = [said(1, "2026-09-01", KEPT, True), said(2, "2026-09-02", other, False)]
    with open_filled(tmp_path, *ways) as memory:
        retain(memory, KEPT, Kind.FACT)
        retain(memory, other, Kind.FACT, worth=1.8)
        told = group(brief_of(memory), KNOWN)
    assert 0 < told.index(other) < told.index(KEPT)


@pytest.mark.parametrize(
    ("text", "worth", "is_told"),
    [
        (KEPT, 0.5, True),
        (KEPT, 0.4, False),
        (
            "I keep a queue of ships for each berth, since the harbour master moves them.",
            2.0,
            False,
        ),
    ],
)
def test_what_an_agent_says_of_itself_or_is_worth_little_is_not_told(
    tmp_path: Path, text: str, worth: float, is_told: bool
) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, text)) as memory:
        retain(memory, text, Kind.FACT, worth=worth)
        assert (text in group(brief_of(memory), KNOWN)) is is_told


@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        ("Remove the queue of each berth again.", False),
        ("Remove the lamps of the outer pier from the page.", True),
        ("Show the queue of each berth on the panel.", True),
    ],
)
def test_what_a_person_takes_back_in_the_same_session_is_not_told(
    tmp_path: Path, asked: str, is_told: bool
) -> None:
    script = session_on("2026-09-01", 1)
    script.user(FILLER)
    script.assistant(KEPT)
    script.user(asked)
    script.assistant("Done as you said, and the page shows it.")
    with open_filled(tmp_path, script) as memory:
        retain(memory, KEPT, Kind.FACT)
        assert (f"fact: “{KEPT}”" in brief_of(memory)) is is_told
