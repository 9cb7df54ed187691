"""What leaves a file comes back on a server, and leaves it the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.app.memory import Holdfast, open_memory
from holdfast.settings import Settings
from tests.app.transfer.test_exporting import QUESTIONS, export, filled
from tests.support.foreign_exports import claude_mem
from tests.support.postgres_server import Server


def test_an_export_is_the_same_from_a_file_and_from_a_server(
    postgres: Server, tmp_path: Path
) -> None:
    with filled(tmp_path) as memory:
        first = export(memory, tmp_path / "one.jsonl")
        told = texts(memory)
    assert told
    there = replace(
        Settings(tmp_path / "server", tmp_path / "claude"), store=postgres.empty_database()
    )
    with open_memory(there) as server:
        server.imports.import_export(tmp_path / "one.jsonl")
        assert export(server, tmp_path / "two.jsonl") == first
        assert texts(server) == told
        assert sum(server.imports.import_export(tmp_path / "one.jsonl").added.values()) == 0
        path = claude_mem(tmp_path / "more.db")
        took = server.imports.import_records("claude-mem", path, bank="more")
        assert server.recall("sails hemp cloth", bank="more").hits
        server.imports.undo_import(took.uri)
        assert server.recall("sails hemp cloth", bank="more").hits == ()


def texts(memory: Holdfast) -> list[bool]:
    """Whether each question has an answer: the order of hits differs between the engines."""
    return [bool(memory.recall(question, bank="all").hits) for question in QUESTIONS]
