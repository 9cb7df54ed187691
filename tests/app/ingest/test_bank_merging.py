from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.errors import ForbiddenError, InputError, NotFoundError
from holdfast.model.curation import Action
from holdfast.principal import Level, Principal
from tests.support.empty_memory import with_empty_memory
from tests.support.merged_banks import (
    Prepared,
    check_a_merge_and_its_undo,
    clock,
    contents,
    names,
    read,
    session,
    settings_of,
)


@pytest.fixture
def memory(tmp_path: Path) -> Generator[Holdfast]:
    with Holdfast(with_empty_memory(settings_of(tmp_path)), clock) as opened:
        yield opened


@pytest.mark.slow
def test_undo_takes_back_a_merge(memory: Holdfast, tmp_path: Path) -> None:
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    memory.merging.merge("one", "two")
    assert [entry.action for entry in memory.undo()] == [Action.MERGE]
    assert sorted(names(memory)) == ["one", "two"]


def test_a_new_session_in_a_merged_folder_goes_to_the_bank_it_was_merged_into(
    memory: Holdfast, tmp_path: Path
) -> None:
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    memory.merging.merge("one", "two")
    read(memory, tmp_path, session(3, "/gone/one"), session(4, "/gone/two"))
    (bank,) = memory.banks.all()
    assert len(memory.store.sessions.latest(bank.id)) == 4


@pytest.mark.slow
def test_records_decisions_and_links_survive_a_merge_and_its_undo(
    memory: Holdfast, tmp_path: Path
) -> None:
    check_a_merge_and_its_undo(memory, tmp_path / "transcripts")


@pytest.mark.slow
def test_what_was_read_and_decided_since_a_merge_goes_back_with_it(
    memory: Holdfast, tmp_path: Path
) -> None:
    p = Prepared(memory, tmp_path / "transcripts")
    memory.merging.merge("feature", "shop")
    p.script.user("And what about guests?")
    read(memory, tmp_path / "transcripts", p.script)
    late = p.turns(p.shop)[-1]
    memory.forget(late)
    memory.undo(1)
    memory.correct(late, "And what about guests without an account?")
    memory.merging.unmerge(p.feature)
    assert memory.show(late).record.bank == p.feature
    assert "without an account" in str(memory.show(late).record)
    log = [entry.target for entry in memory.store.curation.log(p.feature)]
    assert log.count(late) == 2
    assert late not in [entry.target for entry in memory.store.curation.log(p.shop)]


def test_a_session_that_both_banks_have_is_whole_after_a_merge_and_its_undo(
    memory: Holdfast, tmp_path: Path
) -> None:
    shared = session(1, "/gone/feature", text="Why do carts vanish?")
    read(memory, tmp_path / "first", shared)
    shared.user("It happens at night.")
    copy = shared.write(tmp_path / "second")
    memory.ingestion.ingest(memory.ingestion.find([copy], "shop"))
    before = contents(memory)
    assert len(before) == 2
    memory.merging.merge("feature", "shop")
    (bank,) = memory.banks.all()
    (one,) = memory.store.sessions.latest(bank.id)
    texts = [turn.text for turn in memory.store.turns.stream_uncurated(bank.id, one.id)]
    assert texts.count("Why do carts vanish?") == 1 and texts[-1] == "It happens at night."
    memory.merging.unmerge("feature")
    assert contents(memory) == before


@pytest.mark.slow
def test_merges_can_be_undone_in_any_order_unless_one_went_through_another(
    memory: Holdfast, tmp_path: Path
) -> None:
    folder = tmp_path / "transcripts"
    read(memory, folder, *(session(n, f"/gone/{name}") for n, name in enumerate("abc")))
    before = contents(memory)
    memory.merging.merge("a", "b")
    memory.merging.merge("b", "c")
    with pytest.raises(InputError, match="merged into another bank since"):
        memory.merging.unmerge("a")
    memory.merging.unmerge("b")
    memory.merging.unmerge("a")
    assert contents(memory) == before
    memory.merging.merge("a", "c")
    memory.merging.merge("b", "c")
    memory.merging.unmerge("a")
    memory.merging.unmerge("b")
    assert contents(memory) == before


def test_a_merge_gives_no_key_access_to_more_than_it_had(memory: Holdfast, tmp_path: Path) -> None:
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    for level in (Level.READ, Level.ADMIN):
        make_key(memory, KeyRequest(f"for one {level.value}", ("one",), level))
    with pytest.raises(InputError, match=r"would let .*the key 'for one read'"):
        memory.merging.merge("two", "one")
    for key in memory.store.api_keys.all():
        with (
            memory.context.scoped_to(Principal(key.name, key.banks, key.level, key.id)),
            pytest.raises((NotFoundError, ForbiddenError)),
        ):
            memory.merging.merge("two", "one")


def test_a_key_of_a_bank_sees_nothing_of_the_bank_that_it_was_merged_into(
    memory: Holdfast, tmp_path: Path
) -> None:
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    _, key = make_key(memory, KeyRequest("for one", ("one",), Level.READ))
    memory.merging.merge("one", "two")
    with memory.context.scoped_to(Principal(key.name, key.banks, key.level, key.id)):
        assert memory.banks.all() == []
        for name in ("one", "two", *(key.banks or ())):
            with pytest.raises(NotFoundError):
                memory.banks.get(name)
    memory.merging.unmerge("one")
    with memory.context.scoped_to(Principal(key.name, key.banks, key.level, key.id)):
        assert names(memory) == ["one"]


def test_a_bank_is_not_merged_into_itself_and_an_unknown_merge_not_undone(
    memory: Holdfast, tmp_path: Path
) -> None:
    read(memory, tmp_path, session(1, "/gone/one"))
    with pytest.raises(InputError, match="is one bank"):
        memory.merging.merge("one", "one")
    with pytest.raises(NotFoundError, match="No bank 'one' was merged"):
        memory.merging.unmerge("one")
