"""A memory with one ingested session, for tests of curation."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from holdfast.app.memory import Holdfast
from holdfast.model.query import RecordFilter
from holdfast.model.records import Exchange, Turn
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script

SESSION = "33333333-0000-4000-8000-000000000001"


def open_memory(home: Path) -> Holdfast:
    """A memory whose clock advances one second per call."""
    ticks = count()
    return Holdfast(
        with_empty_memory(Settings(home=home, claude_dir=home / "claude", bank="proj")),
        now=lambda: f"2026-11-01T00:00:{next(ticks) % 60:02}.000Z",
    )


def sample_session(session: str = SESSION) -> Script:
    """A session of three requests; each has a word that occurs nowhere else."""
    script = Script(session)
    script.user("Please find out why the xebec loader fails at night.")
    script.assistant("The xebec loader fails because the tide table is locked until six.")
    script.tool("Bash", "xebec: 3 failed", error=True, command="pytest tests/test_xebec.py")
    script.assistant("The root cause was the lock on the tide table; the xebec loader now waits.")
    script.user("We decided to always paint the yawl blue, because the harbour office wants it.")
    script.assistant("Understood: the yawl is painted blue from now on, as the office wants it.")
    script.tool(
        "Edit", "ok", file_path="/home/dev/proj/src/yawl.py", old_string="a", new_string="b"
    )
    script.user("Now rename the ketch module to mizzen everywhere, please.")
    script.tool(
        "Edit", "ok", file_path="/home/dev/proj/src/mizzen.py", old_string="k", new_string="m"
    )
    script.assistant("Renamed the ketch module to mizzen in all files, and the tests pass.")
    return script


def memory_with_session(home: Path, script: Script | None = None) -> Holdfast:
    """A memory with one session ingested."""
    memory = open_memory(home)
    path = (script or sample_session()).write(home / "claude" / "projects")
    memory.ingest(memory.ingestion.find([path]))
    return memory


def exchange_about(memory: Holdfast, word: str) -> Exchange:
    """The only exchange whose title or summary has a word."""
    found = memory.reader.records.filter(None, RecordFilter(since="0"), 100)
    matching = [x for x in found if isinstance(x, Exchange) and word in f"{x.title} {x.summary}"]
    assert len(matching) == 1, [x.title for x in matching]
    return matching[0]


def turn_saying(memory: Holdfast, words: str) -> Turn:
    """The first turn that contains some words."""
    for session in memory.reader.sessions.latest(None):
        for turn in memory.reader.turns.of_session(session.bank, session.id):
            if words in turn.text:
                return turn
    raise AssertionError(words)


def places_found(memory: Holdfast, word: str) -> list[str]:
    """Where a word is found: search, answer, timeline, records, turns and briefs."""
    places = [hit.uri for hit in memory.recall(word).hits if word in hit.text]
    places += [match.passage.id for match in memory.reader.passages.search(None, [word])]
    if word in memory.ask(f"what about the {word}?").answer:
        places.append("ask")
    if any(word in event.title for event in memory.timeline(before=50, after=50).events):
        places.append("timeline")
    found = memory.reader.records.filter(None, RecordFilter(since="0"), 100)
    if any(word in repr(record) for record in found):
        places.append("find")
    for session in memory.reader.sessions.latest(None):
        if any(
            word in repr(turn) for turn in memory.reader.turns.of_session(session.bank, session.id)
        ):
            places.append(f"turns of {session.id}")
    for path in (memory.settings.home / "briefs").glob("*"):
        if word in path.read_text():
            places.append(path.name)
    return places
