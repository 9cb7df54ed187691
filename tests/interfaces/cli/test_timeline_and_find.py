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


def test_a_timeline_has_all_kinds_of_events(home: Path) -> None:
    found = read_json(home, "timeline", "--bank", "proj")
    assert (found["bank"], found["anchor"], found["undated"]) == ("proj", "", 0)
    assert [event["kind"] for event in found["events"]] == ["digest", "exchange", "commit"]
    event = found["events"][1]
    assert (event["note"], event["session"], event["bank"]) == ("bugfix", HUNT, "proj")
    assert event["anchor"] is False


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


def test_timeline_accepts_a_query_a_date_and_turns(home: Path) -> None:
    asked = read_json(home, "timeline", "--query", "page about tides", "--bank", "all")
    assert any(e["anchor"] and e["bank"] == "other" for e in asked["events"])
    dated = holdfast(home, "timeline", "2026-09-01T09:01", "--bank", "proj").stdout
    assert "▶ 2026-09-01 09:01" in dated
    assert dated.index("exchange") < dated.index("▶") < dated.index("commit")
    turns = read_json(home, "timeline", "--kind", "turn", "--bank", "proj", "--after", "0")
    assert [event["kind"] for event in turns["events"]] == ["turn"] * 5


def test_timeline_says_what_it_leaves_out(home: Path) -> None:
    undated = holdfast(home, "timeline", "--bank", "boats").stdout
    assert "2 records without a time left out" in undated and "No records of these kinds" in undated
    nothing = holdfast(home, "timeline", "--query", "zymurgy", "--bank", "proj").stdout
    assert "No results for 'zymurgy' in bank proj." in nothing and "--bank all" in nothing


def test_a_file_finds_the_exchanges_that_changed_it(home: Path) -> None:
    found = read_json(home, "find", "--file", "importer.py", "--bank", "all", "--since", "2026-09")
    assert found["filter"]["since"] == "2026-09-01T00:00:00.000Z" and found["more"] is False
    fix = next(one for one in found["findings"] if one["kind"] == "exchange")
    assert (fix["type"], fix["files"], fix["session"]) == ("bugfix", ["src/importer.py"], HUNT)
    assert fix["bank"] == "proj"


def test_find_lists_the_latest_work_first(home: Path) -> None:
    shown = holdfast(home, "find", "--file", "importer.py", "--bank", "proj").stdout
    assert shown.index("Import the rows") < shown.index("bugfix     The nightly import")
    assert "changed src/importer.py" in shown and "2 records in bank proj" in shown
    folder = holdfast(home, "find", "--file", "docs/", "--bank", "all", "--limit", "1").stdout
    assert "docs/tides.md" in folder and " · other" in folder
    more = holdfast(home, "find", "--since", "2026-01", "--bank", "all", "--limit", "1").stdout
    assert "there are more, see --limit" in more


def test_an_empty_result_of_find_suggests_what_to_try(home: Path) -> None:
    done = holdfast(home, "find", "--file", "nope/x.py", "--type", "bugfix", "--bank", "proj")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0 and "Nothing in bank proj matches these filters." in said
    for advice in ("the name alone (x.py)", "fewer filters", "--bank all", "holdfast recall"):
        assert advice in said
    anywhere = holdfast(home, "find", "--type", "bugfix", cwd=home).stdout
    assert "1 record in all banks" in anywhere, "this folder has no bank of its own"


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
