from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Kind, Memory
from holdfast.model.trust import Status
from holdfast.operations.knowledge import KnowledgeKind, facts
from holdfast.refine.facts.closed_tasks import Deed, Task, find_closings
from tests.support.memory_dump import dump
from tests.support.refine_banks import ingest_scripts, open_filled, open_memory, session_on
from tests.support.transcripts import Script

RETRY = "Retry for the uploader is still missing."


def closing(task: str, *deeds: str, is_commit: bool = False) -> str | None:
    """The words of what closed a task, of some deeds after it."""
    done = [Deed(f"d{n}", text, f"2{n}", (), is_commit) for n, text in enumerate(deeds)]
    found = find_closings([Task("t", task, "1")], done, lambda turn: "")
    return found[0].deed.text if found else None


@pytest.mark.parametrize(
    ("task", "deed"),
    [
        (RETRY, "Added retry to uploader"),
        (RETRY, "I've added a retry to the uploader; the tests pass"),
        ("Next steps: Rename `parse_config` to `load_config`",
         "Renamed `parse_config` to `load_config` everywhere."),
        ("Remove the legacy flag from src/settings.py",
         "The legacy flag was removed from `settings.py`."),
        ("Uploads over 20 MB still fail in the portal", "Fixed uploads over 20 MB in the portal"),
        ("TODO: raise the upload limit to 20 MB", "Raised the upload limit to 20 MB."),
    ],
)  # fmt: skip
def test_a_report_that_names_the_same_as_done_closes_a_task(task: str, deed: str) -> None:
    assert closing(task, "Fixed the colour of the login page", deed) == deed


@pytest.mark.parametrize(
    ("subject", "closes"),
    [
        ("feat(uploader): add retry with exponential backoff", True),
        ("Add retry to the uploader", True),
        ("docs(uploader): describe the retry", False),
        ("test(uploader): retry", False),
        ("revert: add retry to the uploader", False),
        ("WIP: add retry to the uploader", False),
    ],
)
def test_a_commit_closes_a_task_by_its_subject(subject: str, closes: bool) -> None:
    assert closing(RETRY, subject, is_commit=True) == (subject if closes else None)


@pytest.mark.parametrize(
    "deed",
    [
        "Added tests for the uploader retry",
        "Added retry to the downloader",
        "Removed retry from the uploader",
        "Added a note on the uploader retry to the README",
        "Retry for the uploader is not implemented",
        "Planned the retry of the uploader",
        "Started on retry for the uploader",
        "Added a part of the uploader retry; the rest remains",
        "The uploader retry was not added",
        "Was the uploader retry added?",
        "Fixed the retry of the uploader",
        "Fixed the uploader",
        "The uploader has a retry.",
        "Worked on “Let the uploader retry, which is added later”",
        "Check that the retry was added to the uploader",
        "Uploads go on once the retry was added to the uploader",
    ],
)
def test_what_is_not_surely_the_task_leaves_it_open(deed: str) -> None:
    assert closing(RETRY, deed) is None


@pytest.mark.parametrize(
    ("task", "deed"),
    [
        ("TODO: raise the upload limit to 20 MB", "Raised the upload limit to 10 MB"),
        ("TODO: raise the upload limit (20 MB)", "Raised the upload limit to 10 MB"),
        ("Add a retry to billing_client", "Added a retry to shipping_client"),
        ("Implement all remaining test stubs of the cart", "Implemented 9 test stubs of the cart"),
        ("Next: the rest", "Added the rest"),
    ],
)
def test_another_number_name_or_part_leaves_a_task_open(task: str, deed: str) -> None:
    assert closing(task, deed) is None


def test_a_task_is_closed_by_the_first_deed_after_it_was_last_said() -> None:
    task = Task("t", RETRY, "3", ("holdfast://turn/a", "holdfast://turn/b"))
    deeds = [
        Deed(f"holdfast://turn/{n}", "Added retry to the uploader", str(n)) for n in (1, 2, 4, 5)
    ]
    times = {"holdfast://turn/a": "1", "holdfast://turn/b": "3"}
    for order in permutations(deeds):
        (found,) = find_closings([task], order, lambda turn: times.get(turn, ""))
        assert found.deed.time == "4"
    assert find_closings([task], deeds[:2], lambda turn: times.get(turn, "")) == []


def session_that_leaves_open(day: str, number: int) -> Script:
    script = session_on(day, number)
    script.user("The uploads to the portal break off at night. Please look into it.")
    script.tool("Read", "def upload(): ...", file_path="/home/dev/proj/src/uploader.py")
    script.assistant(
        "Root cause: the uploader opens one connection and the portal closes it after an hour, so "
        "uploads break off when the nightly job takes longer.\n\n"
        "Remaining: retry for the uploader is still missing and needs to be added later."
    )
    return script


def session_that_does_it(day: str, number: int) -> Script:
    script = session_on(day, number)
    script.user("Let the uploader try again when the portal closes the connection.")
    script.tool(
        "Edit", "ok", file_path="/home/dev/proj/src/uploader.py", old_string="a", new_string="b"
    )
    script.tool("Bash", "12 passed", command="pytest")
    script.tool("Bash", "[main 1a2b3c4] x", command='git commit -m "Add retry to the uploader"')
    script.assistant("Added retry to the uploader. The tests pass.")
    return script


def the_task(memory: Holdfast) -> Memory:
    (bank,) = memory.banks.all()
    (task,) = memory.reader.memories.retained(bank.id, kind=Kind.TODO)
    return task


@pytest.mark.slow
def test_a_later_session_closes_a_task_and_forgetting_it_opens_the_task_again(
    tmp_path: Path,
) -> None:
    with open_filled(tmp_path, session_that_leaves_open("2026-09-01", 1)) as memory:
        task = the_task(memory)
        assert task.status is Status.OBSERVED and facts(memory, KnowledgeKind.TODO).statements == (
            task,
        )
        ingest_scripts(memory, [session_that_does_it("2026-09-05", 2)])
        closed = the_task(memory)
        assert closed.status is Status.SUPERSEDED and closed.validity.until >= "2026-09-05"
        assert facts(memory, KnowledgeKind.TODO).statements == ()
        done = memory.show(closed.superseded_by).record
        assert isinstance(done, Memory) and done.kind is Kind.OUTCOME and "retry" in done.what
        assert done.supersedes == (f"holdfast://memory/{task.id}",)
        before = dump(memory.settings.database)
        memory.ingestion.rebuild()
        assert dump(memory.settings.database) == before
        memory.forget(memory.reader.sessions.latest(None)[0].id)
        assert the_task(memory) == task and facts(memory, KnowledgeKind.TODO).statements == (task,)
        memory.undo()
        assert the_task(memory) == closed


@pytest.mark.slow
def test_a_task_that_is_said_again_is_open_again(tmp_path: Path) -> None:
    scripts = [
        session_that_leaves_open("2026-09-01", 1),
        session_that_does_it("2026-09-05", 2),
        session_that_leaves_open("2026-09-09", 3),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        assert (the_task(memory).status, the_task(memory).seen) == (Status.OBSERVED, 2)


@pytest.mark.slow
def test_tasks_close_alike_in_every_order_of_reading(tmp_path: Path) -> None:
    scripts = [
        session_that_leaves_open("2026-09-01", 1),
        session_that_does_it("2026-09-05", 2),
        session_that_does_it("2026-09-07", 3),
    ]
    found: list[Memory] = []
    for number, order in enumerate(permutations(scripts)):
        with open_memory(tmp_path / str(number)) as memory:
            ingest_scripts(memory, order, update_every=1 + number % 3)
            found.append(the_task(memory))
    assert found[0].status is Status.SUPERSEDED and all(one == found[0] for one in found)
