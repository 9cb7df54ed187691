from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.run_folder import made_once

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
COMMITS = "4"


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.jsonl")
    }


def _section(output: str, command: str) -> str:
    """What the tour printed from one command up to the next."""
    assert output.count(f"$ holdfast {command}") == 1, output
    return output.split(f"$ holdfast {command}", 1)[1].split("\n$ ", 1)[0]


def _flat(text: str) -> str:
    return " ".join(text.split())


class Tour(NamedTuple):
    """A checkout with these examples, and what the tour of it printed."""

    checkout: Path
    output: str


@pytest.fixture(scope="module")
def taken() -> Tour:
    """The tour, taken once in a test run, because it takes 13 s of processor time."""
    folder = made_once("tour", _take)
    return Tour(folder / "holdfast", (folder / "output").read_text("utf-8"))


@pytest.fixture
def tour(taken: Tour) -> str:
    return taken.output


def _take(folder: Path) -> None:
    """Take the tour from a strange folder and with a home of its own. The checkout has the latest
    commits if there is a history: to read all of them takes twenty times as long."""
    checkout, elsewhere = folder / "holdfast", folder / "elsewhere"
    elsewhere.mkdir()
    if (ROOT / ".git").exists():
        clone = ("clone", "-q", "--no-checkout", "--depth", COMMITS, ROOT.as_uri(), str(checkout))
        subprocess.run(["git", *clone], check=True)
    shutil.copytree(EXAMPLES, checkout / "examples")
    # A session of whoever takes the tour, which is none of its business.
    own = elsewhere / ".claude" / "projects" / "own"
    shutil.copytree(next((EXAMPLES / "sessions").iterdir()), own)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    environment = kept | {
        "HOME": str(elsewhere),
        "HOLDFAST_BANK": "not-this-one",
        "HOLDFAST_TRY_HOME": str(elsewhere / "memory"),
        "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"])),
    }
    done = subprocess.run(
        [sys.executable, str(checkout / "examples" / "tour.py")],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (elsewhere / ".holdfast").exists()
    (folder / "output").write_text(done.stdout, "utf-8")


def test_the_story_generates_exactly_the_stored_sessions(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "story.py"), str(tmp_path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert _files(tmp_path) == _files(EXAMPLES / "sessions")
    assert len(_files(tmp_path)) >= 8


def test_the_tour_ingests_every_line_and_redacts_the_secret(tour: str) -> None:
    assert "1 secret redacted before storing." in _section(tour, "ingest examples/sessions")
    status = _section(tour, "status")
    assert "every line is accounted for" in status
    assert " 0 failed" in status
    assert "github-token 1" in status
    assert "0 pending" in status


def test_the_tour_answers_why_sqlite_was_chosen(tour: str) -> None:
    answer = _flat(_section(tour, 'ask "Why SQLite and not Postgres?"'))
    assert "We chose SQLite over Postgres because only one process" in answer
    assert "[1]" in answer


def test_the_tour_shows_the_root_cause_first(tour: str) -> None:
    answer = _section(tour, 'ask "What was the root cause of the duplicate alerts?"')
    first = _flat(answer.split("[1]", 1)[0])
    assert "27 Oct 2026" in first
    assert "UTC offset of the day of planning" in first


def test_the_tour_shows_the_later_decision_before_the_one_it_replaced(tour: str) -> None:
    answer = _flat(_section(tour, 'ask "Do we still cache API responses in Redis?"'))
    later = answer.index("14 Oct 2026: We no longer cache API responses in Redis")
    assert later < answer.index("[1] replaces “We cache API responses in Redis for six minutes")


def test_the_tour_abstains_on_an_unknown_subject(tour: str) -> None:
    answer = _section(tour, 'ask "When did we move to Kubernetes?"')
    assert "Not known" in answer
    assert "confidence" not in answer


def test_the_tour_opens_a_citation_down_to_the_raw_line(taken: Tour) -> None:
    shown = _section(taken.output, "show ")
    assert "SQLite" in shown
    assert "raw line: " in shown
    assert str(taken.checkout / "examples" / "sessions") in shown


def test_the_tour_reads_this_repository_if_it_has_a_history(tour: str) -> None:
    if (ROOT / ".git").exists():
        # As many generations; a merge has several parents.
        told = re.search(r"(\d+) commits in its history", _section(tour, "ingest ."))
        assert told is not None and int(told[1]) >= int(COMMITS)
    else:
        assert "no git history" in tour


def test_the_tour_ends_with_the_next_steps(tour: str) -> None:
    end = tour.rsplit("That was the tour.", 1)[1]
    for words in (
        "holdfast setup",
        "holdfast ingest --dry-run",
        "~/.holdfast",
        "HOLDFAST_HOME",
        "rm -r ",
    ):
        assert words in end
