from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, StoreFullError
from holdfast.model.ledgers.lines import SourceState
from holdfast.model.records import Role
from holdfast.refine.sessions.exchanges import LIMITS
from holdfast.settings import Settings
from holdfast.sources.lines import LINE_LIMIT
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script, bug_hunt

NOW = "2026-11-01T00:00:00.000Z"


def open_at(home: Path, **more: tuple[str, ...]) -> Holdfast:
    settings = Settings(home=home / "home", claude_dir=home / "claude", **more)  # pyright: ignore[reportArgumentType]
    return Holdfast(with_empty_memory(settings), now=lambda: NOW)


def texts(memory: Holdfast, session: str) -> list[str]:
    found = memory.reader.sessions.latest(None, 1000)
    bank = next(s.bank for s in found if s.id == session)
    return [turn.text or f"{turn.tool}" for turn in memory.reader.turns.of_session(bank, session)]


def test_a_session_becomes_turns_an_exchange_and_a_digest(tmp_path: Path) -> None:
    script = bug_hunt()
    path = script.write(tmp_path)
    with open_at(tmp_path) as memory:
        account = memory.ingest(memory.ingestion.find([path]))
        (session,) = memory.reader.sessions.latest(None)
        turns = memory.reader.turns.of_session(session.bank, session.id)
        (exchange,) = memory.reader.sessions.exchanges(session.bank, session.id)
        digest = memory.reader.sessions.digest(session.bank, session.id)
    assert account.lines == len(script.lines) == account.captured + account.skipped
    assert [turn.role for turn in turns].count(Role.TOOL) == 4
    assert [turn.seq for turn in turns] == list(range(1, len(turns) + 1))
    assert exchange.type.value == "bugfix" and exchange.outcome.value == "done"
    assert exchange.files_modified == ("src/importer.py",)
    assert any("root cause was the retry wrapper" in fact for fact in exchange.facts)
    assert (exchange.first_seq, exchange.last_seq) == (1, len(turns))
    assert digest is not None and "nightly import" in digest.request


def test_a_growing_session_is_derived_again_only_from_the_change(tmp_path: Path) -> None:
    script = Script()
    for number in range(3):
        script.user(f"Please look at part {number} of the harbour plan")
        script.assistant(f"Part {number} of the plan is about the quay wall and its height.")
    path = script.write(tmp_path)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
    before = rowids(tmp_path)
    script.user("And now the mooring bollards")
    script.assistant("The bollards stand four metres apart along the whole quay.")
    script.write(tmp_path)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        (session,) = memory.reader.sessions.latest(None)
        assert len(memory.reader.sessions.exchanges(session.bank, session.id)) == 4
    after = rowids(tmp_path)
    stayed = {text for text, id in before.items() if after.get(text) == id}
    assert sum("Part 0" in text or "Part 1" in text for text in stayed) == 4
    assert any("bollards stand" in text for text in after)


def rowids(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "home" / "memory.db")) as connection:
        return dict(connection.execute("SELECT body, rowid FROM passage WHERE kind <> 'memory'"))


@pytest.mark.slow
@pytest.mark.model
def test_an_exchange_too_large_for_memory_is_still_built(
    tmp_path: Path,
) -> None:
    # Of long words: the size matters here, and each sentence of as many would be weighed.
    tide = "springtide" * 2000 + ". "
    script = Script()
    script.user("Tell me everything about the tides")
    for number in range(20):
        script.assistant(
            f"Chapter {number}: " + tide * (LIMITS.group_characters // 20 // len(tide) + 1)
        )
    decided = "We decided to write the chapters in the order of the harbours. "
    script.assistant(
        decided * (LIMITS.turn_start_characters // len(decided) + 1) + "Not the coast."
    )
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([script.write(tmp_path)]))
        (session,) = memory.reader.sessions.latest(None)
        (exchange,) = memory.reader.sessions.exchanges(session.bank, session.id)
        turns = memory.reader.turns.of_session(session.bank, session.id)
    assert "order of the harbours" in exchange.summary
    assert "order of the harbours" in exchange.details and "Not the coast" not in exchange.details
    assert sum(len(turn.text) for turn in turns) > LIMITS.group_characters
    assert turns[-1].text.endswith("Not the coast."), "what is kept is whole"


def test_a_title_after_skipped_lines_is_stored_the_same_in_one_run_or_two(
    tmp_path: Path,
) -> None:
    script = Script()
    script.result("toolu_unheard_of", "an answer to nobody")
    script.lines.append({"type": "ai-title", "aiTitle": "Tides", "sessionId": script.session})
    kept: list[object] = []
    for name, cuts in (("whole", [2]), ("split", [1, 2])):
        home = tmp_path / name
        with open_at(home) as memory:
            for cut in cuts:
                part = Script()
                part.lines += script.lines[:cut]
                memory.ingest(memory.ingestion.find([part.write(home)]))
            found = memory.reader.sessions.latest(None)
            kept.append([(s.id, s.title, s.cwd, s.branch, s.version) for s in found])
    assert kept[0] == kept[1] and kept[0]


@pytest.mark.parametrize("order", [("titled", "later"), ("later", "titled")])
def test_a_summary_in_a_later_file_titles_the_session_in_either_order(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    titled = Script()
    titled.user("Why do the pontoons float?")
    titled.assistant("They are hollow.")
    later = Script(session="22222222-0000-4000-8000-000000000002")
    leaf = titled.lines[-1]["uuid"]
    later.lines.append({"type": "summary", "summary": "Hollow pontoons", "leafUuid": leaf})
    later.user("Paint the harbour wall.")
    files = {"titled": titled.write(tmp_path), "later": later.write(tmp_path)}
    with open_at(tmp_path) as memory:
        for name in order:
            memory.ingest(memory.ingestion.find([files[name]]))
        found = {s.id: s for s in memory.reader.sessions.latest(None)}
        digest = memory.reader.sessions.digest(found[titled.session].bank, titled.session)
        paths = {s.id: s.path for s in memory.reader.sources.all()}
    assert found.keys() == {titled.session, later.session}
    assert found[titled.session].title == "Hollow pontoons" and not found[later.session].title
    assert paths[found[titled.session].source] == str(files["titled"])
    assert digest is not None and "Hollow pontoons" in digest.request


def test_the_same_line_in_a_forked_file_counts_once(tmp_path: Path) -> None:
    original = bug_hunt()
    fork = Script("99999999-0000-4000-8000-000000000009")
    fork.lines += [{**line, "sessionId": fork.session} for line in original.lines]
    fork.user("A different way from here on")
    first, second = original.write(tmp_path), fork.write(tmp_path)
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path]))
        balance = memory.inventory.balance()
        assert texts(memory, fork.session) == ["A different way from here on"]
    assert (balance.skipped or {})["duplicate"] == len(original.lines) - 1  # thinking is not kept
    assert balance.accounted == balance.lines == 2 * len(original.lines) + 1


def test_a_rewritten_file_is_noticed_and_loses_no_turns(tmp_path: Path) -> None:
    script = bug_hunt()
    path = script.write(tmp_path)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        before = texts(memory, script.session)
        rewritten = Script(script.session)
        rewritten.lines = [*script.lines[4:]]
        rewritten.user("Written after the file was cut")
        path.write_bytes(rewritten.dumps())
        memory.ingest(memory.ingestion.find([path]))
        (source,) = memory.reader.sources.all()
        after = texts(memory, script.session)
        balance = memory.inventory.balance()
    assert source.rewrites == 1
    assert after == [*before, "Written after the file was cut"]
    assert balance.accounted == balance.lines == len(rewritten.lines)


def test_a_transcript_that_moves_with_its_worktree_is_continued(tmp_path: Path) -> None:
    script = bug_hunt()
    path = script.write(tmp_path / "projects")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        script.cwd = "/home/dev/proj/.claude/worktrees/wt1"
        script.user("Now in the worktree")
        path.unlink()
        moved = script.write(tmp_path / "projects")
        account = memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        (source,) = memory.reader.sources.all()
        assert source.path == str(moved) and moved != path
        assert (account.lines, account.gone) == (1, [])
        assert texts(memory, script.session)[-1] == "Now in the worktree"
        assert len(memory.reader.banks.all()) == 1


def test_a_file_that_vanished_is_reported_once_and_what_was_read_stays(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "projects")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        kept = memory.inventory.counts()
        path.unlink()
        first = memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        second = memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        (source,) = memory.reader.sources.all()
        assert [gone.path for gone in first.gone] == [str(path)] and second.gone == []
        assert source.state is SourceState.GONE
        assert memory.inventory.counts() == kept
        assert memory.recall("retry wrapper timeout", bank="all").hits


def test_a_subagent_is_a_session_of_its_own_under_its_parent(tmp_path: Path) -> None:
    parent = bug_hunt()
    path = parent.write(tmp_path)
    child = Script(parent.session)
    child.user("List the callers of load()", agentId="a1b2", isSidechain=True)
    child.assistant("load() has three callers.", agentId="a1b2", isSidechain=True)
    for number, line in enumerate(child.lines):
        line["uuid"] = f"child-{number}"
    nested = path.with_suffix("") / "subagents" / "agent-a1b2.jsonl"
    nested.parent.mkdir(parents=True)
    nested.write_bytes(child.dumps())
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path]))
        found = {session.id: session for session in memory.reader.sessions.latest(None)}
        inner = found[f"{parent.session}:a1b2"]
        assert (inner.host, inner.parent) == (parent.session, parent.session)
        hit = memory.recall("callers of load", bank="all").hits[0]
        assert hit.session == parent.session
        assert len(memory.reader.banks.all()) == 1


@pytest.mark.slow
def test_a_giant_line_and_a_torn_one_are_read_in_little_memory(tmp_path: Path) -> None:
    script = Script()
    script.user("before the giant")
    call = script.call("Bash", command="cat big.log")
    script.result(call, "é\\\n" * (LINE_LIMIT // 3))  # six bytes each, so twice the limit
    script.user("after the giant")
    path = script.write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"us')
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        balance = memory.inventory.balance()
        (session,) = memory.reader.sessions.latest(None)
        turns = memory.reader.turns.of_session(session.bank, session.id)
    assert [turn.text for turn in turns if turn.text] == ["before the giant", "after the giant"]
    assert turns[1].tool is not None and turns[1].tool.ok
    assert (balance.accounted, balance.pending) == (4, 1)


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    script = Script()
    script.user(f"Use {token} for the upload")
    script.assistant(f"export GITHUB_TOKEN={token}")
    script.tool("Bash", f"error: {token} was refused", error=True, command=f"curl -H {token}")
    script.add({"type": "custom-title", "customTitle": token, "sessionId": script.session})
    path = script.write(tmp_path)
    with path.open("ab") as file:
        file.write(f'{{"broken": "{token}\n'.encode())
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        redacted = memory.inventory.balance().redacted or {}
        assert "[redacted:github-token]" in texts(memory, script.session)[0]
    assert redacted["github-token"] >= 4
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert token.encode() not in file.read_bytes(), file


def test_private_text_and_excluded_tools_paths_and_projects_are_left_out(
    tmp_path: Path,
) -> None:
    script = Script()
    script.user("Public words <private>my salary is 5</private>")
    script.user("<private>all of this</private>")
    script.tool("WebFetch", "ok", url="https://example.com", prompt="x")
    script.tool("Read", "ok", file_path="/home/dev/proj/secrets/key.pem")
    script.tool("Read", "ok", file_path="/home/dev/proj/src/a.py")
    other = Script("77777777-0000-4000-8000-000000000001", cwd="/home/dev/hidden/sub")
    other.user("This project is nobody's business")
    script.write(tmp_path / "p")
    other.write(tmp_path / "p")
    with open_at(
        tmp_path,
        exclude_tools=("Web*",),
        exclude_paths=("secrets/*",),
        exclude_projects=("/home/dev/hidden",),
    ) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        kept = texts(memory, script.session)
        balance = memory.inventory.balance()
        assert not memory.recall("nobody's business", bank="all").hits
    assert len(kept) == 2 and kept[0] == "Public words [redacted:private]"
    assert "src/a.py" in kept[1]
    skipped = balance.skipped or {}
    assert (skipped["private"], skipped["excluded"]) == (1, 3)
    assert skipped["orphan-result"] == 2
    assert balance.accounted == balance.lines


@pytest.mark.parametrize(
    ("name", "content", "captured"),
    [
        ("empty", b"", 0),
        ("binary", bytes(range(256)) * 40, 0),
        ("nul bytes", b"\x00" * 5000 + b"\n", 0),
        ("one bracket", b"[" * 100_000 + b"\n", 0),
        ("deep", b'{"type":"user","message":' + b"[" * 5000 + b"]" * 5000 + b"}\n", 0),
        ("numbers", b"1\n2\n3\n", 0),
        ("only newlines", b"\n\n\n", 0),
        ("crlf", b'{"type":"user","message":{"content":"hi there"},"uuid":"u1"}\r\n', 1),
        ("bom", b'\xef\xbb\xbf{"type":"user","message":{"content":"hi"},"uuid":"u1"}\n', 1),
        ("latin-1", b'{"type":"user","message":{"content":"caf\xe9"},"uuid":"u1"}\n', 1),
        ("half emoji", b'{"type":"user","message":{"content":"x \\ud83d y"},"uuid":"u1"}\n', 1),
        ("bad clock", b'{"type":"user","message":{"content":"a"},"timestamp":"soon"}\n', 1),
        ("odd clock", b'{"type":"user","message":{"content":"a"},"timestamp":1e300}\n', 1),
    ],
)
def test_bad_input_is_accounted_for(
    tmp_path: Path, name: str, content: bytes, captured: int
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        balance = memory.inventory.balance()
    assert balance.captured == captured
    assert balance.accounted + balance.pending == balance.lines
    on_disk = content.count(b"\n") + (content[-1:] not in (b"", b"\n"))
    assert balance.lines == on_disk


def test_time_running_backwards_keeps_the_order_of_the_file(tmp_path: Path) -> None:
    script = Script()
    script.user("first")
    script.assistant("second", timestamp="2001-01-01T00:00:00.000Z")
    script.user("third")
    path = script.write(tmp_path)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        assert texts(memory, script.session) == ["first", "second", "third"]


def test_an_unreadable_file_is_noted_and_the_others_are_read(tmp_path: Path) -> None:
    good = bug_hunt().write(tmp_path / "p")
    bad = good.with_name("33333333-0000-4000-8000-000000000001.jsonl")
    bad.symlink_to(tmp_path / "nowhere" / "loop.jsonl")
    loop = good.with_name("44444444-0000-4000-8000-000000000001.jsonl")
    loop.write_text("{}")
    if os.geteuid() != 0:
        loop.chmod(0)
    with open_at(tmp_path) as memory:
        account = memory.ingest(
            [*memory.ingestion.find([tmp_path / "p"]), *memory.ingestion.find([good])]
        )
        assert account.captured > 5
        if os.geteuid() != 0:
            assert any(
                "cannot be read" in problem for problem in memory.inventory.balance().problems
            )


def test_a_missing_path_is_a_clear_error(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory, pytest.raises(InputError, match="does not exist"):
        memory.ingestion.find([tmp_path / "nothing"])


def limit_pages(memory: Holdfast) -> Callable[[int], None]:
    """A real SQLITE_FULL: the open connection may add only so many pages."""
    connection = cast(sqlite3.Connection, memory.reader.__dict__["_raw"])

    def set_pages(more: int) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + more}")

    return set_pages


@pytest.mark.slow
def test_a_full_disk_loses_nothing_and_ingest_continues_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    for number in range(30):
        script = bug_hunt(f"{number:08x}-0000-4000-8000-000000000001")
        script.user("padding " * 2000)
        script.write(folder)
    with open_at(tmp_path) as memory:
        set_pages = limit_pages(memory)
        set_pages(60)
        with pytest.raises(StoreFullError, match="No room"):
            memory.ingest(memory.ingestion.find([folder]))
        half = memory.inventory.balance()
        assert half.accounted + half.pending == half.lines
        set_pages(1_000_000)
        memory.ingest(memory.ingestion.find([folder]))
        whole = memory.inventory.balance()
    assert whole.pending == 0 and whole.files == 30
    assert whole.accounted == whole.lines


def test_a_conversation_keeps_its_own_ids(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines = [
        {"session": "s1", "id": "D1:1", "time": "2023-05-08", "speaker": "Ann", "text": "I sail."},
        {"session": "s1", "id": "D1:2", "speaker": "assistant", "text": "Which boat?"},
        {"session": "s1", "id": "D1:3", "speaker": "Ann", "text": "A dinghy called Petrel."},
        {"id": "no text"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with open_at(tmp_path) as memory:
        first = memory.imports.import_conversation(path, "boats")
        again = memory.imports.import_conversation(path, "boats")
        hit = memory.recall("dinghy Petrel", bank="boats").hits[0]
    assert (first.captured, first.failed, again.lines) == (3, 1, 0)
    assert (hit.source.id, hit.source.line, hit.session) == ("D1:3", 3, "s1")
    assert hit.trust.value == "import"
