"""What OpenCode keeps, read: a database, many small files, or an exported document."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from time import time

from holdfast.errors import InputError
from holdfast.model.ledgers.lines import SourceState
from holdfast.model.trust import Trust
from tests.support.agent_samples import conversation, copy, open_memory, read, sessions, turns

SESSION = "ses_three00000003"


def change(database: Path, statement: str, *given: object) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement, given)


def add_message(database: Path, id: str, text: str, done: bool, updated: float) -> None:
    moment = round(updated * 1000)
    info: dict[str, object] = {"role": "assistant", "time": {"created": moment}}
    if done:
        info["time"] = {"created": moment, "completed": moment}
    part = json.dumps({"type": "text", "text": text})
    insert = "INSERT OR REPLACE INTO"
    row = (id, SESSION, moment, moment, json.dumps(info))
    change(database, f"{insert} message VALUES (?, ?, ?, ?, ?)", *row)
    change(
        database,
        f"{insert} part VALUES (?, ?, ?, ?, ?, ?)",
        *(f"prt_{id}", id, SESSION, moment, moment, part),
    )


def test_messages_and_tool_calls_are_normalised(tmp_path: Path) -> None:
    found, tools, trusts = read("opencode", tmp_path)

    assert found == [
        ("user", "Why does the parser drop tabs? Fix it."),
        ("user", "[file parser.py]"),
        ("assistant", "I look at the parser first."),
        ("Grep", "src|expandtabs"),
        ("Edit", "src/parser.py|-    line = line.expandtabs()\n+    line = line.rstrip()"),
        ("Write", "tests/test_tabs.py|+def test_tabs_stay() -> None: ..."),
        ("Bash", "pytest -q"),
        ("Read", "src/gone.py"),
        ("wiki_ask", '{"question":"Who owns the parser?"}'),
        ("Agent", "general|Find callers of parse"),
        ("assistant", "The parser keeps tabs now, because the linter wants them."),
        ("user", "Find every caller of parse."),
        ("assistant", "Only src/cli.py calls parse."),
        ("user", "Run the tests."),
        ("Bash", "pytest -q"),
        ("assistant", "All twelve pass."),
    ]
    assert [tool.ok for tool in tools] == [True, True, True, False, False, True, True, True]
    assert trusts["wiki_ask"] is Trust.EXTERNAL


def test_sessions_have_title_version_and_parent(tmp_path: Path) -> None:
    folder = copy("opencode", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        first, inner, third = sessions(memory)

    assert (first.title, first.version) == ("Keep tabs in the parser", "1.2.21")
    assert (inner.parent, inner.subagent) == (first.id, "general")
    assert (third.id, third.title) == (SESSION, "Run the tests")


def test_every_session_of_the_database_is_a_source(tmp_path: Path) -> None:
    database = copy("opencode", tmp_path) / "opencode.db"
    with open_memory(tmp_path) as memory:
        (found,) = memory.ingestion.find([database])
        memory.ingest([found])

        assert found.path == database / SESSION
        assert memory.ingestion.find([database / SESSION]) == [found]
        assert memory.ingest([found]).lines == 0
        change(database, "DELETE FROM session")
        memory.ingest([])
        assert memory.reader.sources.all()[0].state is SourceState.GONE
        assert len(turns(memory)) == 3


def test_only_new_messages_are_read_and_an_unfinished_one_waits(tmp_path: Path) -> None:
    database = copy("opencode", tmp_path) / "opencode.db"
    now = time()
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([database]))
        add_message(database, "msg_z1", "Still writ", done=False, updated=now)
        assert memory.ingest(memory.ingestion.find([database])).lines == 0
        add_message(database, "msg_z1", "Still writing this, and done.", done=True, updated=now)
        account = memory.ingest(memory.ingestion.find([database]))

        assert (account.lines, account.captured) == (2, 1)
        assert [line[1] for line in conversation(memory)][-2:] == [
            "All twelve pass.",
            "Still writing this, and done.",
        ]
        assert memory.reader.sources.all()[0].rewrites == 0


def test_a_message_that_never_ended_is_read_after_a_while(tmp_path: Path) -> None:
    database = copy("opencode", tmp_path) / "opencode.db"
    with open_memory(tmp_path) as memory:
        add_message(database, "msg_z1", "Cut off here", done=False, updated=time() - 3600)
        memory.ingest(memory.ingestion.find([database]))

        assert conversation(memory)[-1] == ("assistant", "Cut off here")


def test_changed_messages_are_read_again_without_duplicates(tmp_path: Path) -> None:
    database = copy("opencode", tmp_path) / "opencode.db"
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([database]))
        before = [turn.id for turn in turns(memory)]
        change(
            database,
            "UPDATE part SET data = json_set(data, '$.state.time.compacted', 1) "
            "WHERE id = 'prt_f2'",
        )
        change(database, "UPDATE session SET time_updated = time_updated + 1")
        memory.ingest(memory.ingestion.find([database]))
        (source,) = memory.reader.sources.all()
        balance = memory.inventory.balance()

        assert before and [turn.id for turn in turns(memory)] == before
        assert source.rewrites == 1
        assert balance.lines == balance.accounted


def test_a_database_of_another_format_is_refused_with_a_reason(tmp_path: Path) -> None:
    database = tmp_path / "opencode.db"
    change(database, "CREATE TABLE other (id)")
    problems: list[str] = []
    with open_memory(tmp_path) as memory:
        assert memory.ingestion.find([database], problems=problems) == []
        try:
            memory.ingestion.find([database / "ses_x"])
        except InputError as error:
            problems.append(error.message)

    assert len(problems) == 2 and "no such table" in problems[0]
