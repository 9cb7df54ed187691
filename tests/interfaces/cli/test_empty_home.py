"""Commands that read leave an empty home as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main

READING = (
    "recall x",
    "ask x",
    "facts",
    "concepts",
    "keywords",
    "entities",
    "opinions",
    "review",
    "timeline",
    "find --file a.py",
    "who a.py",
    "status",
    "worth",
    "audit",
)


@pytest.mark.parametrize("command", READING)
def test_a_reading_command_creates_no_memory(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)
    main(command.split())
    assert not (home / "memory.db").exists()
