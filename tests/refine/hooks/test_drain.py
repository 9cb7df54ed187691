from __future__ import annotations

import json
import os
import tempfile
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.capture import journal
from holdfast.capture.inbox import list_events
from holdfast.model.ledgers.injections import InjectionKind
from tests.support.inbox_home import NOON_S, RECORDED, SESSION, Home, recorded
from tests.support.killed_processes import kill_after
from tests.support.laws import costly
from tests.support.seeds import seeded_random
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

SECRET = "sk-" + "ant-api03-" + "Zk3m9QpL7vT2xW8yAb4cDe6fGh1jKl5nMo0pQr"


def test_an_event_goes_to_the_journal_of_its_session_and_leaves_the_inbox(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt("Fix the importer", transcript_path="/t/s.jsonl")
    home.bash("toolu_1", "pytest -q", "1 passed")
    home.stop("Fixed.")
    home.end()
    done = home.drain()
    assert list_events(home.inbox).events == []
    prompt, tool, stop, end = home.journal()
    assert (prompt["text"], prompt["trust"], prompt["cwd"]) == (
        "Fix the importer",
        "user",
        "/home/dev/proj",
    )
    assert (tool["tool"], tool["action"], tool["result"]) == ("Bash", "pytest -q", "1 passed")
    assert tool["ok"] is True and tool["at"] < tool["time"]
    assert stop["text"] == "Fixed." and end["reason"] == "other"
    news = done.sessions[SESSION]
    assert (done.events, news.events, news.ended, news.stopped) == (4, 4, True, True)
    assert (news.transcript, news.cwd) == ("/t/s.jsonl", "/home/dev/proj")
    assert done.last == news.last == end["time"]


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: path.stem)
def test_every_recorded_payload_gives_one_line_without_redundant_parts(
    tmp_path: Path, path: Path
) -> None:
    home = Home(tmp_path)
    payload = recorded(path.stem)
    home.put(path.stem.split(".")[0], path.read_bytes(), session=payload["session_id"])
    done = home.drain()
    (line,) = home.journal(payload["session_id"])
    assert (done.events, done.failed) == (1, 0)
    assert line["transcript"] == payload["transcript_path"]
    assert not {"compact_summary", "tool_response", "tool_input", "permission_mode"} & set(line)
    assert "scripted analysis" not in json.dumps(line)
    summary = "SCRIPTED SUMMARY of the conversation." if "compact_summary" in payload else None
    assert (line.get("text") if line.get("role") == "summary" else None) == summary


def test_draining_twice_writes_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    paths = [home.prompt("one"), home.stop("two")]
    raw = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    home.drain()
    before = home.places.journal(SESSION).read_bytes()
    for path, (data, changed) in raw.items():  # as if killed between append and removal
        path.write_bytes(data)
        os.utime(path, ns=(changed, changed))
    done = home.drain()
    assert done.events == 0 and list_events(home.inbox).events == []
    assert home.places.journal(SESSION).read_bytes() == before


def test_secrets_and_private_passages_do_not_reach_the_journal(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt(f"use {SECRET} please <private>my salary is 12345</private> thanks")
    home.prompt("<private>only this</private>")
    home.bash("toolu_1", f"export KEY={SECRET}", f"set to {SECRET}")
    home.stop(f"I used {SECRET}.")
    done = home.drain()
    kept = home.places.journal(SESSION).read_text()
    assert SECRET[10:] not in kept and "salary" not in kept and "only this" not in kept
    assert home.journal()[1]["skip"] == "private"
    assert done.redacted >= 5


def test_excluded_tools_and_paths_leave_no_text(tmp_path: Path) -> None:
    home = Home(tmp_path, exclude_tools=("WebFetch",), exclude_paths=("secrets/*",))
    home.put("PostToolUse", {"tool_name": "WebFetch", "tool_input": {"url": "https://x.example"}})
    home.bash("toolu_2", "cat secrets/plan.txt", "the plan")
    home.bash("toolu_3", "ls", "secrets")
    done = home.drain()
    assert [line.get("skip") for line in home.journal()] == ["excluded", "excluded", None]
    assert "plan" not in home.places.journal(SESSION).read_text()
    assert done.excluded == 2


def test_an_excluded_project_leaves_no_text_even_if_its_session_changes_folder(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path, exclude_projects=("/home/dev/hidden",))
    home.prompt("the hidden plan", cwd="/home/dev/hidden/sub")
    home.drain()
    home.prompt("the hidden plan, continued", cwd="/home/dev/open")
    home.put("UserPromptSubmit", {"prompt": "another session"}, session="other")
    done = home.drain()
    assert "plan" not in home.places.journal(SESSION).read_text()
    assert [line["skip"] for line in home.journal()] == ["excluded"] * 2
    assert home.journal("other")[0]["text"] == "another session"
    assert done.excluded == 1


def test_an_incomplete_event_waits_and_a_truncated_one_is_recorded_as_failed(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    whole = json.dumps({"session_id": SESSION, "cwd": "/home/dev/proj", "prompt": "x"}).encode()
    home.put("UserPromptSubmit", whole[:-3])
    home.put("Stop", b"")
    home.now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(NOON_S + 30))
    done = home.drain()
    assert (done.waiting, done.events, home.journal()) == (2, 0, [])
    home.now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(NOON_S + 90))
    done = home.drain()
    assert (done.waiting, done.events, done.failed) == (0, 2, 1)
    cut, empty = home.journal()
    assert (cut["event"], cut["problem"], cut["cwd"]) == (
        "UserPromptSubmit",
        "not-json",
        "/home/dev/proj",
    )
    assert empty["event"] == "Stop" and "text" not in empty


def test_empty_events_are_drained_at_once_if_only_names_are_captured(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.places.names_only_flag.touch()
    home.put("Stop", b"")
    home.now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(NOON_S + 1))
    done = home.drain()
    assert (done.waiting, done.events, list(done.sessions)) == (0, 1, [SESSION])


def test_a_clock_set_back_a_day_does_not_delay_draining(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.put("Stop", b'{"session_id')
    home.prompt("hello")
    home.now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(NOON_S - 86400))
    done = home.drain()
    assert (done.waiting, done.events, done.failed) == (0, 2, 1)


def test_other_versions_and_strange_names_are_left_alone(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for name in ("2.Stop.abc.77", "ask.sock", "1.Stop", "README"):
        (home.inbox / name).write_text("{}")
    done = home.drain()
    assert (done.events, done.foreign, len(list(home.inbox.iterdir()))) == (0, 1, 4)


def test_an_injection_note_is_passed_on_and_not_journalled(tmp_path: Path) -> None:
    home = Home(tmp_path)
    note = {"id": "inj1", "kind": "goal", "time": "2026-10-31T10:00:00Z", "characters": 812}
    home.put("HoldfastInjected", note | {"records": ["holdfast://turn/1", 7]})
    home.put("HoldfastInjected", {"id": "inj2", "kind": "of-the-future", "characters": 1})
    done = home.drain()
    (note,) = home.notes
    assert (note.id, note.kind, note.characters) == ("inj1", InjectionKind.GOAL, 812)
    assert note.records == ("holdfast://turn/1",) and note.session == SESSION
    assert (done.injected, done.failed, done.events) == (1, 1, 0)
    assert list_events(home.inbox).events == [] and not home.places.journal(SESSION).exists()


def test_an_injection_note_stays_until_it_is_stored(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.put("HoldfastInjected", {"id": "inj1", "kind": "start", "characters": 1})
    home.prompt("hello")
    home.keep = lambda notes: False  # type: ignore[method-assign]
    done = home.drain()
    assert (done.events, done.injected, done.waiting) == (1, 0, 1)
    (left,) = list_events(home.inbox).events
    assert left.event == "HoldfastInjected"


@pytest.mark.slow
def test_a_payload_of_fifty_megabytes_is_refined_without_holding_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    output = "0123456789abcdef\n" * (50_000_000 // 17) + "12 passed"
    path = home.bash("toolu_1", "cat huge", output)
    assert path.stat().st_size > 50_000_000
    del output
    tracemalloc.start()
    done = home.drain()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (line,) = home.journal()
    assert (line["tool"], line["action"], line["call"]) == ("Bash", "cat huge", "toolu_1")
    assert done.failed == 0 and peak < 30_000_000
    assert home.places.journal(SESSION).stat().st_size < 2000


@pytest.mark.slow
def test_a_payload_too_large_even_when_clipped_keeps_its_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    many = ["x" * 60_000] * 200
    home.put("PostToolUse", {"tool_name": "T", "tool_response": many})
    done = home.drain()
    (line,) = home.journal()
    assert (line["problem"], line["cwd"], done.failed) == ("too-large", "/home/dev/proj", 1)


@pytest.mark.slow
def test_more_than_a_batch_is_drained_in_order(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for number in range(1100):
        home.prompt(f"prompt {number}")
    assert home.drain().events == 1100
    assert [line["text"] for line in home.journal()] == [f"prompt {n}" for n in range(1100)]


def test_a_payload_without_session_or_too_deep_is_recorded_as_failed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.put("Stop", b'{"last_assistant_message":"whose?"}', session="none")
    home.put("Stop", b'{"cwd":"\\ud800","cwd":"/home/dev/proj","x":' + b"[" * 5000)
    home.put("PostToolUse", {"tool_name": "T", "tool_input": {"x": deep(400)}})
    done = home.drain()
    (nobodys,) = home.journal("none")
    assert nobodys["problem"] == "wrong-shape" and "text" not in nobodys
    cut, nested = home.journal()
    assert (cut["problem"], cut["cwd"]) == ("too-deep", "/home/dev/proj")
    assert nested["tool"] == "T" and done.failed == 2


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_events_left_before_the_inbox_existed_are_drained_too(tmp_path: Path) -> None:
    home = Home(tmp_path)
    before = home.places.home / "inbox"
    before.mkdir()
    home.put("Stop", b"").rename(before / "1.Stop.old.7")
    assert home.drain().events == 1 and list(before.iterdir()) == []


@pytest.mark.slow
def test_events_that_cannot_be_stored_do_not_fill_the_memory(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for number in range(3):
        home.put("PostToolUse", {"tool_name": "T", "tool_response": f"{number}" * 30_000_000})
    home.places.journals.write_text("in the way")
    done = home.drain()
    sizes = [event.size > 0 for event in list_events(home.inbox).events]
    assert (done.emptied, sizes) == (1, [False, True, True])


def test_a_journal_that_cannot_be_written_leaves_events_where_they_are(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prompt("one")
    home.put("UserPromptSubmit", {"prompt": "two"}, session="other")
    home.places.journal(SESSION).mkdir(parents=True)
    done = home.drain()
    assert len(done.problems) == 1 and done.events == 1
    assert [event.session for event in list_events(home.inbox).events] == [SESSION]
    home.places.journal(SESSION).rmdir()
    assert home.drain().events == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
FIELDS = (
    "session_id cwd transcript_path prompt tool_name tool_input tool_response tool_use_id error "
    "last_assistant_message agent_id agent_type duration_ms source reason trigger id kind records"
).split()
EVENTS = (
    "SessionStart UserPromptSubmit PostToolUse PostToolUseFailure Stop SubagentStop PreCompact "
    "SessionEnd HoldfastInjected SomethingNew"
).split()
payloads = st.dictionaries(st.sampled_from(FIELDS), json_values).map(
    lambda value: json.dumps(value).encode()
)


@pytest.mark.slow
@costly(120)
@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.binary(max_size=60) | payloads), max_size=4))
def test_no_bytes_in_an_event_raise_and_every_event_is_accounted_for(
    events: list[tuple[str, bytes]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        for event, data in events:
            home.put(event, data)
        done = home.drain()
        assert list_events(home.inbox).events == [] and done.problems == []
        noted = sum(event == "HoldfastInjected" for event, _ in events)
        assert done.events == len(events) - noted
        lines = sum(len(list(journal.read(p))) for p in home.places.journals.glob("*.jsonl"))
        assert lines == done.events
        home.reconcile()
        with home.open() as memory:
            balance = memory.inventory.balance()
        assert balance.lines == balance.accounted == lines


def _journaled(home: Home) -> int:
    return sum(path.stat().st_size for path in home.places.journals.glob("*"))


DRAIN = """
import sys
from pathlib import Path
from tests.support.inbox_home import Home
print(Home(Path(sys.argv[1])).drain().events)
"""


def test_killed_at_random_points_draining_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for number in range(1200):
        session = f"session-{number % 7}"
        home.put("UserPromptSubmit", {"prompt": f"prompt {number}"}, session=session)
    rng = seeded_random()
    landed = 0
    while list_events(home.inbox).events and landed < 5:
        process = warm_interpreter().start([str(tmp_path)], os.environ, code=DRAIN)
        before = _journaled(home)
        wait_until(
            lambda p=process, b=before: p.poll() is not None or _journaled(home) > b,
            "it writes or ends",
            every_s=0.001,
        )
        landed += kill_after(process, rng.uniform(0, 0.03))
    home.drain()
    found = [line["text"] for n in range(7) for line in home.journal(f"session-{n}")]
    assert sorted(found) == sorted(f"prompt {n}" for n in range(1200))
    assert landed >= 1, "a kill must have hit a running drain"
