"""What an error or a note tells to do can be done by whoever reads it: agents, browsers and
programs get the same words as the command line, and have none of its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.app.memory import Holdfast
from holdfast.interfaces.mcp.engine import ToolEngine
from holdfast.interfaces.mcp.protocol import CallContext
from holdfast.settings import load_settings
from tests.support.code_files import parse_file

SOURCE = Path(holdfast.__file__).parent
# Packages whose texts reach every interface.
SHARED = ("app/answers", "app/core", "app/curation", "app/search", "app/views", "brief", "learn",
          "model", "recall", "research", "store")  # fmt: skip
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TOOLS = {
    "memory": {"question": "What is yarn for?"},
    "memory_recall": {"query": "What is yarn for?"},
    "memory_reflect": {"query": "What is yarn for?"},
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The sentences in the code of a file, without documentation; "{}" stands for a value."""
    inside: set[ast.AST] = set()
    for node in ast.walk(parse_file(path)):
        match node:
            case ast.JoinedStr(values=parts):
                inside |= set(parts)
                yield (
                    node.lineno,
                    "".join(
                        str(part.value) if isinstance(part, ast.Constant) else "{}"
                        for part in parts
                    ),
                )
            case ast.Expr(value=ast.Constant() as documentation):
                inside.add(documentation)
            case ast.Constant(value=str() as text) if node not in inside:
                yield node.lineno, text
            case _:
                pass


@pytest.mark.slow
def test_an_option_is_named_together_with_its_command() -> None:
    files = [path for folder in SHARED for path in (SOURCE / folder).rglob("*.py")]
    found = [(path, line, text) for path in files for line, text in texts(path) if " " in text]
    assert len(found) > 500
    assert not [
        (f"{path}:{line}", text)
        for path, line, text in found
        if OPTION.search(text) and "holdfast " not in text and "command line" not in text
    ]


@pytest.mark.parametrize("tool", TOOLS)
def test_an_agent_in_a_folder_without_memory_gets_a_command_it_can_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    with Holdfast(load_settings()) as memory:
        memory.remember("Packages are installed with yarn.", "shop")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    engine = ToolEngine()
    try:
        told = str(engine.call(tool, TOOLS[tool], CallContext()))
    finally:
        engine.close()
    assert "asks the memory of shop" in told
    assert "`holdfast ask QUESTION --bank shop`" in told and "use --bank" not in told
