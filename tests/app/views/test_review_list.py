"""The list of what a brief may tell, with what the last sessions were about."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.views.review_list import LIMITS, ReviewList, Section, review_list
from holdfast.model.knowledge import Kind
from holdfast.model.trust import Trust
from holdfast.model.uris import parse_uri, uri
from tests.brief.test_known_statements import brief_of, retain
from tests.brief.test_verdicts import KEPT, OTHER, bank_of, name_of, two_statements
from tests.refine.by_model.test_brief_review import by_text, review
from tests.support.refine_banks import open_filled, session_on
from tests.support.transcripts import Script

PLAN = "/home/dev/.claude/plans/quiet-harbour.md"


def edit(script: Script, file: str) -> None:
    script.tool("Edit", "ok", file_path=file, old_string="a", new_string="b")


def listed(home: Path, *scripts: Script) -> ReviewList:
    with open_filled(home, *scripts) as memory:
        return review_list(memory, bank_of(memory))


def test_a_session_is_listed_with_how_it_ended_and_without_headings(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("Show the progress while the berths are read from the harbour file.")
    edit(script, "src/berths.py")
    script.assistant(
        "**Single method in `berths.py`:**\n\n**Key changes:**\n\n"
        "- Removed the old `silent` flag of the berth reader entirely\n"
    )
    script.user("What the hell man?")
    edit(script, PLAN)
    edit(script, "src/berths.py")
    script.assistant(
        "**Public methods delegate:**\n\n- The reader counts the ships before it reads them\n"
    )
    (one,) = listed(tmp_path, script).sessions
    assert one.request == "Show the progress while the berths are read from the harbour file"
    assert one.result.startswith("The reader counts the ships before it reads them")
    assert "**" not in one.result and "hell" not in f"{one.request}{one.result}"
    assert one.files == ("src/berths.py",)


def test_what_was_asked_last_is_listed_if_it_is_something_else(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("Show the progress while the berths are read from the harbour file.")
    edit(script, "src/berths.py")
    script.assistant("The berth reader shows how many berths it has read.")
    script.user("Sort the customs forms of the ferry by their stamp.")
    edit(script, "src/forms.py")
    script.assistant("Their order is now the one that the county office uses for its own.")
    (one,) = listed(tmp_path, script).sessions
    assert "; then: Sort the customs forms of the ferry by their stamp" in one.request
    assert "county office" in one.result


def test_an_item_has_its_day_and_id_once(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("Repair the lamp of the pier, please.")
    edit(script, "src/lamp.py")
    script.assistant("The lamp of the pier has a new fuse, which stands the salt.")
    (item,) = (one for one in listed(tmp_path, script).items if one.kind == "session")
    named = parse_uri(item.uri)
    assert named is not None and named.id[:8] not in item.text
    assert item.time.startswith("2026-09-01") and "2026-09-01" not in item.text
    assert "Repair the lamp of the pier" in item.text or "new fuse" in item.text


def test_what_a_model_dropped_is_listed_until_a_person_overrules_it(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        said = {KEPT: {"verdict": "unneeded", "why": "plain"}, OTHER: {"verdict": "outdated"}}
        review(memory, by_text(said))
        left_out = left_out_of(memory)
        assert {name_of(KEPT), name_of(OTHER)} <= set(left_out)
        memory.curation.judge([name_of(KEPT)], "useful", who="ada")
        assert name_of(KEPT) not in left_out_of(memory) and KEPT in brief_of(memory)


def left_out_of(memory: Holdfast) -> list[str]:
    items = review_list(memory, bank_of(memory)).items
    return [one.uri for one in items if one.section is Section.LEFT_OUT]


def judged_notes(memory: Holdfast, count: int, who: str) -> list[str]:
    """Notes of an agent that somebody called unneeded, a minute after each other."""
    names: list[str] = []
    for n in range(count):
        memory.context.now = lambda n=n: f"2026-12-01T12:{n:02}:00.000Z"
        text = f"Lamp {n} of the pier has the fuse {n}."
        note = memory.curation.remember(text, who="agent (cc)", trust=Trust.ASSISTANT)
        names.append(uri("memory", note.id))
        memory.curation.judge(names[-1:], "unneeded", who=who)
    return names


@pytest.mark.slow
def test_of_what_people_judged_the_latest_are_listed_that_are_still_there(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        names = judged_notes(memory, LIMITS.judged + 5, "ada")
        for name in names[-3:]:
            memory.forget(name)
        still = names[-4::-1]
        found = review_list(memory, bank_of(memory))
        assert (left_out_of(memory), found.more) == (still[: LIMITS.judged], 2)
        everything = review_list(memory, bank_of(memory), all_judged=True)
        listed = [one.uri for one in everything.items if one.section is Section.LEFT_OUT]
        assert (listed, everything.more) == (still, 0)


@pytest.mark.slow
def test_all_that_an_agent_judged_is_listed(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        names = judged_notes(memory, LIMITS.judged + 5, "agent (cc)")
        assert left_out_of(memory) == names[::-1]
        assert review_list(memory, bank_of(memory)).more == 0


@pytest.mark.parametrize("limit", [1, 2])
def test_the_limit_is_of_what_is_told_and_what_comes_next_together(
    tmp_path: Path, limit: int
) -> None:
    with two_statements(tmp_path) as memory:
        whole = review_list(memory, bank_of(memory)).items
        memory.curation.judge([whole[-1].uri], "useful", who="ada")
        assert len(whole) > 2
        assert len(review_list(memory, bank_of(memory), limit).items) == limit


def test_what_a_told_line_says_does_not_come_next_again(tmp_path: Path) -> None:
    rule = "Always book berths by radio, never by telephone."
    script = session_on("2026-09-01", 1)
    script.user(rule)
    script.assistant("Understood, I will keep to that.")
    with open_filled(tmp_path, script) as memory:
        retain(memory, rule, Kind.RULE)
        (one,) = (one for one in review_list(memory, bank_of(memory)).items if rule in one.text)
        assert one.told and one.uri.startswith("holdfast://fact/")


def test_an_exchange_is_listed_without_its_id_its_day_and_its_tokens(tmp_path: Path) -> None:
    scripts: list[Script] = []
    for day in range(1, 9):
        script = session_on(f"2026-09-0{day}", day)
        for n in range(2):
            script.user(f"Repair the lamp {n} of the pier {day}, please.")
            edit(script, f"src/lamp{n}.py")
            script.assistant(f"The lamp {n} of the pier {day} has a new fuse, which stands salt.")
        scripts.append(script)
    found = [one for one in listed(tmp_path, *scripts).items if one.kind == "exchange"]
    assert found and all("Repair the lamp" in one.text for one in found)
    for one in found:
        named = parse_uri(one.uri)
        assert named is not None and named.id[:8] not in one.text
        assert one.time[:10] not in one.text and " ~" not in one.text, one.text
