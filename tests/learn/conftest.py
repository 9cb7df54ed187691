"""A project folder for tests of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.refine.rules.test_rules import project


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, which is the working directory."""
    folder = project(tmp_path)
    monkeypatch.chdir(folder)
    return folder
