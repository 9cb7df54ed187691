"""What a careful program does with a wrong turn: refuses, explains, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.transcripts import Script, bug_hunt
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


def test_a_factor_that_lowers_a_hit_is_not_listed_as_raising_it(tmp_path: Path) -> None:
    script = Script()
    script.user("Why does the gauge fail?")
    script.tool("Bash", "GaugeTimeoutError: no answer from the gauge", command="python gauge.py")
    script.assistant("A timeout of the gauge is no error of ours, and no reading was lost by it.")
    script.write(tmp_path / "p")
    holdfast(tmp_path, "ingest", "--embed", "none", str(tmp_path / "p"))
    found = holdfast(tmp_path, "recall", "GaugeTimeoutError", "--bank", "all", "--explain").stdout
    first, _, rest = found.partition("above the next by ")
    assert "tool ×0.85" in first and "direct_fts" in rest.partition("\n")[0]
    assert "tool +" not in rest.partition("\n")[0]


def test_show_raw_reports_a_deleted_transcript_beside_its_output(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    uri = read_json(tmp_path, "recall", "retry", "--bank", "all")["hits"][0]["uri"]
    path.unlink()
    done = holdfast(tmp_path, "show", uri, "--raw")
    assert (done.returncode, done.stdout) == (1, "") and "gone" in done.stderr


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


def test_an_empty_variable_does_not_mean_the_current_folder(tmp_path: Path) -> None:
    done = holdfast(tmp_path, "ingest", "")
    assert done.returncode == 2 and "the path is empty" in done.stderr


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


def test_the_bank_variable_works_like_the_bank_option(tmp_path: Path) -> None:
    bug_hunt().write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    right = holdfast(tmp_path, "recall", "retry wrapper", env={"HOLDFAST_BANK": "Proj"})
    wrong = holdfast(tmp_path, "recall", "retry wrapper", env={"HOLDFAST_BANK": "typo"})
    assert "retry wrapper" in right.stdout
    assert wrong.returncode == 2 and "There is no bank 'typo'" in wrong.stderr


def test_a_folder_without_memory_searches_all_banks_and_has_no_brief(tmp_path: Path) -> None:
    bug_hunt().write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    for command in ("ask", "recall"):
        found = holdfast(tmp_path, command, "retry wrapper", cwd=tmp_path).stdout
        assert "· proj" in found and "holdfast://" in found
    said = " ".join(holdfast(tmp_path, "brief", cwd=tmp_path).stdout.split())
    assert "`holdfast ask QUESTION --bank proj` asks the memory of proj; other" in said
    holdfast(tmp_path, "remember", "We paint the yawl in May.", "--bank", "boats")
    said = " ".join(holdfast(tmp_path, "brief", cwd=tmp_path).stdout.split())
    assert "There are 2 banks: boats, proj. `holdfast ask QUESTION --bank NAME` asks one" in said


def test_a_subfolder_of_a_project_without_git_uses_its_bank(tmp_path: Path) -> None:
    project = tmp_path / "plain"
    (project / "src" / "deep").mkdir(parents=True)
    script = Script(cwd=str(project))
    script.user("The keel is made of lead")
    script.write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    assert "made of lead" in holdfast(tmp_path, "recall", "keel", cwd=project / "src/deep").stdout


def test_a_session_that_starts_with_a_screenshot_finds_its_project(tmp_path: Path) -> None:
    script = Script()
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 900_000}}
    first = script.user("look")
    first["message"]["content"] = [picture, {"type": "text", "text": "What is wrong here?"}]
    script.write(tmp_path / "p")
    holdfast(tmp_path, "ingest", str(tmp_path / "p"))
    assert [bank["name"] for bank in read_json(tmp_path, "status")["banks"]] == ["proj"]


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
