"""Samples of what agents keep, made by hand in the shapes that the real programs write, and a
memory that has read them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.model.records import Session, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory

RECORDED = Path(__file__).parents[1] / "recorded" / "agents"
NOW = "2026-07-01T00:00:00.000Z"


def copy(name: str, to: Path) -> Path:
    """A copy of the samples of an agent that may be changed, databases made of their texts."""
    folder = Path(shutil.copytree(RECORDED / name, to / name))
    for text in folder.rglob("*.sql"):
        ending = ".vscdb" if text.stem == "state" else ".db"
        with closing(sqlite3.connect(text.with_suffix(ending))) as made:
            made.executescript(text.read_text("utf-8"))
    return folder


def open_memory(home: Path) -> Holdfast:
    """A memory of its own, whose user has no agents."""
    settings = Settings(home / "holdfast", home / "claude")
    return Holdfast(with_empty_memory(settings), lambda: NOW)


class SampleReading(NamedTuple):
    """What became of an agent's samples: what was said and done, the calls, and whose words the
    results of each tool are."""

    conversation: list[tuple[str, str]]
    tools: list[ToolCall]
    trusts: dict[str, Trust]


def read(name: str, to: Path) -> SampleReading:
    """The samples of an agent, read into a memory of their own."""
    folder = copy(name, to)
    with open_memory(to) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        called = [(turn.tool, turn.trust) for turn in turns(memory) if turn.tool]
        trusts = {tool.name: trust for tool, trust in called}
        return SampleReading(conversation(memory), [tool for tool, _ in called], trusts)


def conversation(memory: Holdfast) -> list[tuple[str, str]]:
    """What was said and done, in its order: who, and the words or the deed."""
    return [
        (turn.tool.name, f"{turn.tool.target}|{turn.tool.action}".strip("|"))
        if turn.tool
        else (turn.role.value, turn.text)
        for turn in turns(memory)
    ]


def turns(memory: Holdfast) -> list[Turn]:
    """Every turn, session by session."""
    reader = memory.reader
    return [
        turn
        for session in sessions(memory)
        for turn in reader.turns.stream(session.bank, session.id)
    ]


def sessions(memory: Holdfast) -> list[Session]:
    """Every session, the first one first."""
    return sorted(memory.reader.sessions.latest(None, 1000), key=lambda one: one.started)
