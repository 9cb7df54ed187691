"""The command line through its front door: a real process, a real home."""

from __future__ import annotations

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
from tests.support.transcripts import bug_hunt


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
        "confidence",
    }  # fmt: skip
    assert found["confidence"] is None
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
            assert action.help, (name, action.dest)
