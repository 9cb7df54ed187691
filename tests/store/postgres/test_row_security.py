"""What the server shows a connection, in all that can happen to one: it is never more than whoever
asks may see, and never what the one before could."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Any

import pytest

from holdfast.errors import ForbiddenError, NotFoundError, StoreError, StoreUnavailableError
from holdfast.model.ledgers.model_calls import ServicePause
from holdfast.principal import Level, Principal
from holdfast.store.postgres.schema import VERSION, migrations
from holdfast.store.postgres.store import PostgresStore
from holdfast.store.protocol import Store
from tests.store.conformance.samples import restricted
from tests.store.postgres.test_faults import kill_others
from tests.store.postgres.test_store import NOON, a_passage, fill, found
from tests.support.postgres_server import Server

BANKS = ("ours", "theirs")
_GIVE = """
    SELECT 'ALTER SCHEMA holdfast OWNER TO {role}' UNION ALL
    SELECT format('ALTER %s %s OWNER TO {role}', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END,
        oid::regclass) FROM pg_class WHERE relnamespace = 'holdfast'::regnamespace
        AND relkind IN ('r', 'p', 'v') UNION ALL
    SELECT format('ALTER FUNCTION %s OWNER TO {role}', oid::regprocedure) FROM pg_proc
        WHERE pronamespace = 'holdfast'::regnamespace
"""
_VALUES = {"bigint": "1", "double precision": "1", "bytea": "''", "text": "'[]'", "tsvector": "''"}
# What a principal may see of every bank: caps of model calls hold for all callers together.
_OPEN = ("model_call",)
PAUSE = ServicePause("someone", "2027-01-01T00:00:00Z", 1, "away", NOON)


@pytest.fixture
def url(postgres: Server) -> str:
    """A database with two banks, as its owner opens it."""
    made = postgres.database()
    with closing(PostgresStore(made)) as store:
        for bank in BANKS:
            fill(store, bank, a_passage(bank, f"p-{bank}", "raise the anchor"))
    return made


def key_for(*banks: str) -> Principal:
    return Principal("a", banks, Level.ADMIN)


@pytest.fixture(params=["superuser", "owner", "member"])
def opened(request: pytest.FixtureRequest, postgres: Server, url: str) -> str:
    """The same as those open it to whom row security does not apply, or does."""
    if request.param == "owner":
        return owned(postgres, url, "CREATEROLE")
    return postgres.member(url) if request.param == "member" else url


def owned(postgres: Server, url: str, rights: str) -> str:
    """How a role opens a database that owns all of it and is no superuser."""
    role = f"{url.split('/')[3].split('?')[0]}_owner"
    postgres.run(url, f"CREATE ROLE {role} LOGIN {rights}")
    for (statement,) in postgres.run(url, _GIVE.format(role=role)):
        postgres.run(url, statement)
    return url.replace("postgres@", f"{role}@")


def seen(store: Store) -> list[str]:
    """The banks that the server shows, as if the fence had a hole."""
    return sorted(bank.id for bank in store.banks.all())


def test_a_transaction_sees_the_banks_of_whoever_asks_in_it(
    postgres: Server, url: str, opened: str
) -> None:
    with closing(PostgresStore(opened)) as store:
        ours = restricted(store, key_for("ours"))
        with store.transaction():
            assert seen(store) == ["ours"]
            ours.model_calls.pause_service(PAUSE)  # of no bank
            assert seen(store) == ["ours"] and found(store, "theirs", "anchor") == []
        with pytest.raises(NotFoundError), store.transaction():
            ours.derived.put("theirs", "s2", [a_passage("theirs", "p3", "drop")])
        with suppress(StoreUnavailableError), store.transaction():
            ours.model_calls.paused_services()
            kill_others(postgres, url)
            store.banks.all()
        assert seen(store) == ["ours"] and found(store, "theirs", "anchor") == []
        ours.database.restrict(None)
        assert seen(store) == sorted(BANKS)


@pytest.mark.parametrize("fail", [True, False])
def test_a_connection_that_saw_more_is_restricted_again_when_reused(
    opened: str, fail: bool
) -> None:
    with closing(PostgresStore(f"{opened}&connections=2")) as store:
        everything = seen(store)
        ours = restricted(store, key_for("ours"))

        def broken() -> Any:
            raise StoreError("as if the disk were full", "")

        with suppress(StoreError), store.transaction():
            assert seen(ours) == ["ours"]
            ours.database.restrict(None)
            assert seen(ours) == everything
            if fail:
                broken()
        restricted(store, key_for("ours"))
        assert seen(store) == ["ours"]
        for who, banks in ((key_for("theirs"), ["theirs"]), (key_for(), [])):
            assert seen(restricted(store, who)) == banks
        # One that is called as everything is called is one that there is not.
        for name in ("*", "ours\x1ftheirs"):
            restricted(store, key_for(name))
            assert seen(store) == [] and store.model_calls.paused_services() == []


def test_keys_share_a_few_connections(opened: str) -> None:
    member = f"{opened}&connections=3"
    wrong: list[object] = []

    def ask(number: int) -> None:
        chance = random.Random(number)
        with closing(PostgresStore(member)) as store:
            for _ in range(25):
                banks = chance.choice([("ours",), ("theirs",), (), BANKS])
                mine = restricted(store, key_for(*banks))
                beside = mine.borrow_reader()
                assert beside is not None
                alarm = threading.Timer(chance.random() / 100, store.interrupt)
                alarm.start()
                with suppress(StoreError):  # broken off
                    shown = [seen(store), seen(beside)]
                    with store.transaction():
                        mine.model_calls.total_spent()
                        shown.append(seen(store))
                        if chance.random() < 0.5:
                            raise StoreError("no", "")
                    shown.append(seen(store))
                    wrong.extend(one for one in shown if one != sorted(banks))
                alarm.join()
                mine.return_reader(beside)
                mine.database.restrict(None)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(ask, range(6)))
    assert wrong == []


def test_a_principal_that_cannot_be_encoded_leaks_no_connection(postgres: Server, url: str) -> None:
    with closing(PostgresStore(f"{postgres.member(url)}&connections=2&wait_s=1")) as store:
        for _ in range(4):
            restricted(store, key_for("half \ud800"))
            with pytest.raises(UnicodeEncodeError):
                store.banks.all()
        restricted(store, key_for("ours"))
        assert seen(store) == ["ours"]


def test_a_role_that_does_not_own_the_tables_is_told_who_can_migrate(
    postgres: Server, url: str
) -> None:
    member = postgres.member(url)
    newer = [*migrations(), (f"{VERSION + 1:03}_next", "CREATE TABLE next_thing (bank text);")]
    with pytest.raises(StoreError, match="older version") as raised:
        PostgresStore(member, newer)
    assert "owner's address" in raised.value.remedy


def test_a_role_that_may_not_create_the_tables_is_told_who_can(postgres: Server) -> None:
    empty = postgres.empty_database()
    role = empty.split("/")[3].split("?")[0] + "_newcomer"
    postgres.run(empty, f"CREATE ROLE {role} LOGIN")
    newcomer = empty.replace("postgres@", f"{role}@")
    with pytest.raises(StoreUnavailableError, match="has no tables yet") as raised:
        PostgresStore(newcomer)
    assert "owner's address" in raised.value.remedy
    # A schema that somebody made for it is enough.
    postgres.run(empty, f"CREATE SCHEMA holdfast AUTHORIZATION {role}")
    with closing(PostgresStore(newcomer)) as store:
        assert seen(store) == []


def tables(postgres: Server, url: str) -> dict[str, dict[str, str]]:
    """The tables with a bank, each with the types of its columns."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in postgres.run(
        url,
        "SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_class AS c "
        "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
        "WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind IN ('r', 'p')",
    ):
        found.setdefault(table, {})[column] = kind
    return {
        name: columns
        for name, columns in sorted(found.items())
        if "bank" in columns and name not in _OPEN
    }


def a_row(table: str, columns: dict[str, str], bank: str, number: int) -> str:
    """A statement that adds a row to a table."""
    values = {
        name: f"'{bank} {name}'" if kind == "text" and name in ("alias", "path", "id") else value
        for name, kind in columns.items()
        if (value := _VALUES.get(kind, "NULL"))
    } | {"bank": f"'{bank}'"}
    for name in ("number", "seq", "id"):
        if columns.get(name) == "bigint":
            values[name] = str(number)
    names = ", ".join(f'"{name}"' for name in values)
    return (
        f'INSERT INTO "{table}" ({names}) VALUES ({", ".join(values.values())}) '
        "ON CONFLICT DO NOTHING"
    )


@pytest.fixture
def described(postgres: Server, url: str) -> dict[str, dict[str, str]]:
    """Both banks have a row in every table."""
    found = tables(postgres, url)
    for name, columns in found.items():
        for number, bank in enumerate(BANKS, 1001):
            postgres.run(
                url,
                "SET session_replication_role = replica; SET search_path = holdfast; "
                + a_row(name, columns, bank, number),
            )
    return found


def contents(postgres: Server, url: str, names: Iterable[str]) -> dict[str, list[Any]]:
    return {
        name: postgres.run(url, f'SELECT t::text FROM holdfast."{name}" AS t ORDER BY 1')
        for name in names
    }


def test_no_table_shows_another_bank_or_lets_it_be_changed(
    postgres: Server, url: str, opened: str, described: dict[str, dict[str, str]]
) -> None:
    before = contents(postgres, url, described)
    assert len(before) > 50
    assert all(any("theirs" in row[0] for row in rows) for rows in before.values())
    with closing(PostgresStore(opened)) as store:
        restricted(store, key_for("ours"))
        db = store.database
        for name, columns in described.items():
            assert db.all(f'SELECT DISTINCT bank FROM "{name}"') == [("ours",)], name
            with pytest.raises(NotFoundError):
                db.run(a_row(name, columns, "theirs", 2001))
            with pytest.raises(NotFoundError):
                db.run(f"UPDATE \"{name}\" SET bank = 'theirs'")
            assert db.run(f"UPDATE \"{name}\" SET bank = 'ours' WHERE bank = 'theirs'") == 0
            assert db.run(f"DELETE FROM \"{name}\" WHERE bank <> 'ours'") == 0
        assert db.all("SELECT * FROM api_key") == []
        db.restrict(None)
        assert {name for (name,) in db.all("SELECT bank FROM passage")} == set(BANKS)
    assert contents(postgres, url, described) == before


def test_a_principal_that_reads_changes_nothing(
    postgres: Server, url: str, opened: str, described: dict[str, dict[str, str]]
) -> None:
    before = contents(postgres, url, described)
    with closing(PostgresStore(opened)) as store:
        db = store.database
        for banks in (("ours",), None):
            restricted(store, Principal("a", banks, Level.READ))
            assert seen(store) == sorted(banks or BANKS)
            for name, columns in described.items():
                with pytest.raises(ForbiddenError):
                    db.run(a_row(name, columns, "ours", 2001))
                with pytest.raises(ForbiddenError):
                    db.run(f'UPDATE "{name}" SET bank = bank')
                assert db.run(f'DELETE FROM "{name}"') == 0
    assert contents(postgres, url, described) == before


def test_nobody_is_kept_to_banks_by_a_role_that_sees_all_and_makes_none(
    postgres: Server, url: str
) -> None:
    owner = owned(postgres, url, "")
    with closing(PostgresStore(owner)) as store:
        restricted(store, key_for("ours"))
        for _ in range(2):
            with pytest.raises(StoreError, match="sees every bank"):
                store.banks.all()
        store.database.restrict(None)
        assert seen(store) == sorted(BANKS)
    with pytest.raises(StoreError, match="sees every bank"):
        PostgresStore(owner, banks=["ours"])
    # It may make one, once.
    postgres.run(url, f"ALTER ROLE {owner.split('//')[1].split('@')[0]} CREATEROLE")
    PostgresStore(owner, banks=["ours"]).close()
    postgres.run(url, f"ALTER ROLE {owner.split('//')[1].split('@')[0]} NOCREATEROLE")
    with closing(PostgresStore(owner, banks=["ours"])) as store:
        assert seen(store) == ["ours"]
    with closing(PostgresStore(owner, read_only=True)) as reader:
        restricted(reader, key_for("ours"))
        assert seen(reader) == ["ours"]


def test_a_store_that_only_reads_keeps_a_key_to_its_banks(opened: str) -> None:
    with closing(PostgresStore(opened, read_only=True)) as store:
        restricted(store, Principal("a", ("ours",), Level.READ))
        lent = store.borrow_reader()
        assert lent is not None and seen(store) == seen(lent) == ["ours"]
        store.return_reader(lent)


def test_the_policies_of_earlier_versions_are_replaced(postgres: Server, url: str) -> None:
    postgres.run(
        url,
        "SET search_path = holdfast; CREATE TABLE later (bank text); "
        "ALTER TABLE later ENABLE ROW LEVEL SECURITY; "
        "ALTER TABLE model_call ENABLE ROW LEVEL SECURITY; "
        "CREATE POLICY banks ON later USING (may_see(bank)); "
        "CREATE POLICY banks ON model_call USING (may_see(bank)); "
        "SELECT enable_row_security()",
    )
    assert postgres.run(
        url,
        "SELECT c.relname, p.polname FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid "
        "WHERE c.relname IN ('later', 'model_call') ORDER BY 2",
    ) == [("later", name) for name in ("added", "changed", "removed", "seen")]
