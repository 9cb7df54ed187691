"""Where rules are learned: inside a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.refine.test_rules import project


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that we stand in."""
    made = project(tmp_path)
    monkeypatch.chdir(made)
    return made
