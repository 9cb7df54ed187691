from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.settings import Settings
from tests.support.laws import costly
from tests.support.memory_dump import dump
from tests.support.transcripts import Script

NOW = "2026-11-01T00:00:00.000Z"


def open_at(home: Path) -> Holdfast:
    return Holdfast(Settings(home=home, claude_dir=home / "claude"), now=lambda: NOW)


Step = tuple[str, str]

words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=40
)
KINDS = (
    "user assistant private tool error call mode thinking repeat orphan secret shape future title "
    "long"
).split()


def steps() -> st.SearchStrategy[Step]:
    """What can happen on one or two lines of a transcript, the awkward among it."""
    return st.tuples(st.sampled_from(KINDS), words)


def play(script: Script, step: Step) -> None:
    kind, text = step
    match kind:
        case "user":
            script.user(text)
        case "assistant":
            script.assistant(text)
        case "private":
            script.user(f"<private>{text}</private>")
        case "tool" | "error":
            script.tool("Bash", text, error=kind == "error", command=f"echo {text}")
        case "call":
            script.call("Read", file_path=f"/home/dev/proj/{text}")
        case _:
            play_oddity(script, step)


def play_oddity(script: Script, step: Step) -> None:
    kind, text = step
    match kind:
        case "mode":
            script.add({"type": "mode", "mode": text})
        case "thinking":
            script.thinking(text)
        case "repeat":
            script.lines += script.lines[:1]
        case "orphan":
            script.result("toolu_nobody_called", text)
        case "secret":
            script.user("deploy with api_key = 'Zk3m9QpL7vT2xW8y'")
        case "shape":
            script.add({"type": "user", "message": 7})
        case "future":
            script.add({"type": "of-the-future", "x": [1, text]})
        case "title":
            script.add({"type": "custom-title", "customTitle": text, "sessionId": script.session})
        case _:
            script.assistant(text * 200)


def as_bytes(script: Script, rng: random.Random) -> bytes:
    """The lines, with junk between some of them, and perhaps no newline at the end."""
    junk = [b"\n", b"not json\n", b"[1, 2]\n", b'{"type": "user"\n', b"\xff\xfe broken \x80\n"]
    parts: list[bytes] = []
    for line in script.lines:
        parts.append(json.dumps(line, ensure_ascii=rng.random() < 0.5).encode() + b"\n")
        if rng.random() < 0.1:
            parts.append(rng.choice(junk))
    data = b"".join(parts)
    return data.rstrip(b"\n") if rng.random() < 0.3 else data


def grow_and_ingest(home: Path, path: Path, data: bytes, cuts: list[int]) -> None:
    """Grow the file in steps and ingest after each."""
    with open_at(home) as memory:
        for stop in [*sorted(cuts), len(data)]:
            path.write_bytes(data[:stop])
            memory.ingest(memory.ingestion.find([path]))
            balance = memory.inventory.balance()
            assert balance.accounted + balance.pending == balance.lines
            assert balance.lines == len(data[:stop].removesuffix(b"\n").split(b"\n")) * bool(stop)


@pytest.mark.slow
@costly(30)
@given(st.lists(steps(), min_size=1, max_size=14), st.randoms(use_true_random=False), st.data())
def test_any_split_into_appends_gives_the_same_rows(
    script_steps: list[Step], rng: random.Random, data: st.DataObject
) -> None:
    script = Script()
    for step in script_steps:
        play(script, step)
    raw = as_bytes(script, rng)
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        grow_and_ingest(Path(folder) / "whole", path, raw, [])
        grow_and_ingest(Path(folder) / "split", path, raw, cuts)
        whole = dump(Path(folder) / "whole" / "memory.db")
        split = dump(Path(folder) / "split" / "memory.db")
    assert split == whole


@pytest.mark.slow
@costly(30)
@given(st.lists(steps(), min_size=1, max_size=12))
def test_ingesting_twice_writes_once(script_steps: list[Step]) -> None:
    script = Script()
    for step in script_steps:
        play(script, step)
    with tempfile.TemporaryDirectory() as folder:
        path = script.write(Path(folder))
        home = Path(folder) / "home"
        with open_at(home) as memory:
            memory.ingest(memory.ingestion.find([path]))
            once = dump(home / "memory.db")
            memory.ingest(memory.ingestion.find([path]))
            assert dump(home / "memory.db") == once
            # Touched, so that it is read again from its start: still the same.
            path.touch()
            memory.ingest(memory.ingestion.find([path]))
        assert dump(home / "memory.db") == once


@pytest.mark.slow
@costly(30)
@given(st.lists(steps(), min_size=1, max_size=12))
def test_dropping_and_rebuilding_the_derived_tables_changes_nothing(
    script_steps: list[Step],
) -> None:
    script = Script()
    for step in script_steps:
        play(script, step)
    with tempfile.TemporaryDirectory() as folder:
        path = script.write(Path(folder))
        home = Path(folder) / "home"
        with open_at(home) as memory:
            memory.ingest(memory.ingestion.find([path]))
            before = dump(home / "memory.db")
            memory.ingestion.rebuild()
        assert dump(home / "memory.db") == before
