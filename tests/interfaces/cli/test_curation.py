"""Curation through the front door: asks first, refuses without a terminal, and says what it did."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.store.sqlite.migrate import back_up
from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.sample_memory import SESSION, sample_session

SECRET = "swordfish-7731-zanzibar"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    script = sample_session()
    script.user(f"The harbour office opens with {SECRET} on weekdays.")
    script.assistant("Noted, I keep the word of the harbour office to myself.")
    script.write(tmp_path / "claude" / "projects")
    done = holdfast(tmp_path, "ingest", "--embed", "none")
    assert done.returncode == 0, done.stderr
    return tmp_path


def exchange(home: Path, word: str) -> str:
    found = read_json(home, "find", "--since", "2026-01", "--bank", "all")["findings"]
    return next(f["uri"] for f in found if f["kind"] == "exchange" and word in f["title"])


def run_ok(home: Path, *arguments: str, **more: Any) -> str:
    done = holdfast(home, *arguments, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_removing_and_overwriting_need_yes_without_a_terminal(home: Path) -> None:
    id = exchange(home, "yawl")
    other = exchange(home, "ketch")
    for arguments in (
        ("forget", id),
        ("purge", id),
        ("correct", id, "other words"),
        ("merge", id, other),
        ("scrub", SECRET),
    ):
        done = holdfast(home, *arguments)
        assert done.returncode == 2, arguments
        assert "--yes" in done.stderr and "Nothing was changed" in done.stderr
    run_ok(home, "forget", id, "--yes")
    assert holdfast(home, "undo").returncode == 2
    assert "Traceback" not in holdfast(home, "undo").stderr


def test_a_scrub_counts_what_it_erases_and_never_prints_it(home: Path) -> None:
    looked = read_json(home, "scrub", SECRET, "--dry-run")
    assert looked["erased"] is False
    assert looked["records"] == {"turn": 1}
    output = run_ok(home, "scrub", SECRET, "--yes")
    assert "1 turn" in output and SECRET not in output
    assert f"{SESSION}.jsonl (not changed)" in output
    held = [path for path in home.rglob("*") if path.is_file() and "claude" not in path.parts]
    assert not [path for path in held if SECRET.encode() in path.read_bytes()]
    assert "No matches in memory" in run_ok(home, "scrub", SECRET, "--yes")
    status = read_json(home, "status", "--bank", "all")["ledger"]
    skipped = sum(status["skipped"].values())
    assert status["lines"] == status["captured"] + skipped + status["failed"] + status["pending"]


def test_a_scrub_pattern_can_come_from_standard_input(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text(SECRET + "\n")
    with (tmp_path / "secret.txt").open() as file:
        done = subprocess.run(
            ["sh", "-c", 'exec "$@"', "sh", *command(home, "scrub", "-", "--yes")],
            stdin=file, capture_output=True, text=True, timeout=60, env=environment(home),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 turn" in done.stdout
    assert "no pattern" in holdfast(home, "scrub", "-", "--yes").stderr


def command(home: Path, *arguments: str) -> list[str]:
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    return [sys.executable, "-c", main, *arguments]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "claude")}


def test_a_purge_names_backups_and_removes_them_on_request(home: Path) -> None:
    id = exchange(home, "yawl")
    with closing(sqlite3.connect(home / "memory.db")) as raw:
        copy = back_up(raw, home / "memory.db", 9)
    output = run_ok(home, "purge", id, "--yes")
    assert "Erased permanently: 3 turns" in output and str(copy) in output
    assert copy.exists()
    for command in (("show",), ("restore",), ("forget", "--yes")):
        done = holdfast(home, command[0], id, *command[1:])
        assert done.returncode == 2 and "was erased permanently" in done.stderr, command
    id = exchange(home, "ketch")
    assert "Removed 1 backup" in run_ok(home, "purge", id, "--yes", "--backups")
    assert not copy.exists()
