"""Every face still says what it said. What is meant to change is recorded anew, with the reason:
`python -m tests.e2e.golden`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.golden.faces import FACES, RECORDED, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.process]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What they say in a process of their own, whose clock stands still."""
    folder: Path = tmp_path_factory.mktemp("golden") / "told"
    command = [sys.executable, "-m", "tests.e2e.golden", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.txt")}


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.txt")))
def test_every_face_answers_as_recorded(name: str, told: dict[str, str]) -> None:
    expected = (RECORDED / f"{name}.txt").read_text("utf-8")
    assert told.get(name) == expected, "if this is meant: python -m tests.e2e.golden, and say why"


def test_all_that_is_asked_is_recorded(told: dict[str, str]) -> None:
    assert told.keys() == {path.stem for path in RECORDED.glob("*.txt")}
    for face in FACES:
        assert sum(f"=== {face}: " in text for text in told.values()) >= 12, face
