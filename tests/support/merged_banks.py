"""Sessions in folders that are gone, banks made of them, and what holds when banks are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.learn.bank_merge_log import is_bank_merge
from holdfast.model.curation import Action, Verdict
from holdfast.refine.ingest.ingest_report import IngestReport
from holdfast.settings import Settings, load_settings
from tests.support.transcripts import Script


def clock() -> str:
    return "2026-10-01T12:00:00.000Z"


def settings_of(folder: Path, store: str = "") -> Settings:
    given = {"HOME": str(folder / "home"), "HOLDFAST_EMBEDDER": "none", "HOLDFAST_STORE": store}
    return load_settings(given)


def session(number: int, cwd: str, text: str = "") -> Script:
    """A session in a folder that does not exist."""
    script = Script(f"{number:08d}-0000-4000-8000-000000000001", cwd=cwd)
    script.user(text or f"Please look at the checkout of shop number {number}.")
    script.tool("Read", "1\tpass", file_path=f"{cwd}/src/checkout_{number}.py")
    script.assistant(f"We decided to keep carts number {number} in Redis, because it is fast.")
    return script


def read(memory: Holdfast, folder: Path, *scripts: Script) -> IngestReport:
    paths = [script.write(folder) for script in scripts]
    return memory.ingestion.ingest(memory.ingestion.find(paths))


def names(memory: Holdfast) -> list[str]:
    return [bank.name for bank in memory.banks.all()]


def contents(memory: Holdfast) -> dict[str, tuple[Any, ...]]:
    """What people see of each bank, and where it is."""
    store = memory.store
    found: dict[str, tuple[Any, ...]] = {}
    for bank in store.banks.all():
        sessions = sorted(one.id for one in store.sessions.latest(bank.id, 100))
        turns = [
            (turn.id, turn.session, turn.seq, turn.text)
            for id in sessions
            for turn in store.turns.stream_uncurated(bank.id, id)
        ]
        log = [
            (entry.seq, entry.action, entry.target)
            for entry in store.curation.log(bank.id)
            if not is_bank_merge(entry)
        ]
        merges = {str(e.seq) for e in store.curation.log(bank.id) if is_bank_merge(e)}
        found[bank.id] = (
            (bank.name, sorted(bank.aliases)),
            [source.path for source in store.sources.all(bank.id)],
            sessions,
            turns,
            sorted((one.id, one.what) for one in store.memories.remembered(bank.id)),
            [entry for entry in log if entry[1] is not Action.UNDO or entry[2] not in merges],
            sorted((fact.id, fact.content) for fact in store.facts.all(bank.id)),
            store.passages.count(bank.id, 1000),
            sorted(concept.name for concept in store.concepts.latest(bank.id)),
        )
    return found


class Prepared:
    """Two banks with memories and decisions."""

    def __init__(self, memory: Holdfast, folder: Path) -> None:
        self.memory, self.folder = memory, folder
        self.script = session(1, "/gone/feature", text="Why do carts in the feature vanish?")
        read(memory, folder, self.script, session(2, "/gone/shop", text="Add a wish list."))
        self.feature, self.shop = (self.bank(name) for name in ("feature", "shop"))
        self.remembered = memory.remember("Carts are kept for a week.", bank=self.feature)
        turns = self.turns(self.feature)
        self.corrected, self.forgotten = turns[0], turns[1]
        memory.correct(self.corrected, "Why do carts vanish at night?")
        memory.forget(self.forgotten)
        memory.curation.judge([self.remembered.id], Verdict.OUTDATED, "The shop was sold.")

    def bank(self, name: str) -> str:
        return self.memory.banks.get(name).id

    def turns(self, bank: str) -> list[str]:
        store = self.memory.store
        (one,) = [s for s in store.sessions.latest(bank) if "/feature" in s.cwd]
        found = store.turns.stream_uncurated(bank, one.id)
        return [f"holdfast://turn/{t.id}" for t in found if t.tool is None]


def check_a_merge_and_its_undo(memory: Holdfast, folder: Path) -> None:
    """Records, decisions and links work after a merge and after it was undone."""
    p = Prepared(memory, folder)
    before = contents(memory)
    assert len(before) == 2
    memory.merging.merge("feature", "shop")
    (bank,) = memory.banks.all()
    assert bank.id == p.shop
    assert memory.show(p.corrected).record.bank == p.shop
    assert "at night" in str(memory.show(p.corrected).record)
    with pytest.raises(NotFoundError):
        memory.show(p.forgotten)
    remembered = memory.show(f"holdfast://memory/{p.remembered.id}")
    assert remembered.record.bank == p.shop
    assert [one.now for one in remembered.ended] == ["The shop was sold."]
    assert memory.banks.get("feature").id == memory.banks.get(p.feature).id == p.shop
    found = memory.recall("How long are carts kept?", bank="feature", local=True)
    assert f"holdfast://memory/{p.remembered.id}" in [hit.uri for hit in found.hits]
    assert memory.store.check_integrity() == ((), ())
    memory.merging.unmerge("feature")
    assert contents(memory) == before
    assert memory.store.check_integrity() == ((), ())
    assert memory.show(p.corrected).record.bank == p.feature
    assert "at night" in str(memory.show(p.corrected).record)
