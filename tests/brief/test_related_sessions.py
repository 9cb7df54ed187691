from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

NOW = "2026-06-01T10:00:00Z"
pytestmark = pytest.mark.model


def write(folder: Path, number: int, day: int, asked: str, answered: str) -> None:
    start = datetime(2026, 5, day, 9, tzinfo=UTC)
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", "/home/dev/depot", start=start)
    script.user(asked)
    script.tool("Edit", "updated", file_path=f"/home/dev/depot/part{number}.py", old_string="a")
    script.assistant(answered)
    script.write(folder / "p")


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("depot")
    write(
        folder,
        1,
        4,
        "The label printer prints every parcel label twice since the update",
        "Root cause: the label printer driver retries a print job after 2 seconds, and the print "
        "server acknowledges a parcel label only after 3 seconds, so each label is printed twice. "
        "Fixed by raising the acknowledgement timeout of the printer driver to 10 seconds.",
    )
    write(
        folder,
        2,
        6,
        "Show the weight of a pallet on the dashboard",
        "The dashboard shows the weight of each pallet in kilograms. The value is read from the "
        "scale service every minute and kept in a cache.",
    )
    settings = Settings(home=folder / "home", claude_dir=folder)
    with Holdfast(with_empty_memory(settings), now=lambda: NOW) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        memory.ingestion.embed()
        yield memory


def test_a_cause_is_told_to_a_prompt_in_other_words(depot: Holdfast) -> None:
    prompt = "Each sticker for a parcel comes out of the printer two times again"
    brief = depot.briefs.goal_brief(prompt, "depot")
    assert "acknowledges a parcel label only after 3 seconds" in brief.text
    assert "pallet" not in brief.text
    assert any(record.startswith("holdfast://memory/") for record in brief.records)


def test_a_prompt_about_something_else_is_told_nothing(depot: Holdfast) -> None:
    prompt = "Add a login page with two factor authentication for the customers"
    assert depot.briefs.goal_brief(prompt, "depot").text == ""
