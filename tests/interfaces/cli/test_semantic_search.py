"""Search by meaning through the front door, also where its model cannot be used."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import holdfast as package
from holdfast.inference import packaged
from holdfast.store.sqlite.store import SqliteStore
from tests.interfaces.cli.test_cli import holdfast, read_json
from tests.support.transcripts import bug_hunt

MODEL = packaged.EMBEDDER_NAME
NOWHERE = {"HOLDFAST_EMBEDDER": "/nonexistent"}


def waiting(home: Path) -> int:
    with closing(SqliteStore(home / "memory.db")) as store:
        return store.vectors.count_unembedded(MODEL)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    bug_hunt().write(folder / "claude" / "projects")
    return folder


def test_ingest_embeds_nothing_some_or_everything(home: Path) -> None:
    done = holdfast(home, "ingest", "--embed", "none")
    assert done.returncode == 0 and not (home / "vectors").exists()
    assert "by meaning" not in done.stdout + done.stderr
    everything = waiting(home)
    assert everything > 3
    assert read_json(home, "ingest", "--embed", "none")["without_vectors"] is None
    assert waiting(home) == everything
    some = holdfast(home, "ingest", "--embed", "some")
    assert some.returncode == 0
    assert f"Embedded {everything} records for search by meaning." in some.stdout
    assert waiting(home) == 0
    assert read_json(home, "ingest", "--embed", "all")["without_vectors"] == 0
    refused = holdfast(home, "ingest", "--embed", "most")
    assert refused.returncode == 2


def test_ingest_stores_what_it_read_and_reports_an_unusable_model(tmp_path: Path) -> None:
    bug_hunt().write(tmp_path / "claude" / "projects")
    done = holdfast(tmp_path, "ingest", env=NOWHERE)
    assert done.returncode == 0
    assert "12 captured + 1 skipped + 0 failed = 13" in done.stdout
    assert "not prepared for search by meaning: /nonexistent is not a folder" in done.stderr
    assert "Traceback" not in done.stderr
    recalled = holdfast(tmp_path, "recall", "retry wrapper", "--bank", "all", env=NOWHERE)
    assert recalled.returncode == 0 and "failed" not in recalled.stdout


def test_recall_answers_by_words_if_the_model_is_unusable(home: Path) -> None:
    holdfast(home, "ingest")
    asked = ("recall", "retry wrapper", "--bank", "all", "--budget", "mid")
    found = read_json(home, *asked)
    assert [a["problem"] for a in found["strategies"] if a["name"] == "semantic"] == [""]
    done = holdfast(home, *asked, env=NOWHERE)
    assert done.returncode == 0 and done.stderr == ""
    said = " ".join(done.stdout.split())
    assert "semantic failed: /nonexistent is not a folder" in said and "retry wrapper" in said
    missed = holdfast(home, "recall", "zymurgy", "--bank", "all", env=NOWHERE)
    said = " ".join(missed.stdout.split())
    assert missed.returncode == 0 and "semantic failed: /nonexistent is not a folder" in said
    question = "which mistake made every entry appear twice in the report"
    answer = holdfast(home, "ask", question, "--bank", "all", env=NOWHERE)
    said = " ".join(answer.stdout.split())
    assert answer.returncode == 0 and "By words alone: /nonexistent is not a folder" in said


def change_last_byte(path: Path) -> None:
    """Change a file, or change it back."""
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))


def test_a_modified_packaged_model_is_refused(home: Path, tmp_path: Path) -> None:
    holdfast(home, "ingest")
    shutil.copytree(Path(package.__file__).parent, tmp_path / "holdfast")
    model = tmp_path / "holdfast" / packaged.EMBEDDER.relative_to(Path(package.__file__).parent)
    change_last_byte(model)
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "HOLDFAST_HOME": str(home)}
    env["CLAUDE_CONFIG_DIR"] = str(home / "claude")

    def run_copy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)

    done = run_copy("-m", "holdfast", "recall", "retry wrapper", "--bank", "all", "--budget", "mid")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    assert "semantic failed: " in said and str(model) in said and "retry wrapper" in said
    read = run_copy("-m", "holdfast", "ingest")
    assert read.returncode == 0 and "not prepared for search by meaning" in read.stderr
    checked = run_copy("-c", CHECK_TWICE)
    assert checked.stdout.split() == ["BROKEN", "OK"], checked.stderr


# A server examines its home many times, and must see that the model was put back.
CHECK_TWICE = f"""
import os
from pathlib import Path
from holdfast.app.doctor.examine import run_checks
from holdfast.inference import packaged
from holdfast.settings import load_settings

{inspect.getsource(change_last_byte)}

def print_grade():
    checks = run_checks(load_settings(os.environ), None)
    print(*(check.grade.name for check in checks if check.name == "model"))

print_grade()
change_last_byte(packaged.EMBEDDER)
print_grade()
"""
