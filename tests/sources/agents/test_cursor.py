"""What Cursor keeps, read: the editor's database, and the transcripts of its agents."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from time import time

from holdfast.model.trust import Trust
from holdfast.sources.agent import UserEnvironment
from holdfast.sources.agents.cursor import AGENT
from tests.support.agent_samples import conversation, copy, open_memory, read, sessions, turns

CONVERSATION = "abcd1111-2222-4333-8444-555566667777"


def change(database: Path, key: str, **changed: object) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        asked = "SELECT value FROM cursorDiskKV WHERE key = ?"
        rows = connection.execute(asked, (key,)).fetchall()
        known: dict[str, object] = json.loads(rows[0][0]) if rows else {}
        value = {**known, **changed}
        row = (key, json.dumps(value))
        connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", row)


def test_messages_and_tool_calls_are_normalised(tmp_path: Path) -> None:
    found, tools, trusts = read("cursor", tmp_path)

    assert found == [
        ("user", "Why does the parser drop tabs? Fix it."),
        ("assistant", "I look at the parser first."),
        ("Grep", "src|expandtabs"),
        ("Edit", "src/parser.py|-    line = line.expandtabs()\n+    line = line.rstrip()"),
        ("Bash", "pytest -q"),
        ("user", "continue"),
        ("user", "continue"),
        ("assistant", "The parser keeps tabs now, because the linter wants them."),
        ("user", "Find every caller of parse in /home/dev/proj."),
        ("assistant", "Only src/cli.py calls parse."),
        ("Read", "src/cli.py"),
        ("user", "Run the tests and fix what fails."),
        ("Bash", "pytest -q"),
        ("assistant", "A test lacks its import."),
        ("Edit", "tests/test_tabs.py|+from parser import parse"),
        ("mcp_wiki_ask", '{"question":"Who owns the parser?"}'),
        ("assistant", "All twelve pass now."),
    ]
    assert [tool.ok for tool in tools] == [None, None, None, None, False, True, True]
    assert trusts["mcp_wiki_ask"] is Trust.EXTERNAL


def test_sessions_have_title_branch_and_parent(tmp_path: Path) -> None:
    folder = copy("cursor", tmp_path)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([folder]))
        first, inner, edited = sessions(memory)

    assert (inner.parent, inner.subagent) == (first.id, "subagent")
    assert (edited.id, edited.title, edited.branch) == (CONVERSATION, "Run the tests", "fix/tabs")


def test_an_unfinished_message_waits_and_only_new_ones_are_read(tmp_path: Path) -> None:
    database = copy("cursor", tmp_path) / "User" / "globalStorage" / "state.vscdb"
    composer = f"composerData:{CONVERSATION}"
    now = round(time() * 1000)
    with open_memory(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([database]))
        known = len(turns(memory))
        headers = [{"bubbleId": f"b{n}"} for n in range(1, 10)]
        change(database, f"bubbleId:{CONVERSATION}:b9", type=2, text="And", createdAt="2026-06-02")
        grown = {"fullConversationHeadersOnly": headers, "lastUpdatedAt": now}
        change(database, composer, **grown, generatingBubbleIds=["b9"])
        memory.ingest(memory.ingestion.find([database]))
        assert len(turns(memory)) == known
        change(database, f"bubbleId:{CONVERSATION}:b9", text="And done.")
        change(database, composer, lastUpdatedAt=now + 1, generatingBubbleIds=[])
        account = memory.ingest(memory.ingestion.find([database]))

        assert (account.lines, account.captured) == (1, 1)
        assert conversation(memory)[-1] == ("assistant", "And done.")


def test_a_transcript_that_is_also_in_the_database_is_skipped(
    tmp_path: Path,
) -> None:
    sample = copy("cursor", tmp_path)
    where = UserEnvironment(tmp_path / "home", {}, "linux")
    database, projects = AGENT.folders(where)
    database.parent.parent.mkdir(parents=True)
    (sample / "User").rename(database.parent)
    projects.parent.mkdir()
    (sample / "projects").rename(projects)
    twin = projects / "home-dev-proj" / "agent-transcripts" / CONVERSATION
    twin.mkdir()
    (twin / f"{CONVERSATION}.jsonl").write_text('{"role":"user","message":{"content":"again"}}\n')

    found = [path for folder in (database, projects) for path in AGENT.find(folder, [])]

    assert [path.name for path in found if CONVERSATION in path.name] == [CONVERSATION]
    assert len(found) == 3


def test_its_database_is_found_on_every_system() -> None:
    home = Path("/home/dev")
    assert [
        str(AGENT.folders(UserEnvironment(home, {}, system))[0].relative_to(home))
        for system in ("linux", "darwin", "win32")
    ] == [
        ".config/Cursor/User/globalStorage",
        "Library/Application Support/Cursor/User/globalStorage",
        "AppData/Roaming/Cursor/User/globalStorage",
    ]
