"""Memories that releases made (`tests/recorded/memories`): what they say, and how one is recorded.

`python -m tests.support.recorded_memories` records a memory of this program."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.learn.bank_settings import BankChanges
from holdfast.settings import NO_MODEL, Settings
from holdfast.store.sqlite.schema import VERSION
from holdfast.version import __version__
from tests.support.repositories import commit, make_repository

RECORDED = Path(__file__).parents[1] / "recorded" / "memories"
_SAMPLES = Path(__file__).parents[2] / "examples" / "sessions"
# What must be the same after an upgrade.
_SAID = {
    "turns": "SELECT bank, id, session, seq, time, role, trust, text, tool, target, action, result "
    "FROM turn ORDER BY bank, id",
    "notes": "SELECT bank, id, time, who, text FROM {notes} ORDER BY bank, id",
    "decisions": "SELECT seq, bank, time, action, target, text, who FROM curation ORDER BY seq",
    "keys": "SELECT id, name, salt, hash, banks, level, created, expires, revoked FROM api_key "
    "ORDER BY id",
    "summaries": "SELECT bank, hash, version, record, content FROM {summaries} ORDER BY bank, hash",
    "commits": 'SELECT bank, id, time, subject, files FROM "commit" ORDER BY bank, id',
    "pulls": "SELECT bank, id, title, body, state FROM pull ORDER BY bank, id",
}


def recorded_names() -> list[str]:
    """The names of all recordings, each of a release and its schema."""
    return sorted(file.name.removesuffix(".db.xz") for file in RECORDED.glob("*.db.xz"))


def settings_in(folder: Path) -> Settings:
    """The settings of a memory in a folder, without vectors."""
    return Settings(folder / "memory", folder / "claude", embed_model=NO_MODEL)


def unpack(name: str, folder: Path) -> Path:
    """Put a recorded memory where `settings_in` looks for one; returns its file."""
    database = settings_in(folder).database
    database.parent.mkdir(mode=0o700, parents=True)
    database.write_bytes(lzma.decompress((RECORDED / f"{name}.db.xz").read_bytes()))
    database.chmod(0o600)
    return database


def recorded_contents(name: str) -> dict[str, Any]:
    """What a recorded memory said to the program that made it: see `contents`, and `finds`."""
    return json.loads((RECORDED / f"{name}.json").read_text("utf-8"))


def contents(
    database: Path, notes: str = "remembered_memory", summaries: str = "model_summary"
) -> dict[str, list[str]]:
    """A line for each row that must survive: its first two columns, and a hash of all. The other
    arguments are what a release called its tables."""
    with closing(sqlite3.connect(database)) as raw:
        return {
            what: [_line(row) for row in raw.execute(sql.format(notes=notes, summaries=summaries))]
            for what, sql in _SAID.items()
        }


def _line(row: tuple[object, ...]) -> str:
    return f"{row[0]} {row[1]} {hashlib.sha256(repr(row).encode()).hexdigest()[:16]}"


def record(name: str, database: Path, finds: dict[str, str], said: dict[str, list[str]]) -> None:
    """Write a recording: the file, and what it says."""
    RECORDED.mkdir(exist_ok=True)
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute("VACUUM")
    packed = lzma.compress(database.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    (RECORDED / f"{name}.db.xz").write_bytes(packed)
    lines = json.dumps(said | {"finds": finds}, indent=1, ensure_ascii=False)
    (RECORDED / f"{name}.json").write_text(f"{lines}\n", "utf-8")


def make_memory(folder: Path) -> dict[str, str]:
    """Make a memory of the sample sessions with decisions of several kinds, keys and commits;
    returns what some questions find."""
    bank = "tidewatch"
    repository = make_repository(folder / "gauges")
    commit(repository, "Send one alert a tide", **{"alerts.py": "def alert(): ...\n"})
    shutil.copytree(_SAMPLES, folder / "sessions")
    with Holdfast(settings_in(folder)) as memory:
        memory.ingest(memory.ingestion.find([folder / "sessions"], bank))
        memory.ingestion.ingest_git(repository, bank)
        texts = (
            "We deploy on Tuesdays, never on Fridays.",
            "The staging gauge reports in feet, not metres.",
            "The staging gauge counts in feet.",
            "Ask Grace before touching the pump schedule.",
        )
        notes = [f"holdfast://memory/{memory.remember(text, bank).id}" for text in texts]
        memory.retain("The harbour CI is flaky on Mondays", "opinion", 0.8, bank=bank)
        memory.correct(notes[0], "We deploy on Wednesdays, never on Fridays.")
        memory.curation.merge(notes[2], notes[1])
        memory.forget(notes[3])
        memory.restore(notes[3])
        id = memory.context.one_bank_id(bank)
        with closing(sqlite3.connect(memory.settings.database)) as raw:
            exchanges = [
                f"holdfast://exchange/{row[0]}"
                for row in raw.execute(
                    "SELECT id FROM exchange WHERE bank = ? ORDER BY started", (id,)
                )
            ]
        memory.correct(exchanges[0], "The tide tables come from the harbour office.")
        memory.forget(exchanges[3])
        memory.forget(exchanges[4])
        memory.undo()
        memory.banks.change(BankChanges(skepticism=4, background="For the harbour office."), bank)
        make_key(memory, KeyRequest("Ana", (bank,)))
        revoked = make_key(memory, KeyRequest("gone"))[1]
        with memory.store.transaction():
            memory.store.api_keys.revoke(revoked.id, memory.now())
        return {
            "When do we deploy?": notes[0],
            "In what does the staging gauge report?": notes[1],
            "Keep readings in one SQLite file": "holdfast://turn/fe07e3e2c0665785",
        }


def main() -> None:
    # The same folder everywhere: it is in the recording.
    folder = Path(tempfile.gettempdir()) / "harbour"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    os.environ["CLAUDE_CONFIG_DIR"] = str(folder / "claude")
    try:
        finds = make_memory(folder)
        database = settings_in(folder).database
        name = f"{__version__}-schema{VERSION}"
        record(name, database, finds, contents(database))
        sys.stdout.write(f"{RECORDED / name}.db.xz\n")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
