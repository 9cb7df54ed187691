from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.servers import Engine


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which a test runs, without a memory."""
    folder = tmp_path / "proj"
    folder.mkdir()
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home" / "c"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def engine(project: Path) -> Iterator[Engine]:
    """The engine of the everyday server in this project."""
    made = ToolEngine()
    yield made
    made.close()
