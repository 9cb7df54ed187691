"""What a test run leaves behind outside of its folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
from holdfast.capture.inbox import make_inbox
from holdfast.capture.home_paths import HomePaths

@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return make_inbox(HomePaths(tmp_path_factory.mktemp("shared")))

def test_that_passes(tmp_path, shared):
    print("made", make_inbox(HomePaths(tmp_path / "home")))
    print("made", shared)

def test_that_fails(tmp_path):
    print("made", make_inbox(HomePaths(tmp_path / "home")))
    raise ValueError
"""


def test_the_inboxes_of_all_homes_are_removed(tmp_path: Path) -> None:
    (tmp_path / "test_inboxes.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-s", "-p", "tests.conftest"]
    command += ["-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=failed"]
    command += ["--rootdir", str(tmp_path), "--basetemp", str(tmp_path / "base"), str(tmp_path)]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    made = [Path(found) for found in re.findall(r"made (\S+)", text)]
    assert len(set(made)) == 3, text
    in_memory = [path for path in made if not path.is_relative_to(tmp_path)]
    assert [path for path in in_memory if path.exists()] == []
