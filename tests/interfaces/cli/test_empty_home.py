"""Commands that read leave an empty home as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from holdfast.operations.operation import Operation
from holdfast.operations.registry import NOT_OFFERED, all_operations

READING = [
    one for one in all_operations() if not one.changes and one.name not in NOT_OFFERED["cli"]
]


@pytest.mark.parametrize("one", READING, ids=lambda one: one.name)
def test_a_reading_command_creates_nothing(
    one: Operation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "not" / "there"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.chdir(tmp_path)
    words = [p.choices[0] if p.choices else "x" for p in one.parameters if p.required]
    filtered = ["--file", "a.py"] if one.name == "find" else []
    status = main([*one.name.split(), *words, *filtered])
    said, problem = capsys.readouterr()
    assert not (tmp_path / "not").exists() and "bug in Holdfast" not in problem
    # What is named cannot be found; everything else is empty.
    assert (status == 0 and said) or (status == 2 and "\n  → " in problem), problem
