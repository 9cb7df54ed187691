from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from holdfast.app.doctor.examine import run_checks
from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.errors import ForbiddenError, InputError, NotFoundError
from holdfast.model.curation import Action
from holdfast.principal import Level, Principal
from tests.support.empty_memory import with_empty_memory
from tests.support.merged_banks import (
    REMOTE,
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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(("git remote -v", REMOTE), ("git remote -v", REMOTE), id="the same remote"),
        pytest.param(
            ("git remote get-url origin", "git@github.com:acme/shop.git"),
            ("git push", "To https://github.com/acme/shop.git\n   1..2  main -> main"),
            id="a remote over ssh and a push over https",
        ),
        pytest.param(
            ("git worktree list", "/gone/one  0a1b2c3 [main]\n/gone/two  4d5e6f7 [next]"),
            ("ls", ""),
            id="a list of worktrees",
        ),
        pytest.param(
            ("git worktree add -b next ../two", "Preparing worktree (new branch 'next')"),
            ("ls", ""),
            id="a worktree that was added",
        ),
        pytest.param(
            ("gh pr create --fill", "https://github.com/acme/shop/pull/12"),
            ("git remote -v", REMOTE),
            id="a pull request and a remote",
        ),
        pytest.param(
            ("git log --oneline -2", "0a1b2c3 Keep carts\n4d5e6f7 Start the shop"),
            ("git log --oneline", "9999999 Next\n0a1b2c3 Keep carts\n4d5e6f7 Start the shop"),
            id="the same commits",
        ),
    ],
)
def test_banks_of_gone_folders_join_where_transcripts_show_one_repository(
    memory: Holdfast, tmp_path: Path, first: tuple[str, str], second: tuple[str, str]
) -> None:
    report = read(memory, tmp_path, session(1, "/gone/one", first), session(2, "/gone/two", second))
    assert len(report.joined) == 1 and report.joined[0].merged
    (bank,) = memory.banks.all()
    assert {"path:/gone/one", "path:/gone/two"} <= set(bank.aliases)
    assert len(memory.store.sessions.latest(bank.id)) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(("ls", ""), ("ls", ""), id="nothing but the same name"),
        pytest.param(
            ("git remote -v", REMOTE),
            ("git remote -v", REMOTE.replace("acme", "fork")),
            id="a fork with another remote",
        ),
        pytest.param(
            (
                "git remote -v && git log --oneline",
                f"{REMOTE}\n0a1b2c3 Keep carts\n4d5e6f7 Start the shop",
            ),
            (
                "git remote -v && git log --oneline",
                f"{REMOTE.replace('acme', 'fork')}\n0a1b2c3 Keep carts\n4d5e6f7 Start the shop",
            ),
            id="a fork that shows the same commits",
        ),
        pytest.param(
            ("git log --oneline -1", "0a1b2c3 Initial commit"),
            ("git log --oneline -1", "0a1b2c3 Initial commit"),
            id="one commit that might be a coincidence",
        ),
        pytest.param(
            ("git remote -v", REMOTE),
            ("cd ../other && git remote -v", REMOTE),
            id="a remote of another folder",
        ),
        pytest.param(
            ("git remote -v", REMOTE),
            ("gh pr view 3 --repo acme/shop --json url", "https://github.com/acme/shop/pull/3"),
            id="a pull request of another repository",
        ),
    ],
)
def test_banks_stay_apart_where_it_is_not_clear_that_they_are_one_project(
    memory: Holdfast, tmp_path: Path, first: tuple[str, str], second: tuple[str, str]
) -> None:
    given = session(1, "/gone/a/shop", first), session(2, "/gone/b/shop", second)
    assert read(memory, tmp_path, *given).joined == []
    assert names(memory) == ["shop", "shop"]


def test_a_project_of_a_folder_that_exists_takes_in_those_that_are_gone(
    memory: Holdfast, tmp_path: Path
) -> None:
    here = tmp_path / "shop"
    here.mkdir()
    scripts = (
        session(1, str(here), ("git remote -v", REMOTE)),
        session(2, "/gone/shop-next", ("git remote -v", REMOTE)),
    )
    (join,) = read(memory, tmp_path / "transcripts", *scripts).joined
    assert (join.bank, join.into) == ("shop-next", "shop")


def test_two_folders_that_exist_are_left_to_git(memory: Holdfast, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    scripts = [session(n, str(f), ("git remote -v", REMOTE)) for n, f in enumerate(folders)]
    assert read(memory, tmp_path / "transcripts", *scripts).joined == []
    assert names(memory) == ["one", "two"]


def proposable(memory: Holdfast, folder: Path) -> tuple[str, str]:
    """Two banks that may be one project; returns their ids."""
    for number, cwd in enumerate(("/gone/shop", "/gone/shop-feature")):
        script = session(number, cwd)
        for name in "cart checkout orders prices stock users".split():
            script.tool("Read", "1\tpass", file_path=f"{cwd}/src/{name}.py")
        read(memory, folder, script)
    one, other = memory.banks.all()
    return one.id, other.id


def test_common_files_and_names_are_proposed_with_the_command(
    memory: Holdfast, tmp_path: Path
) -> None:
    shop, feature = proposable(memory, tmp_path)
    (join,) = memory.merging.joins()
    assert {join.bank_id, join.into_id} == {shop, feature} and not join.merged
    assert "6 same files" in join.reason
    (check,) = [c for c in run_checks(memory.settings, None) if c.name == "banks"]
    assert join.reason in check.sentence and join.command in check.remedy
    memory.merging.keep_apart(feature, shop)
    assert memory.merging.joins() == []
    memory.undo()
    assert len(memory.merging.joins()) == 1


def test_reading_a_session_lists_no_files_of_all_turns(memory: Holdfast, tmp_path: Path) -> None:
    read(memory, tmp_path, session(1, "/gone/one", ("ls", "")))
    asked: list[str] = []
    connection = cast(sqlite3.Connection, memory.store.__dict__["_raw"])
    connection.set_trace_callback(asked.append)
    read(memory, tmp_path, session(2, "/gone/two", ("ls", "")))
    read_at, asked = asked, []
    connection.set_trace_callback(asked.append)
    memory.merging.joins()
    connection.set_trace_callback(None)
    assert any("FROM project_clue" in sql for sql in read_at)
    files = ["SELECT DISTINCT target" in " ".join(sqls) for sqls in (read_at, asked)]
    assert files == [False, True], "who asks what could be merged is told of common files"


def test_a_merge_that_a_person_undid_is_not_done_again(memory: Holdfast, tmp_path: Path) -> None:
    given = ("git remote -v", REMOTE)
    read(memory, tmp_path, session(1, "/gone/one", given), session(2, "/gone/two", given))
    assert len(names(memory)) == 1
    (gone,) = {"one", "two"} - set(names(memory))
    assert memory.merging.unmerge(gone).name == gone
    assert sorted(names(memory)) == ["one", "two"]
    assert read(memory, tmp_path, session(3, "/gone/two", given)).joined == []
    assert sorted(names(memory)) == ["one", "two"]


@pytest.mark.slow
def test_undo_takes_back_a_merge_that_a_person_made_and_none_that_was_automatic(
    memory: Holdfast, tmp_path: Path
) -> None:
    given = ("git remote -v", REMOTE)
    read(memory, tmp_path, session(3, "/gone/three"))
    remembered = memory.remember("Carts are kept for a week.", bank="three")
    read(memory, tmp_path, session(1, "/gone/one", given), session(2, "/gone/two", given))
    assert len(names(memory)) == 2
    (merged,) = set(names(memory)) - {"three"}
    memory.merging.merge("three", merged)
    assert [entry.action for entry in memory.undo()] == [Action.MERGE]
    assert sorted(names(memory)) == sorted(["three", merged])
    (undone,) = memory.undo()
    assert undone.target == f"holdfast://memory/{remembered.id}"
    assert memory.undo() == [] and len(names(memory)) == 2


def test_a_new_session_in_a_merged_folder_goes_to_the_bank_it_was_merged_into(
    memory: Holdfast, tmp_path: Path
) -> None:
    given = ("git remote -v", REMOTE)
    read(memory, tmp_path, session(1, "/gone/one", given), session(2, "/gone/two", given))
    read(memory, tmp_path, session(3, "/gone/one"), session(4, "/gone/two"))
    (bank,) = memory.banks.all()
    assert len(memory.store.sessions.latest(bank.id)) == 4


@pytest.mark.slow
def test_records_decisions_and_links_survive_a_merge_and_its_undo(
    memory: Holdfast, tmp_path: Path
) -> None:
    check_a_merge_and_its_undo(memory, tmp_path / "transcripts")


@pytest.mark.slow
def test_nothing_of_a_merged_bank_is_left_behind(memory: Holdfast, tmp_path: Path) -> None:
    p = Prepared(memory, tmp_path / "transcripts")
    memory.merging.merge("feature", "shop")
    with closing(sqlite3.connect(memory.settings.database)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        left: list[str] = []
        for table in tables:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            if "bank" in columns:
                (count,) = connection.execute(
                    f'SELECT count(*) FROM "{table}" WHERE bank = ?', (p.feature,)
                ).fetchone()
                left += [table] * bool(count)
    assert "turn" in tables and left == []


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
    memory.merging.joins()
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
    given = ("git remote -v", REMOTE)
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    for level in (Level.READ, Level.ADMIN):
        make_key(memory, KeyRequest(f"for one {level.value}", ("one",), level))
    with pytest.raises(InputError, match=r"would let .*the key 'for one read'"):
        memory.merging.merge("two", "one")
    later = session(1, "/gone/one", given), session(2, "/gone/two", given)
    assert read(memory, tmp_path, *later).joined == []
    (proposed,) = memory.merging.joins()
    assert {proposed.bank, proposed.into} == {"one", "two"}
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


def test_a_key_of_both_banks_does_not_hinder_a_merge(memory: Holdfast, tmp_path: Path) -> None:
    read(memory, tmp_path, session(1, "/gone/one"), session(2, "/gone/two"))
    make_key(memory, KeyRequest("for both", ("one", "two"), Level.READ))
    assert memory.merging.merge("two", "one").name == "one"


def test_a_bank_is_not_merged_into_itself_and_an_unknown_merge_not_undone(
    memory: Holdfast, tmp_path: Path
) -> None:
    read(memory, tmp_path, session(1, "/gone/one"))
    with pytest.raises(InputError, match="is one bank"):
        memory.merging.merge("one", "one")
    with pytest.raises(NotFoundError, match="No bank 'one' was merged"):
        memory.merging.unmerge("one")
