"""`holdfast timeline` and `holdfast find` through the front door."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.transcripts import Script, bug_hunt

HUNT = "22222222-0000-4000-8000-000000000001"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    bug_hunt().write(folder / "claude" / "projects")
    later = Script("44444444-0000-4000-8000-000000000001", cwd="/home/dev/other")
    later.user("Please write the page about tides")
    later.tool("Write", "ok", file_path="/home/dev/other/docs/tides.md", content="High and low.")
    later.assistant("The page about tides is written.")
    later.write(folder / "claude" / "projects")
    assert holdfast(folder, "ingest").returncode == 0
    repository = folder / "proj"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    (repository / "importer.py").write_text("load()\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Import the rows"], check=True)
    assert holdfast(folder, "ingest", str(repository), "--bank", "proj").returncode == 0
    chat = folder / "chat.jsonl"
    chat.write_text('{"session":"s","id":"a1","speaker":"Ann","text":"The mast is carbon."}\n')
    assert holdfast(folder, "import", "conversation", str(chat), "--bank", "boats").returncode == 0
    return folder


def test_timeline_marks_its_anchor(home: Path) -> None:
    events = read_json(home, "timeline", "--bank", "proj")["events"]
    beside = ("--before", "1", "--after", "0")
    around = read_json(home, "timeline", events[1]["uri"], *beside, "--bank", "other")
    assert around["anchor"] == events[1]["uri"] and around["bank"] == "proj"
    assert [event["anchor"] for event in around["events"]] == [False, True]
    shown = holdfast(home, "timeline", events[1]["uri"]).stdout
    assert "▶ 09:00  exchange  bugfix: The nightly import loads every row twice" in shown
    assert "Import the rows (Ann)" in shown and "session 22222222" in shown
    assert max(len(line) for line in shown.splitlines()) <= 100
    name = next(word for word in shown.split() if word.startswith("holdfast://commit/"))
    assert holdfast(home, "show", name).returncode == 0, "what is shown can be opened"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["find"], "At least one filter is needed"),
        (["timeline", "2026-02-30"], "'2026-02-30' is not a date"),
        (["timeline", "ffffffff"], "There is no record"),
        (["timeline", "two words"], "not the name of a record"),
        (["timeline", "two words"], "holdfast timeline --query 'two words'"),
        (["timeline", "words", "--bank", "no"], "There is no bank 'no'.\n  → There are: boats"),
        (["timeline", "x", "--query", "y"], "Give one of them"),
    ],
)
def test_a_usage_error_prints_one_sentence(home: Path, arguments: list[str], words: str) -> None:
    done = holdfast(home, *arguments)
    assert done.returncode == 2
    assert words in done.stderr and "Traceback" not in done.stderr
