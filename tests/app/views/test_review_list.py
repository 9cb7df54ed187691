"""The list of what a brief may tell, with what the last sessions were about."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.views.review_list import ReviewList, review_list
from holdfast.model.uris import parse_uri
from tests.brief.test_verdicts import bank_of
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
