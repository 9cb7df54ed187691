from __future__ import annotations

from pathlib import Path

from holdfast.app.memory import Holdfast
from tests.support.merged_banks import (
    check_a_merge_and_its_undo,
    clock,
    names,
    read,
    session,
    settings_of,
)
from tests.support.postgres_server import Server


def test_records_decisions_and_links_survive_a_merge_and_its_undo_on_a_server(
    postgres: Server, tmp_path: Path
) -> None:
    with Holdfast(settings_of(tmp_path, postgres.database()), clock) as memory:
        check_a_merge_and_its_undo(memory, tmp_path / "transcripts")


def test_banks_merge_and_come_apart_in_tables_that_are_split_by_bank(
    postgres: Server, tmp_path: Path
) -> None:
    store = f"{postgres.database()}&partitions=3"
    with Holdfast(settings_of(tmp_path, store), clock) as memory:
        read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
        memory.merging.merge("one", "two")
        assert names(memory) == ["two"]
        memory.merging.unmerge("one")
        assert sorted(names(memory)) == ["one", "two"]
        assert [len(memory.store.sessions.latest(b.id)) for b in memory.banks.all()] == [1, 1]
