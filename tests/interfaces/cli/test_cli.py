"""The command line through its front door: a real process, a real home."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import COMMANDS, make_parser
from tests.support.command_line import run_command
from tests.support.transcripts import Script, bug_hunt


def holdfast(
    home: Path, *arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    places = {"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "claude")}
    return run_command([*arguments], {**os.environ, **places, **(env or {})}, cwd)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    bug_hunt().write(folder / "claude" / "projects")
    done = holdfast(folder, "ingest")
    assert done.returncode == 0, done.stderr
    assert "12 captured + 1 skipped + 0 failed = 13" in done.stdout
    return folder


def read_json(home: Path, *arguments: str) -> Any:
    done = holdfast(home, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_recall_prints_the_documented_json(home: Path) -> None:
    found = read_json(home, "recall", "retry", "wrapper", "--bank", "all")
    assert set(found) == {
        "query", "bank", "abstained", "hits", "strategies", "fallbacks", "suggestions", "notes",
    }  # fmt: skip
    assert (found["query"], found["bank"], found["abstained"]) == ("retry wrapper", "all", False)
    hit = found["hits"][0]
    assert {
        "uri", "kind", "layer", "score", "text", "time", "session", "source", "status",
        "freshness", "trust", "weak", "why", "bank",
    } <= set(hit)  # fmt: skip
    one = read_json(home, "recall", "retry", "wrapper", "--bank", hit["bank"])
    assert hit["bank"] == one["bank"] == one["hits"][0]["bank"] != "all"
    assert hit["session"] == "22222222-0000-4000-8000-000000000001"
    assert set(hit["source"]) == {"path", "line", "id"}
    assert Path(hit["source"]["path"]).exists() and hit["source"]["line"] >= 1
    assert set(found["strategies"][0]) == {"name", "ms", "found", "timed_out", "problem"}


def test_ask_prints_the_documented_json(home: Path) -> None:
    found = read_json(home, "ask", "why did the rows double", "--bank", "all")
    assert set(found) == {
        "question", "answer", "confidence", "abstained", "source", "citations",
        "layers_searched", "caveats", "session_id", "cost", "weak",
    }  # fmt: skip
    assert found["session_id"].startswith("mem-")
    assert found["cost"] == {"model": None, "tokens": 0, "usd": 0}
    assert found["confidence"] in ("high", "medium", "low")
    assert {"uri", "layer", "excerpt", "browse_url"} <= set(found["citations"][0])


def test_an_answer_can_be_streamed_followed_and_continued(home: Path) -> None:
    done = holdfast(home, "ask", "why did the rows double", "--bank", "all", "--stream", "--json")
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert steps[0]["stage"] == "planned" and steps[-1]["stage"] == "done", done.stderr
    (id,) = {step["session_id"] for step in steps}
    assert steps[-1]["answer"]["session_id"] == id
    beside = holdfast(home, "ask", "and who fixed that?", "--bank", "all", "--session", id[:-3],
                      "--stream")  # fmt: skip
    assert beside.returncode == 0 and "done: " in beside.stderr and id in beside.stdout
    (listed,) = [s for s in read_json(home, "research")["sessions"] if s["id"] == id]
    assert listed["state"] == "done" and listed["questions"][1] == "and who fixed that?"
    shown = holdfast(home, "research", "show", id).stdout
    assert "? why did the rows double" in shown and "confidence: " in shown
    attached = holdfast(home, "research", "attach", id, "--json", "--after", "1")
    assert json.loads(attached.stdout.splitlines()[0])["stage"] == "planned"
    assert "No process works on" in holdfast(home, "research", "cancel", id).stdout
    assert holdfast(home, "research", "show", "mem-nothing").returncode == 2
    assert holdfast(home, "ask", "why?", "--session", "mem-nothing").returncode == 2


def test_status_prints_the_documented_json_and_its_counts_add_up(home: Path) -> None:
    found = read_json(home, "status")
    ledger = found["ledger"]
    assert {"bank", "turns", "exchanges", "raw_bytes", "l1_bytes", "ledger", "worker"} <= set(found)
    assert {"last_event", "cost"} <= set(found)
    assert ledger["captured"] + sum(ledger["skipped"].values()) + ledger["failed"] == 13
    assert (ledger["files"], ledger["lines"], ledger["pending"]) == (1, 13, 0)
    assert ledger["balanced"] is True


def test_status_counts_unread_lines(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "claude" / "projects")
    holdfast(tmp_path, "ingest")
    with path.open("a") as file:
        file.write('{"type":"user","uuid":"u","message":{"content":"more"}}\n{"type":"us')
    before = read_json(tmp_path, "status")["ledger"]
    holdfast(tmp_path, "ingest")
    after = read_json(tmp_path, "status")["ledger"]
    assert (before["lines"], before["pending"], before["captured"]) == (15, 2, 12)
    assert (after["lines"], after["pending"], after["captured"]) == (15, 1, 13)


def test_show_opens_a_record_and_its_raw_line(home: Path) -> None:
    uri = read_json(home, "recall", "nightly import", "--bank", "all")["hits"][0]["uri"]
    shown = holdfast(home, "show", uri)
    raw = holdfast(home, "show", uri, "--raw")
    assert uri in shown.stdout and "raw line: " in shown.stdout
    assert json.loads(raw.stdout)["sessionId"] == "22222222-0000-4000-8000-000000000001"
    found = read_json(home, "show", uri)
    assert found["raw"]["state"] == "present" and found["raw"]["line"] >= 1


def test_a_raw_line_is_never_shown_without_its_place(home: Path) -> None:
    hits = read_json(home, "recall", "nightly import", "--bank", "all", "--limit", "20")["hits"]
    kinds = {hit["kind"]: hit["uri"] for hit in hits}
    assert "memory" in kinds
    for uri in kinds.values():
        raw = read_json(home, "show", uri)["raw"]
        shown = holdfast(home, "show", uri).stdout
        assert not (raw and raw["text"]) or "raw line: " in shown, uri


def test_text_output_names_source_and_confidence(home: Path) -> None:
    asked = holdfast(home, "ask", "why did the rows double", "--bank", "all")
    recalled = holdfast(home, "recall", "retry wrapper", "--bank", "all", "--explain")
    assert "[1]" in asked.stdout and "confidence: " in asked.stdout
    assert ".jsonl:" in recalled.stdout and "why: direct_fts #1 (1.00)" in recalled.stdout
    assert "freshness unknown" in recalled.stdout
    assert "\x1b[" not in asked.stdout
    lost = holdfast(home, "recall", "zymurgy of the retry ullage", "--bank", "all", "--explain")
    assert "No clear results in all banks." in lost.stdout and "why: " in lost.stdout
    assert "Only loosely related:" in lost.stdout
    assert "direct_fts found" in lost.stdout
    assert "fallbacks: raw_grep, clarification" in lost.stdout


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    bug_hunt().write(tmp_path / "claude" / "projects")
    done = holdfast(tmp_path, "ingest", "--dry-run")
    assert "1 transcript found; 1 with something new." in done.stdout
    assert read_json(tmp_path, "status")["turns"] == 0


def test_a_second_ingest_finds_nothing_new(home: Path) -> None:
    assert "Nothing new in 1 transcript." in holdfast(home, "ingest").stdout


def test_missing_transcripts_are_reported_with_a_remedy(tmp_path: Path) -> None:
    done = holdfast(tmp_path, "ingest")
    assert done.returncode == 0 and "CLAUDE_CONFIG_DIR" in done.stdout


def test_import_reads_a_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"session":"s","id":"a1","speaker":"Ann","text":"The mast is carbon."}\n')
    done = holdfast(tmp_path, "import", "conversation", str(path), "--bank", "boats")
    assert "1 line read into bank boats: 1 captured" in done.stdout
    hit = read_json(tmp_path, "recall", "mast", "--bank", "boats")["hits"][0]
    assert hit["source"]["id"] == "a1"


def test_commits_of_a_repository_are_ingested(tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Reef the mainsail"], check=True)
    first = holdfast(tmp_path, "ingest", str(repository))
    again = holdfast(tmp_path, "ingest", str(repository))
    assert "repo: 1 commit in its history, 1 of them new, in bank repo." in first.stdout
    assert "0 of them new" in again.stdout
    hit = read_json(tmp_path, "recall", "mainsail", "--bank", "repo")["hits"][0]
    assert hit["kind"] == "commit" and hit["layer"] == "team" and hit["trust"] == "team"


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["recal", "x"], 2, "Did you mean 'recall'?"),
        (["recall", "x", "--bank", "nowhere"], 2, "There is no bank 'nowhere'"),
        (["recall", "  "], 2, "The query is empty"),
        (["show", "holdfast://turn/00"], 2, "There is no record"),
        (["ingest", "/does/not/exist"], 2, "does not exist"),
        (["import", "conversation", "/does/not/exist", "--bank", "b"], 2, "is not a file"),
        (
            ["recall", "x", "--limit", "0"],
            2,
            "from 1 to 200.\n  → See `holdfast recall --help`",
        ),
    ],
)
def test_a_usage_error_prints_one_sentence_and_no_traceback(
    home: Path, arguments: list[str], status: int, words: str
) -> None:
    done = holdfast(home, *arguments)
    assert done.returncode == status
    assert words in done.stderr and "Traceback" not in done.stderr


def test_a_damaged_memory_and_invalid_settings_are_reported_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"this is not a database" * 100)
    damaged = holdfast(tmp_path, "status")
    assert damaged.returncode == 1 and "damaged" in damaged.stderr and "→" in damaged.stderr
    (tmp_path / "memory.db").unlink()
    (tmp_path / "config.toml").write_text("redcat = 1\n")
    settings = holdfast(tmp_path, "status")
    assert settings.returncode == 2 and "redcat" in settings.stderr
    assert "Traceback" not in damaged.stderr + settings.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words", [["--version"], ["recall", "--help"], ["recall", "import", "--bank", "all"]]
)
def test_a_closed_output_pipe_is_not_an_error(
    home: Path, words: list[str], unbuffered: str
) -> None:
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    env = {**os.environ, "HOLDFAST_HOME": str(home), "PYTHONUNBUFFERED": unbuffered}
    process = subprocess.Popen(
        [sys.executable, "-c", main, *words],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


def test_an_error_follows_what_was_printed_before_it_in_one_pipe(tmp_path: Path) -> None:
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    places = {"HOLDFAST_HOME": str(tmp_path / "home"), "CLAUDE_CONFIG_DIR": str(tmp_path / "c")}
    done = subprocess.run(
        [sys.executable, "-c", main, "setup"],
        env={**os.environ, **places, "HOME": str(tmp_path)}, text=True, check=False, timeout=60,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout.index("Setup adds Holdfast") < done.stdout.index("Nothing was changed")


def test_the_help_of_every_command_describes_every_argument() -> None:
    for name in COMMANDS:
        for action in vars(make_parser(name))["_actions"]:
            # The actions of a command with subcommands are described one by one.
            assert action.help or action.nargs == argparse.PARSER, (name, action.dest)


def test_the_current_folder_selects_the_bank_of_its_project(tmp_path: Path) -> None:
    project = tmp_path / "work"
    (project / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    script = Script(cwd=str(project))
    script.user("The anchor chain is eight millimetres thick")
    script.write(tmp_path / "claude" / "projects")
    holdfast(tmp_path, "ingest")
    inside = holdfast(tmp_path, "recall", "anchor chain", cwd=project / "sub")
    outside = holdfast(tmp_path, "recall", "anchor chain", cwd=tmp_path)
    assert "eight millimetres" in inside.stdout
    assert "1 hit in all banks" in outside.stdout and "all banks" not in inside.stdout
