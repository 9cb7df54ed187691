"""The texts of an exchange are read once for concepts, and again when they or the rules change."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.refine.concepts.concept_stage import VERSION, build_concepts, update_bank_concepts
from holdfast.refine.concepts.items import TextFeatures, text_fingerprint
from holdfast.settings import Settings
from holdfast.store.protocol import Writer
from tests.support.transcripts import Script
from tests.support.watched_calls import watched_calls


def write_session(folder: Path, number: int, more: str = "") -> None:
    script = Script(f"{number:08x}-0000-4000-8000-000000000001", cwd="/home/dev/harbour")
    for part in ("tide table", "berth plan"):
        script.user(f"Fix the {part} of quay {number}{more}")
        script.tool("Edit", file_path=f"/home/dev/harbour/src/{part.replace(' ', '_')}.py")
        script.assistant(f"The **{part}** of quay {number} reads `harbourTide` now.")
    script.write(folder / "projects")


def keep_as_of_other_rules(store: Writer, bank: str) -> None:
    """Leave the bank as rules of an earlier version would, which found nothing in its texts."""
    nothing = TextFeatures({}, {}, ()).to_json()
    earlier = {
        x.id: f"{text_fingerprint(x, VERSION - 1)} {nothing}"
        for x in store.sessions.bank_exchanges(bank)
    }
    with store.transaction():
        store.concepts.put_features(bank, earlier)


@pytest.mark.slow
def test_only_new_exchanges_are_read_and_the_concepts_are_those_of_a_rebuild(
    tmp_path: Path,
) -> None:
    amounts: list[int] = []
    with (
        Holdfast(Settings(tmp_path / "home", tmp_path, embed_model="none")) as memory,
        watched_calls(TextFeatures.read) as read,
    ):
        for first, last in ((0, 2), (2, 3), (3, 12), (12, 13)):
            for number in range(first, last):
                write_session(tmp_path, number)
            read.clear()
            memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
            amounts.append(len(read))
        bank, store = memory.reader.banks.all()[0].id, memory.store
        assert amounts == [4, 2, 18, 2], "two exchanges a session, whatever the bank holds"
        kept = build_concepts(store, bank)
        assert kept and len(read) == 2
        keep_as_of_other_rules(store, bank)
        read.clear()
        assert build_concepts(store, bank) == kept and len(read) == 26, "other rules read all"
        update_bank_concepts(store, bank)
        read.clear()
        assert build_concepts(store, bank) == kept and read == []
        write_session(tmp_path, 12, " by noon")
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        titles = [call.variables["exchange"].title for call in read]
        assert any(title.endswith("by noon") for title in titles)
        assert all("of quay 12" in title for title in titles), "no other session was read"


def test_features_are_the_same_after_they_were_kept(tmp_path: Path) -> None:
    write_session(tmp_path, 1)
    with Holdfast(Settings(tmp_path / "home", tmp_path, embed_model="none")) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        bank = memory.reader.banks.all()[0].id
        for exchange in memory.store.sessions.bank_exchanges(bank):
            made = TextFeatures.read(exchange)
            assert made.terms and made.files and made.words
            assert TextFeatures.from_json(made.to_json()) == made
