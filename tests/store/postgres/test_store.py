"""What only a server can do, or can do to us."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from holdfast.errors import (
    NewerSchemaError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from holdfast.model.bank import Bank
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust
from holdfast.store.postgres.schema import VERSION, migrations
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from holdfast.store.sql.integrity import IntegrityReport
from holdfast.store.sql.rows import bank_word
from holdfast.store.sqlite import schema as sqlite
from holdfast.store.sqlite.store import SqliteStore
from tests.store.conformance.samples import an_exchange
from tests.support.postgres_server import Server

NOON = "2026-03-01T12:00:00Z"
# Known by numbers that a bank's rows are reached by, or of no bank at all.
NO_BANK_FIRST = {
    "api_key", "bank", "failed_task", "failed_line", "change_counter", "labelled_record", "ledger",
    "entity_mention",
    "migration", "service_pause", "redaction", "spelling_equivalence", "extension_trial",
}  # fmt: skip
# What is not of a bank and holds no text of one.
UNRESTRICTED = {
    "change_counter", "extension_trial", "failed_task", "migration", "model_call", "service_pause",
}  # fmt: skip
# Numbers that say nothing without the rows that they are numbers of.
NUMBERS = {"entity_mention", "labelled_record", "spelling_equivalence"}

# As the program wrote it before migration 10, with too few words.
_OLD_PASSAGE = f"""
INSERT INTO holdfast.bank VALUES ('ours', 'ours', '{NOON}', '', 3, 3, 3);
INSERT INTO holdfast.passage (bank, kind, id, session, time, scope, body, context, trust, status,
    role, seq, hash, words, length) VALUES ('ours', 'commit', 'p1', '', '{NOON}',
    '{bank_word("ours")} x', 'the winch has a tideTable', '', 'user', 'observed', '', 0, 'h',
    '{bank_word("ours")} the:1A winch:2A', 7);
"""


def a_bank(name: str) -> Bank:
    return Bank(name, name, NOON)


def a_passage(bank: str, id: str, body: str, context: str = "") -> Passage:
    return Passage(
        bank, "turn", id, "s", NOON, body, context, Trust.USER, Status.OBSERVED, "user", 1, id
    )


def fill(store: Store, bank: str, *passages: Passage) -> None:
    with store.transaction():
        store.banks.add(a_bank(bank))
        store.derived.put(bank, "s", passages)


def found(store: Store, bank: str | None, *terms: str) -> list[str]:
    return [match.passage.id for match in store.passages.search(bank, terms)]


@pytest.fixture
def member(postgres: Server) -> tuple[str, str]:
    """A database with two banks: how its owner opens it, and how somebody else does."""
    url = postgres.database()
    with closing(PostgresStore(url)) as store:
        fill(store, "ours", a_passage("ours", "p1", "raise the anchor"))
        fill(store, "theirs", a_passage("theirs", "p2", "drop the anchor"))
        for bank, id in (("ours", "x1"), ("theirs", "x2")):
            store.derived.put(bank, "t", [an_exchange(id, bank, "t")])
    return url, postgres.member(url)


def test_a_store_for_one_bank_sees_no_other(member: tuple[str, str]) -> None:
    with closing(PostgresStore(member[1], banks=["ours"])) as store:
        assert [bank.id for bank in store.banks.all()] == ["ours"]
        assert found(store, None, "anchor") == ["p1"]
        assert found(store, "theirs", "anchor") == []
        assert store.passages.term_frequencies(None, ["anchor"], 10) == [1]
        assert store.passages.count("theirs", 10) == 0
        for bank in (None, "ours"):
            assert store.records.find(bank, "", "") == [an_exchange("x1", "ours", "t")]
        assert store.records.find("theirs", "", "") == []
        with pytest.raises(NotFoundError):
            store.banks.add(a_bank("another"))
        with pytest.raises(NotFoundError), store.transaction():
            store.derived.put("theirs", "s", [a_passage("theirs", "p3", "ours now")])
        assert store.progress.unseen_changes("theirs", "any", 1) == []
    with closing(PostgresStore(member[0])) as owner:
        assert sorted(found(owner, None, "anchor")) == ["p1", "p2"]
        assert found(owner, "theirs", "ours") == []


def test_connections_that_wrote_more_or_less_agree_on_the_generation(postgres: Server) -> None:
    url = postgres.database()
    with closing(PostgresStore(url)) as busy, closing(PostgresStore(url)) as idle:
        fill(busy, "ours", a_passage("ours", "p1", "raise the anchor"))
        before = idle.generation()
        assert busy.generation() == before
        with busy.transaction():
            busy.banks.add(a_bank("another"))
            assert busy.generation() != before == idle.generation()
        assert busy.generation() == idle.generation() != before


def test_without_the_maintain_privilege_overwriting_fails_with_an_error(
    postgres: Server, member: tuple[str, str]
) -> None:
    with closing(PostgresStore(member[1])) as store:
        store.erasure.overwrite_deleted()
        role = member[1].split("//")[1].split("@")[0]
        postgres.run(member[0], f"REVOKE MAINTAIN ON ALL TABLES IN SCHEMA holdfast FROM {role}")
        with pytest.raises(StoreError, match="not overwritten"):
            store.erasure.overwrite_deleted()


def test_a_connection_without_a_bank_sees_no_rows(member: tuple[str, str]) -> None:
    with psycopg.connect(member[1]) as raw:
        tables = raw.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace "
            "AND relkind IN ('r', 'v') ORDER BY 1"
        ).fetchall()
        assert len(tables) > 60
        for (table,) in tables:
            if table not in UNRESTRICTED | NUMBERS:
                ((count,),) = raw.execute(f'SELECT count(*) FROM holdfast."{table}"'.encode())
                assert count == 0, table


def test_every_table_has_row_security_and_almost_every_key_starts_with_the_bank(
    postgres: Server,
) -> None:
    rows = postgres.run(
        postgres.database(),
        "SELECT c.relname, c.relrowsecurity, a.attname FROM pg_class AS c "
        "LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary "
        "LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] "
        "WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind = 'r'",
    )
    assert {name for name, walled, _ in rows if not walled} == UNRESTRICTED
    assert {name for name, _, first in rows if first != "bank"} == NO_BANK_FIRST


def test_there_is_one_writer_at_a_time(postgres: Server) -> None:
    url = postgres.database()
    with closing(PostgresStore(url)) as one, closing(PostgresStore(url, busy_s=0.05)) as other:
        with one.transaction():
            one.banks.add(a_bank("ours"))
            assert other.banks.all() == []
            with pytest.raises(StoreBusyError):
                other.banks.add(a_bank("theirs"))
        other.banks.add(a_bank("theirs"))
        assert [bank.id for bank in one.banks.all()] == ["ours", "theirs"]


def test_a_newer_or_unknown_schema_is_refused(postgres: Server) -> None:
    newer, strange = postgres.database(), postgres.empty_database()
    number = f"INSERT INTO holdfast.migration VALUES ({VERSION + 1}, 'later')"
    postgres.run(newer, number)
    postgres.run(strange, "CREATE SCHEMA holdfast; CREATE TABLE holdfast.mine (id int)")

    with pytest.raises(NewerSchemaError):
        PostgresStore(newer)
    with pytest.raises(StoreCorruptError, match="another program"):
        PostgresStore(strange)


def test_a_database_of_the_first_release_is_refused_with_a_way_to_move_it(
    postgres: Server,
) -> None:
    url = postgres.empty_database()
    postgres.run(
        url,
        "CREATE SCHEMA holdfast; CREATE TABLE holdfast.migration (number bigint, name text); "
        "INSERT INTO holdfast.migration VALUES (1, '001_foundation'), (22, '022_vector_count')",
    )
    with pytest.raises(StoreError, match=r"Holdfast 0\.1\.0 made") as refused:
        PostgresStore(url)
    assert "holdfast migrate postgresql://" in refused.value.remedy
    assert postgres.run(url, "SELECT count(*) FROM holdfast.migration") == [(2,)]


def test_a_running_older_program_writes_nothing_into_a_newer_schema(postgres: Server) -> None:
    url = postgres.database()
    with closing(PostgresStore(url)) as store:
        postgres.run(url, f"INSERT INTO holdfast.migration VALUES ({VERSION + 1}, 'later')")
        with pytest.raises(StoreError), store.transaction():
            store.banks.add(a_bank("ours"))
        assert store.banks.all() == []


def test_a_failed_migration_changes_nothing(postgres: Server) -> None:
    url = postgres.database()
    name = f"{VERSION + 1:03}_broken"
    broken = [*migrations(), (name, "CREATE TABLE later (bank text); SELECT 1 / 0;")]

    for _ in range(2):
        with pytest.raises(StoreError, match=rf"{name} .* division by zero") as raised:
            PostgresStore(url, broken)
        assert "`holdfast" not in raised.value.remedy

    assert postgres.run(url, "SELECT to_regclass('holdfast.later')") == [(None,)]
    with closing(PostgresStore(url)) as store:
        assert store.banks.all() == []


def test_processes_that_open_a_new_database_at_once_create_it_once(postgres: Server) -> None:
    url = postgres.empty_database()
    problems: list[BaseException] = []

    def open_it() -> None:
        try:
            PostgresStore(url).close()
        except BaseException as error:  # noqa: BLE001 - shown below
            problems.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert postgres.run(url, "SELECT count(*) FROM holdfast.migration") == [(VERSION,)]


def test_both_engines_have_the_same_tables_and_columns(postgres: Server, tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        names = store.database.all(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'passage_fts%' AND name NOT LIKE 'sqlite%'"
        )
        in_file = {
            (name, row[1])
            for (name,) in names
            for row in store.database.all(f'PRAGMA table_info("{name}")')
        }
    on_server = set(
        postgres.run(
            postgres.database(),
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'holdfast'",
        )
    )

    only_here = {
        "passage_statistics", "half_vector", "change_counter", "extension_trial", "migration",
    }  # fmt: skip
    added = {("passage", "words"), ("passage", "length")}
    assert {pair for pair in on_server if pair[0] not in only_here} - added == in_file


def test_the_version_is_the_number_of_the_last_migration() -> None:
    assert len(migrations()) == VERSION and len(sqlite.migrations()) == sqlite.VERSION


def test_both_stores_find_the_same_passages_and_rank_them_alike(
    postgres: Server, tmp_path: Path
) -> None:
    some = random.Random(7)
    words = (
        "anchor anchors buoy naïve naive tide tides mooring sail-plan tideTable 移行 Ελλάδα".split()
    )
    passages = [
        a_passage("ours", f"p{n}", _random_text(some, words, 30), _random_text(some, words, 6))
        for n in range(80)
    ]
    asked = (["anchor"], ["buoy", "移行"], ["sail-plan"], ["Naive", "tables", "absent"], ["moor…"])
    with ExitStack() as opened:
        stores: list[Store] = [
            SqliteStore(tmp_path / "memory.db"),
            PostgresStore(postgres.database()),
        ]
        for store in stores:
            opened.callback(store.close)
            fill(store, "ours", *passages)
        for terms in asked:
            one, other = (
                [m.passage.id for m in s.passages.search("ours", terms, limit=80)] for s in stores
            )
            assert one and set(one) == set(other), terms
            assert len(one) < 20 or set(one[:20]) & set(other[:5]), terms
        one, other = (s.passages.term_frequencies("ours", words[:4], 99) for s in stores)
        assert one == other


def test_words_of_an_older_version_are_found_and_made_again(postgres: Server) -> None:
    url = postgres.empty_database()
    older = "".join(one.script for one in migrations()[:9])
    postgres.run(url, f"CREATE SCHEMA holdfast; SET search_path = holdfast; {older}")
    made = "SELECT n AS number, '' AS name FROM generate_series(1, 9) AS n"
    postgres.run(url, f"CREATE TABLE holdfast.migration AS {made}")
    postgres.run(url, f"SET search_path = holdfast; {_OLD_PASSAGE}")
    with closing(PostgresStore(url)) as store:
        assert found(store, "ours", "winch") == ["p1"]
        with store.transaction():
            assert store.passages.add_missing_parts() == 1
        assert found(store, "ours", "winch") == found(store, "ours", "table") == ["p1"]
        assert store.check_integrity() == IntegrityReport()


def test_erased_text_is_in_no_file_of_the_database(postgres: Server) -> None:
    url = postgres.database()
    with closing(PostgresStore(url)) as store:
        fill(store, "ours", a_passage("ours", "p1", "the word is zyxwordzyx"))
        postgres.run(url, "CHECKPOINT")
        assert postgres.holding(url, b"zyxwordzyx")
        with store.transaction():
            store.derived.put("ours", "s", [])
        store.erasure.overwrite_deleted()
    postgres.run(url, "CHECKPOINT")

    assert postgres.holding(url, b"zyxwordzyx") == []


def _random_text(some: random.Random, words: Sequence[str], most: int) -> str:
    return " ".join(some.choices(words, k=some.randint(1, most)))
