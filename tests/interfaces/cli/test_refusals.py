"""What a careful program does with a wrong turn: refuses, explains, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.transcripts import bug_hunt
from tests.support.waiting import wait_until


def test_a_read_only_memory_can_still_be_queried(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    bug_hunt().write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    (tmp_path / "memory.db").chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert "retry wrapper" in holdfast(tmp_path, "recall", "retry", "--bank", "all").stdout
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("passwd", "root:x:0:0\n", "does not look like a transcript"),
        ("chat.jsonl", '{"session":"s","text":"hello"}\n', "holdfast import conversation"),
    ],
)
def test_a_file_that_is_not_a_transcript_is_refused(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    done = holdfast(tmp_path, "ingest", str(tmp_path / name))
    assert done.returncode == 2 and words in done.stderr
    assert read_json(tmp_path, "status")["ledger"]["files"] == 0


@pytest.fixture(scope="module")
def read_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose memory has read a session; what is refused does not change it."""
    home = tmp_path_factory.mktemp("read")
    assert holdfast(home, "ingest", str(bug_hunt().write(home / "p"))).returncode == 0
    return home


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("show pull/99999999999999999999", "There is no record"),
        ("show #99999999999999999999", "There is no record"),
        ("show pull/²", "There is no record"),
        (f"recall x --limit {'9' * 5000}", "limit must be a whole number"),
        (f"bank set --retention {'9' * 5000} --yes", "retention must be a whole number"),
        ("timeline 10000-01-01", "'10000-01-01' is not a date."),
        ("ask when --as-of 10000-01-01", "'10000-01-01' is not a date."),
    ],
)
def test_a_number_or_date_out_of_range_is_refused(
    read_home: Path, command: str, words: str
) -> None:
    done = holdfast(read_home, *command.split(), "--bank", "all")
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert len(done.stderr) < 400


def test_a_file_belongs_to_one_bank_only(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "p")
    assert holdfast(tmp_path, "ingest", str(path), "--bank", "one").returncode == 0
    again = holdfast(tmp_path, "ingest", str(path), "--bank", "two")
    assert again.returncode == 2 and "into bank one" in again.stderr
    other = holdfast(tmp_path, "import", "conversation", str(path), "--bank", "one")
    assert other.returncode == 2 and "read as claude-code" in other.stderr


def test_interrupting_an_ingest_prints_one_sentence(tmp_path: Path) -> None:
    for number in range(60):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.tool("Bash", "x" * 400_000, command="cat log")
        script.write(tmp_path / "p")
    main = "import sys; from holdfast.interfaces.cli.main import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", main, "ingest", str(tmp_path / "p"), "--workers", "2"],
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    database = tmp_path / "home" / "memory.db-wal"
    wait_until(lambda: database.exists() or process.poll() is not None, "it writes", every_s=0.001)
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert "Traceback" not in complaint
    assert process.returncode in (0, 130)
    if process.returncode == 130:
        assert "Stopped." in complaint and "run the same command again" in complaint
