"""A memory goes out whole and comes back as it was."""

from __future__ import annotations

import json
import stat
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast, open_memory
from holdfast.app.transfer.exporting import DERIVED_TYPES, ExportRequest, write_export
from holdfast.errors import HoldfastError, InputError
from holdfast.learn.judging import JUDGEABLE_KINDS
from holdfast.model.curation import Verdict
from holdfast.settings import Settings
from holdfast.store.export_tables import DERIVED_TABLES, LOCAL_TABLES, TABLES
from holdfast.store.records.exports import ExportSelection
from holdfast.store.sqlite.store import SqliteStore
from tests.support.foreign_exports import claude_mem
from tests.support.laws import costly
from tests.support.transcripts import Script

QUESTIONS = ("hemp cloth for the sails", "what leaks?", "why is the mast red?", "latest work")


def opened(folder: Path) -> Holdfast:
    return open_memory(Settings(folder / "home", folder / "claude"))


def export(
    memory: Holdfast, path: Path, chosen: ExportSelection | None = None, derived: bool = True
) -> bytes:
    wanted = ExportRequest(tuple(memory.reader.banks.all()), chosen or ExportSelection(), derived)
    write_export(memory.reader, path, wanted, memory.settings.redact_patterns)
    return path.read_bytes()


def types(data: bytes) -> dict[str, int]:
    return json.loads(data.splitlines()[0])["counts"]


def rows(data: bytes, type: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in data.splitlines()[1:]]
    return [row for row in found if row["type"] == type]


def filled(folder: Path) -> Holdfast:
    """A memory with something of everything that people do."""
    memory = opened(folder)
    script = Script(cwd=str(folder / "proj"))
    script.user("Why is the mast red?")
    script.assistant("Because the harbour office wants red masts.")
    script.user("Then paint the boom red too. My key is AKIAIOSFODNN7EXAMPLE.")
    script.assistant("The boom is red now.")
    script.write(folder / "claude" / "projects")
    memory.ingest(memory.ingestion.find([]))
    memory.imports.import_records("claude-mem", claude_mem(folder / "c.db"), bank="fleet")
    memory.retain("Oars are of ash.", bank="fleet")
    memory.retain("A secret that is forgotten: xylophone.", bank="fleet")
    memory.forget(memory.recall("xylophone", bank="fleet").hits[0].uri)
    memory.forget(memory.recall("ketch leaks rudder", bank="fleet").hits[0].uri)
    turn = memory.recall("boom is red now", bank="all").hits[0]
    memory.correct(turn.uri, "The boom is crimson now.")
    memory.ingestion.update()
    return memory


@pytest.mark.slow
def test_an_imported_export_is_byte_identical_and_gives_the_same_answers(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        first = export(memory, tmp_path / "one.jsonl")
        expected = [memory.recall(question, bank="all").hits for question in QUESTIONS]
    with opened(tmp_path / "other") as other:
        done = other.imports.import_export(tmp_path / "one.jsonl")
        kept = {type: n for type, n in types(first).items() if type not in DERIVED_TYPES}
        assert +Counter(done.added) == Counter(kept)
        assert export(other, tmp_path / "two.jsonl") == first
        again = [other.recall(question, bank="all").hits for question in QUESTIONS]
        assert again == expected and any(again)
        assert "crimson" in other.recall("boom crimson", bank="all").hits[0].text
        once_more = other.imports.import_export(tmp_path / "one.jsonl")
        assert sum(once_more.added.values()) == 0 and Path(once_more.backup).is_file()
        assert export(other, tmp_path / "three.jsonl") == first
    assert stat.S_IMODE((tmp_path / "one.jsonl").stat().st_mode) == 0o600


@pytest.mark.slow
def test_opinions_are_restored_with_their_confidence_however_late(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    with Holdfast(settings, lambda: "2026-03-01T00:00:00.000Z", create=True) as memory:
        for opinion in ("Ripgrep works well.", "The mast sensor is unreliable."):
            memory.retain(opinion, "opinion", 0.8, bank="fleet")
        memory.ingestion.update()
        first = export(memory, tmp_path / "one.jsonl", derived=False)
    assert len(rows(first, "opinion")) == 2
    other = replace(settings, home=tmp_path / "other")
    with Holdfast(other, lambda: "2026-11-01T00:00:00.000Z", create=True) as memory:
        memory.imports.import_export(tmp_path / "one.jsonl")
        assert export(memory, tmp_path / "two.jsonl", derived=False) == first


@pytest.mark.slow
def test_forgotten_records_and_secrets_are_not_exported(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        hidden = memory.recall("harbour office wants red masts", bank="all").hits[0]
        memory.forget(hidden.uri)
        own = replace(memory.settings, redact_patterns=(("colour", "crimson"),))
    with open_memory(own) as memory:
        data = export(memory, tmp_path / "one.jsonl").decode()
    for word in ("xylophone", "rudder", "AKIA", "harbour office", "crimson"):
        assert word not in data, word
    assert "[redacted:colour]" in data and "forget" in data
    with opened(tmp_path / "other") as other:
        other.imports.import_export(tmp_path / "one.jsonl")
        found = other.recall("harbour office red masts", bank="all").hits
        assert not [hit for hit in found if "harbour office" in hit.text]
        assert export(other, tmp_path / "two.jsonl", derived=False)


@pytest.mark.slow
def test_an_export_can_be_limited_to_a_bank_kinds_and_times(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        fleet = tuple(bank for bank in memory.reader.banks.all() if bank.name == "fleet")
        write_export(memory.reader, tmp_path / "a", ExportRequest(fleet))
        counts = types((tmp_path / "a").read_bytes())
        assert "turn" not in counts and counts["imported_record"] == 3 and counts["bank"] == 1
        only = types(export(memory, tmp_path / "b", ExportSelection(("sessions",)), derived=False))
        assert "curation" not in only and only["turn"] == 4
        none = types(
            export(memory, tmp_path / "c", ExportSelection(until="2000-01-01"), derived=False)
        )
        assert "turn" not in none and "session" not in none and "imported_record" not in none
        late = types(export(memory, tmp_path / "d", ExportSelection(("sessions",), "2020-01-01")))
        assert late["turn"] == 4
    with opened(tmp_path / "other") as other:
        other.imports.import_export(tmp_path / "b")
        assert other.store.records.counts().turns == 4


@pytest.mark.slow
def test_invalid_input_is_reported_and_nothing_is_imported_partially(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        data = export(memory, tmp_path / "one.jsonl")
    lines = data.splitlines(keepends=True)
    header = json.loads(lines[0])
    bad = {
        "cut": b"".join(lines[:-2]),
        "changed": data.replace(b"harbour", b"harbuor", 1),
        "torn": data[:-10],
        "newer": json.dumps({**header, "version": 2}).encode() + b"\n",
        "strange": b'{"a": 1}\n',
        "text": b"no json at all",
        "none": b"",
        "table": lines[0] + b'{"type":"sqlite_master","bank":"b"}\n',
        "column": lines[0] + b'{"type":"bank","bank":"b","id; DROP TABLE turn":1}\n',
        "deep": lines[0] + b"[" * 100_000 + b"\n",
        "value": lines[0] + b'{"type":"sent","bank":"b","id":[1]}\n',
    }
    with opened(tmp_path / "other") as other:
        for name, wrong in bad.items():
            (tmp_path / name).write_bytes(wrong)
            with pytest.raises(InputError):
                other.imports.import_export(tmp_path / name)
        for path in (tmp_path, tmp_path / "not there"):
            with pytest.raises(HoldfastError):
                other.imports.import_export(path)
        assert other.store.banks.all() == [] and other.store.records.counts().turns == 0


@pytest.mark.slow
def test_a_failed_export_leaves_no_file(tmp_path: Path) -> None:
    with filled(tmp_path) as memory:
        (tmp_path / "kept.jsonl").write_text("as it was")
        for path in (tmp_path / "no" / "folder.jsonl", tmp_path):
            with pytest.raises(HoldfastError):
                export(memory, path)
        assert (tmp_path / "kept.jsonl").read_text() == "as it was"
        export(memory, tmp_path / "kept.jsonl")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".kept")]


def test_every_table_is_exported_or_listed_as_not_exported(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.db")) as store:
        there = {
            name: {row[1] for row in store.database.all(f'PRAGMA table_info("{name}")')}
            for (name,) in store.database.all(
                "SELECT name FROM sqlite_master WHERE type = 'table' "
                "AND name NOT LIKE 'passage_fts%' AND name NOT LIKE 'sqlite%'"
            )
        }
    carried = {table.name: set(table.columns.split()) for table in TABLES}
    assert carried.pop("withheld_turn")
    carried["curation"].discard("session")
    assert set(carried) | set(DERIVED_TABLES) | set(LOCAL_TABLES) == set(there)
    assert {name: there[name] for name in carried} == carried


SAYINGS = st.sampled_from(
    ["Why does the loader fail?", "go on", "Always run the tests before a commit.", "commit this",
     "We decided to use hemp because cotton rots.", "The root cause was the lock. Fixed.", "ü✓ ‮",
     "[Request interrupted by user]", "I think the cache is stale.", "No, it was the lock."]
)  # fmt: skip
DEEDS = st.sampled_from(["remember", "forget", "correct", "judge", "undo", "import", "say"])


@pytest.mark.slow
@settings(
    costly(12),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(SAYINGS, min_size=1, max_size=6), max_size=3), st.lists(DEEDS, max_size=5))
def test_any_memory_is_restored_unchanged(
    tmp_path_factory: pytest.TempPathFactory, talks: list[list[str]], deeds: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    with opened(folder) as memory:
        for number, talk in enumerate(talks):
            script = Script(cwd=str(folder / "proj"), session=f"s{number}")
            for at, said in enumerate(talk):
                (script.assistant if at % 2 else script.user)(said)
            script.write(folder / "claude" / "projects")
        memory.ingest(memory.ingestion.find([])) if talks else None
        for number, deed in enumerate(deeds):
            do(memory, folder, deed, number)
        first = export(memory, folder / "one.jsonl", derived="forget" not in deeds)
        expected = [memory.recall(question, bank="all").hits for question in QUESTIONS]
    with opened(folder / "other") as other:
        other.imports.import_export(folder / "one.jsonl")
        assert export(other, folder / "two.jsonl", derived="forget" not in deeds) == first
        if "forget" not in deeds:
            assert [other.recall(question, bank="all").hits for question in QUESTIONS] == expected


def do(memory: Holdfast, folder: Path, deed: str, number: int) -> None:
    found = memory.recall("hemp loader tests lock cache fleet", bank="all").hits
    match deed:
        case "remember":
            memory.retain(f"Number {number} of the fleet is of hemp.", bank="fleet")
        case "forget" if found:
            memory.forget(found[0].uri)
        case "correct" if found and found[0].kind in ("turn", "exchange", "memory"):
            memory.correct(found[0].uri, f"Said anew: lock {number}.")
        case "judge" if found and found[0].kind in JUDGEABLE_KINDS:
            memory.curation.judge([found[0].uri], Verdict.OUTDATED, f"Sold in year {number}.")
        case "undo":
            memory.undo()
        case "import":
            path = folder / f"c{number}.db"
            memory.imports.import_records("claude-mem", claude_mem(path), bank="fleet")
        case _:
            pass
