"""Whoever asks, by whichever way in, reads what was said later first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Hit, Layer
from holdfast.model.trust import Status
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script
from tests.support.ways_in import brief_ways, command_ways, http_ways, mcp_ways, python_ways

QUESTION = "What is the upload limit for images?"


def talk(day: str, number: int, said: str, answered: str) -> Script:
    script = session_on(day, number)
    script.user(said)
    script.assistant(answered)
    return script


def talks(later: str) -> list[Script]:
    return [
        talk("2026-03-02", 1, "the upload limit for images is 10 MB", "Set."),
        talk("2026-05-04", 2, later, "Changed."),
    ]


REPLACED = "about the upload limit we agreed on: it is 20 MB now, not 10"
NARROWED = "the upload limit for images doesn't apply to scans"


@pytest.mark.slow
@pytest.mark.parametrize("later", [REPLACED, NARROWED])
def test_every_way_in_tells_the_later_statement_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    with open_filled(tmp_path, *talks(later)) as memory:
        ways = [
            *python_ways(memory, [QUESTION], []),
            *brief_ways(memory),
            *command_ways([QUESTION], []),
            *mcp_ways([QUESTION]),
            *http_ways(memory.settings, [QUESTION], [], []),
        ]
    answers = {
        name: told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
        for name, told in ways
        if any(word in name for word in ("recall", "ask", "facts", "memory", "search", "GraphQL"))
    }
    ours, theirs = later[-12:], "images is 10 MB"
    both = {name: told for name, told in answers.items() if ours in told and theirs in told}
    told_by = {name.split()[0] for name in both}
    assert told_by >= {"recall", "ask", "holdfast", "GET", "POST", "GraphQL", "page"}, sorted(both)
    for name, told in both.items():
        assert told.index(ours) < told.index(theirs), (name, told)


def turns(memory: Holdfast) -> list[Hit]:
    """The turns that are found, best first."""
    return list(memory.recall(QUESTION, layers=(Layer.TRANSCRIPTS,)).hits)


def test_the_earlier_statement_is_marked_and_linked_both_ways(tmp_path: Path) -> None:
    with open_filled(tmp_path, *talks(REPLACED)) as memory:
        first = memory.recall(QUESTION).hits[0]
        assert first.text == REPLACED and len(first.supersedes) == 1
        later, earlier = (f for f in memory.browse.facts(all=True))
        assert first.supersedes == (f"holdfast://fact/{earlier.id}",)
        said = next(hit for hit in turns(memory) if "images is 10" in hit.text)
        assert said.status is Status.SUPERSEDED
        assert said.superseded_by == f"holdfast://fact/{later.id}"
        assert "20 MB" in memory.ask(QUESTION).answer.split("\n")[0]


@pytest.mark.slow
def test_a_statement_amended_in_part_holds_and_names_what_amends_it(tmp_path: Path) -> None:
    with open_filled(tmp_path, *talks(NARROWED)) as memory:
        assert memory.recall(QUESTION).hits[0].text == NARROWED
        said = next(hit for hit in turns(memory) if "images is 10" in hit.text)
        later = next(f for f in memory.browse.facts() if "scans" in f.content)
        assert said.status is Status.AMENDED and not said.ended
        assert said.superseded_by == f"holdfast://fact/{later.id}"
        answer = memory.ask(QUESTION)
        assert "scans" in answer.answer.split("\n")[0]
        assert any("was amended" in note for note in answer.caveats)
        brief = memory.briefs.session_brief().text
        assert brief.index("scans") < brief.index("images is 10 MB") and "(amended" in brief


def test_what_was_said_later_was_not_known_before(tmp_path: Path) -> None:
    with open_filled(tmp_path, *talks(REPLACED)) as memory:
        (fact,) = (f for f in memory.browse.facts(all=True) if "10 MB" in f.content)
        then = memory.show(f"fact/{fact.id}", as_of="2026-04-01T00:00:00.000Z").record
        assert getattr(then, "superseded_by", None) == ""


WORK = (
    "the gallery tiles are all of the same height",
    "the header row of the upload table has to stay on top",
    "the image names should be left of the upload button",
    "the colors of the gallery have to be brighter",
    "the limit bar under the gallery is too thin",
)


def talk_at_work(day: str, number: int, *said: str) -> Script:
    """A session in which somebody says a lot about the work at hand."""
    script = session_on(day, number)
    for one in (*WORK, *said):
        script.user(one)
        script.assistant("I changed it.")
    return script


def amended(memory: Holdfast) -> list[tuple[str, str]]:
    facts = {f"holdfast://fact/{f.id}": f for f in memory.browse.facts(all=True)}
    return [(f.content, facts[f.superseded_by].content) for f in facts.values() if f.superseded_by]


@pytest.mark.parametrize(
    "later",
    [
        "the header row is on top now, the image names should be under the tiles",
        "image names and the upload button should be one row",
    ],
)
def test_remarks_on_the_work_at_hand_replace_nothing(tmp_path: Path, later: str) -> None:
    first = talk_at_work("2026-03-02", 1)
    with open_filled(tmp_path, first, talk_at_work("2026-05-04", 2, later)) as memory:
        assert amended(memory) == []


@pytest.mark.parametrize("later", [REPLACED, "the upload limit for images is 20 MB instead of 10"])
def test_what_is_plainly_taken_back_is_replaced_among_remarks(tmp_path: Path, later: str) -> None:
    earlier = "the upload limit for images is 10 MB"
    first = talk_at_work("2026-03-02", 1, earlier)
    with open_filled(tmp_path, first, talk_at_work("2026-05-04", 2, later)) as memory:
        assert amended(memory) == [(earlier, later)]


def test_a_report_that_something_was_ended_replaces_it(tmp_path: Path) -> None:
    laid_down = "We always use Redis for the session cache."
    scripts = [talk("2026-03-02", 1, laid_down, "Noted."), session_on("2026-05-04", 2)]
    scripts[1].user("Can you get rid of Redis in the session cache?")
    scripts[1].assistant("The session cache no longer uses Redis.")
    with open_filled(tmp_path, *scripts) as memory:
        assert [earlier for earlier, _ in amended(memory)] == [laid_down]


def test_a_report_that_an_order_was_carried_out_replaces_nothing(tmp_path: Path) -> None:
    ordered = "Change default sort of bookings. Sort it by check in date from earliest to latest"
    done = (
        "I've successfully changed the default sort of bookings to sort by check-in date from "
        "earliest to latest."
    )
    scripts = [talk("2026-03-02", 1, ordered, "Noted."), session_on("2026-05-04", 2)]
    scripts[1].user("look at the default sort of the bookings again, and at the check-in date")
    scripts[1].assistant(done)
    with open_filled(tmp_path, *scripts) as memory:
        assert amended(memory) == []
