from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InputError
from holdfast.model.ledgers.lines import SourceState
from holdfast.model.records import Role, Turn
from holdfast.refine.hooks.reconcile import find_unread
from holdfast.sources.claude_code.events import AGENT
from holdfast.store.sqlite.store import SqliteStore
from tests.support.inbox_home import RECORDED, SESSION, Home, recorded
from tests.support.laws import costly
from tests.support.transcripts import Script

TRANSCRIPTS = Path(__file__).parents[2] / "recorded" / "transcripts"
SECRET = "sk-" + "ant-api03-" + "Zk3m9QpL7vT2xW8yAb4cDe6fGh1jKl5nMo0pQr"


def check_balance(home: Home) -> None:
    with home.open() as memory:
        balance = memory.inventory.balance()
    assert balance.accounted + balance.pending == balance.lines


def all_turns(home: Home) -> list[Turn]:
    with home.open() as memory:
        sessions = memory.reader.sessions.latest(None, 100)
        return [turn for s in sessions for turn in memory.reader.turns.of_session(s.bank, s.id)]


def put_session_events(home: Home, transcript: str = "") -> None:
    """A whole session, by its hooks."""
    more = {"transcript_path": transcript}
    home.put("SessionStart", {"source": "startup", **more})
    home.prompt("Why do rows double?", **more)
    home.bash("toolu_1", "pytest -q", "1 failed", **more)
    home.stop("The retry wrapper loads twice.", **more)
    home.prompt("yes", **more)
    home.stop("Done.", **more)
    home.put("SessionEnd", {"reason": "other", **more})


def write(script: Script, home: Home) -> Path:
    return script.write(home.settings.claude_dir / "projects")


def transcript(until: int = 99) -> Script:
    """The transcript of the same session."""
    script = Script(SESSION)
    script.user("Why do rows double?")
    script.assistant("Let me run the tests.")
    script.tool("Bash", "1 failed", command="pytest -q")
    script.lines[-2]["message"]["content"][0]["id"] = "toolu_1"
    script.lines[-1]["message"]["content"][0]["tool_use_id"] = "toolu_1"
    script.assistant("The retry wrapper loads twice.")
    script.user("yes")
    script.assistant("Done.")
    del script.lines[until:]
    return script


WHOLE = [
    "Why do rows double?",
    "Let me run the tests.",
    "pytest -q",
    "The retry wrapper loads twice.",
    "yes",
    "Done.",
]
TOLD = [words for words in WHOLE if words != "Let me run the tests."]


def test_a_session_without_a_transcript_is_stored_in_order(tmp_path: Path) -> None:
    home = Home(tmp_path)
    put_session_events(home, "/home/dev/.claude/projects/-home-dev-proj/never.jsonl")
    home.drain()
    account = home.reconcile().journals
    assert home.said() == TOLD
    assert (account.lines, account.captured, account.skipped) == (7, 5, 2)
    check_balance(home)
    with home.open() as memory:
        (session,) = memory.reader.sessions.latest(None)
        assert (session.agent, session.host, session.cwd) == (
            "claude-code",
            SESSION,
            "/home/dev/proj",
        )
        turns = memory.reader.turns.of_session(session.bank, session.id)
        assert len(memory.reader.sessions.exchanges(session.bank, session.id)) == 1
        shown = memory.show(f"holdfast://turn/{turns[0].id}")
    tool = turns[1].tool
    assert tool is not None
    assert (tool.ok, tool.result, tool.duration_ms) == (True, "1 failed", 250)
    assert shown.raw is not None and shown.raw.state == "present"
    assert shown.raw.path.endswith(f"events/{SESSION}.jsonl") and shown.raw.line == 2


def test_journal_lines_that_the_transcript_has_count_as_duplicates(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(transcript(), home)
    put_session_events(home, str(path))
    home.ingest(path)
    before = all_turns(home)
    home.drain()
    account = home.reconcile().journals
    assert home.said() == WHOLE and all_turns(home) == before
    assert (account.captured, account.skipped) == (0, 7)
    check_balance(home)


def test_only_turns_that_the_transcript_lacks_are_added(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(transcript(until=5), home)  # killed before the last exchange was written
    put_session_events(home, str(path))
    home.drain()
    done = home.reconcile()
    assert done.transcripts.files_read == 1, "the transcript is read first"
    assert home.said() == WHOLE
    assert done.journals.captured == 2
    assert home.reconcile().journals.lines == 0
    check_balance(home)


def test_a_call_without_its_result_gets_it_from_the_hook(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(transcript(until=3), home)
    put_session_events(home, str(path))
    home.drain()
    home.reconcile()
    (turn,) = [t for t in all_turns(home) if t.tool]
    assert turn.tool is not None and (turn.tool.ok, turn.tool.result) == (True, "1 failed")
    assert home.said() == WHOLE


@pytest.mark.slow
@pytest.mark.parametrize("until", range(8))
def test_a_transcript_that_comes_or_grows_after_its_journal_was_read_adds_only_what_is_new(
    tmp_path: Path, until: int
) -> None:
    home = Home(tmp_path)
    path = write(transcript(until), home)
    put_session_events(home, str(path))
    home.drain()
    home.reconcile()
    write(transcript(), home)
    home.ingest(path)
    assert sorted(home.said()) == sorted(WHOLE)
    turns = all_turns(home)
    with home.open() as memory:
        sources = {source.id: source.agent for source in memory.reader.sources.all()}
    assert {sources[turn.origin.source] for turn in turns} == {"claude-code"}
    home.reconcile()
    path.write_bytes(path.read_bytes().replace(b'"version":"2.1.325"', b'"version":"2.1.326"'))
    home.ingest(path)
    assert len(all_turns(home)) == len(WHOLE)
    check_balance(home)


@pytest.mark.slow
def test_a_secret_in_a_call_does_not_make_it_two_calls(tmp_path: Path) -> None:
    script = Script(SESSION)
    script.user(f"use {SECRET}")
    call = script.call("Bash", command=f"export KEY={SECRET}")
    script.result(call, "ok")
    for first in ("journal", "transcript"):
        home = Home(tmp_path / first)
        home.prompt(f"use {SECRET}")
        home.bash(call, f"export KEY={SECRET}")
        home.end()
        home.drain()
        if first == "journal":
            home.reconcile()
        home.ingest(write(script, home))
        home.reconcile()
        assert len(home.said()) == 2, first


def test_a_prompt_given_twice_but_once_in_the_transcript_is_stored_twice(tmp_path: Path) -> None:
    home = Home(tmp_path)
    script = Script(SESSION)
    script.user("continue")
    path = write(script, home)
    home.prompt("continue", transcript_path=str(path))
    home.end()
    home.drain()
    home.reconcile()
    assert home.said() == ["continue"]
    home.prompt("continue", transcript_path=str(path))
    home.end()
    home.drain()
    home.reconcile()
    assert home.said() == ["continue", "continue"]


@pytest.mark.parametrize("written", [True, False])
def test_hooks_installed_twice_store_everything_once(tmp_path: Path, written: bool) -> None:
    home = Home(tmp_path)
    if written:
        script = Script(SESSION)
        script.user("continue")
        script.tool("Bash", "ok", command="ls")
        script.lines[1]["message"]["content"][0]["id"] = "toolu_1"
        script.assistant("Done.")
        home.ingest(write(script, home))
    for prompt in ("p1", "p1"):
        home.prompt("continue", prompt_id=prompt)
    home.drain()
    home.now = "2026-11-01T02:00:00.000Z"
    home.reconcile()
    for _ in range(2):
        home.bash("toolu_1", "ls")
    for _ in range(2):
        home.stop("Done.")
    home.prompt("continue", prompt_id="p1")
    home.end()
    home.drain()
    home.reconcile()
    assert home.said() == ["continue", "ls", "Done."]
    check_balance(home)


def test_stopping_again_without_new_text_adds_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt("start the agents")
    home.stop("Waiting for the background agent.")
    home.stop("Waiting for the background agent.")
    home.end()
    home.drain()
    home.reconcile()
    assert home.said() == ["start the agents", "Waiting for the background agent."]


def test_a_journal_waits_for_the_end_of_its_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt("hello")
    home.stop("Hello.")
    home.drain()
    home.now = home.journal()[-1]["time"]
    assert home.reconcile().journals.lines == 0
    with home.open() as memory:
        (unread,) = find_unread(memory.reader, home.places)
    assert (unread.session, unread.ended) == (SESSION, False)
    home.now = home.now[:11] + "23:59:59.000Z"
    assert home.reconcile().journals.lines == 2
    home.prompt("and again")
    home.end()
    home.drain()
    assert home.reconcile().journals.lines == 2
    assert home.said() == ["hello", "Hello.", "and again"]


def test_a_transcript_is_read_although_its_session_was_killed_and_no_event_follows(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    path = home.settings.claude_dir / "projects" / "-home-dev-proj" / f"{SESSION}.jsonl"
    home.put("SessionStart", {"source": "startup", "transcript_path": str(path)})
    home.prompt("Why do rows double?", transcript_path=str(path))
    home.drain()
    home.now = home.journal()[-1]["time"]
    home.reconcile()
    assert home.said() == []
    assert write(transcript(), home) == path
    home.reconcile()
    whole = home.said()
    assert whole[:2] == ["Why do rows double?", "Let me run the tests."]
    check_balance(home)
    home.reconcile()
    assert home.said() == whole


def test_a_subagents_events_belong_to_its_own_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt("look around")
    inner = {"agent_id": "aa61", "agent_type": "Explore"}
    home.bash("toolu_9", "ls", **inner)
    home.put("SubagentStop", {"last_assistant_message": "One README.", **inner})
    home.end()
    home.drain()
    home.reconcile()
    assert home.said() == ["look around"]
    assert home.said(f"{SESSION}:aa61") == ["ls", "One README."]
    with home.open() as memory:
        bank = memory.reader.banks.id_by_host_session(SESSION) or ""
        session = memory.reader.sessions.get(bank, f"{SESSION}:aa61")
    assert session is not None and (session.parent, session.subagent) == (SESSION, "Explore")


def recorded_home(folder: Path) -> Home:
    """All payloads that hooks got while the recorded transcripts were written."""
    home = Home(folder)
    shutil.copytree(TRANSCRIPTS, home.settings.claude_dir / "projects")
    for path in sorted(RECORDED.glob("*.json")):
        session = recorded(path.stem)["session_id"]
        home.put(path.stem.split(".")[0], path.read_bytes(), session=session)
    return home


@pytest.mark.slow
def test_recorded_events_add_nothing_to_recorded_transcripts(tmp_path: Path) -> None:
    home = recorded_home(tmp_path)
    home.ingest(home.settings.claude_dir / "projects")
    before = all_turns(home)
    home.drain()
    account = home.reconcile().journals
    new = [turn for turn in all_turns(home) if turn not in before]
    # Of this session there is a payload, and no transcript.
    assert [turn.text for turn in new] == ["/hey there"]
    assert account.captured == 1 and account.failed == 0
    check_balance(home)


@pytest.mark.slow
def test_a_recorded_call_is_the_same_from_hooks_and_transcript(tmp_path: Path) -> None:
    one, other = recorded_home(tmp_path / "one"), recorded_home(tmp_path / "other")
    one.drain()
    shutil.rmtree(one.settings.claude_dir)
    one.reconcile()
    other.ingest(other.settings.claude_dir / "projects")
    by_hook = {t.tool.call: (t, t.tool) for t in all_turns(one) if t.tool}
    by_file = {t.tool.call: (t, t.tool) for t in all_turns(other) if t.tool}
    assert len(by_hook) == 13
    for call, (turn, tool) in by_hook.items():
        known, same = by_file[call]
        assert (turn.session, turn.role, turn.trust) == (known.session, Role.TOOL, known.trust)
        from_hook: tuple[Any, ...] = (tool.name, tool.target, tool.lines, tool.ok)
        assert from_hook == (same.name, same.target, same.lines, same.ok)
        if tool.name != "ToolSearch":  # the hook is told what was left to its default as well
            assert (turn.id, tool.action) == (known.id, same.action)
        if tool.name != "mcp__toy__fail":  # the model is told more than the hook
            assert tool.result == same.result


def test_ingest_of_a_folder_that_contains_our_home_skips_journals(tmp_path: Path) -> None:
    home = Home(tmp_path)
    put_session_events(home)
    home.drain()
    home.reconcile()
    home.ingest(tmp_path)
    with home.open() as memory:
        assert [source.agent for source in memory.reader.sources.all()] == [AGENT]


def test_a_journal_given_by_name_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    put_session_events(home)
    home.drain()
    with home.open() as memory, pytest.raises(InputError, match="journal of hook events"):
        memory.ingestion.find([home.places.journal(SESSION)])


def test_an_unreadable_transcript_does_not_block_its_journal(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = write(transcript(), home)
    put_session_events(home, str(path))
    home.ingest(path)
    with home.open() as memory:
        (source,) = memory.reader.sources.all()
    store = SqliteStore(home.settings.database)
    with store.transaction():
        store.sources.set_state(source.id, SourceState.UNREADABLE.value, "cannot be read")
    store.close()
    path.write_bytes(path.read_bytes() + b"{}\n")
    home.drain()
    assert home.reconcile().journals.lines == 7


Step = tuple[str, str]
steps = st.lists(
    st.tuples(st.sampled_from(("prompt", "stop", "bash")), st.sampled_from(("a", "b", "c"))),
    max_size=9,
)


@pytest.mark.slow
@costly(50)
@given(steps, st.data())
def test_any_order_of_reading_stores_each_turn_once(said: list[Step], data: st.DataObject) -> None:
    """The transcript is written up to some points and read, the journal is drained up to others."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        script = Script(SESSION)
        path = write(script, home)
        script.user("begin")
        home.prompt("begin", transcript_path=str(path))
        for number, (kind, word) in enumerate(said):
            perform(home, script, kind, word, number)
            if data.draw(st.booleans()):
                write(script, home)
            if data.draw(st.booleans()):
                home.drain()
                home.reconcile()
        home.end()
        home.drain()
        home.reconcile()
        write(script, home)
        home.ingest(path)
        home.reconcile()
        found = [turn for turn in all_turns(home) if turn.role is not Role.ASSISTANT]
        wanted = 1 + sum(kind != "stop" for kind, _ in said)
        assert len(found) == wanted
        stops = sum(kind == "stop" for kind, _ in said)
        assert sum(t.role is Role.ASSISTANT for t in all_turns(home)) == stops
        check_balance(home)


def perform(home: Home, script: Script, kind: str, word: str, number: int) -> None:
    if kind == "prompt":
        script.user(word)
        home.prompt(word)
    elif kind == "stop":
        script.assistant(word)
        home.stop(word)
    else:
        call = script.call("Bash", command=word)
        script.result(call, "ok")
        home.bash(call, word)
