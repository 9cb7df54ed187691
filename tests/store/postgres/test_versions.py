"""Servers of versions that are too old, or do not know a right."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.errors import StoreError, StoreUnavailableError
from holdfast.store.postgres.store import PostgresStore
from tests.support.postgres_proxy import Proxy
from tests.support.postgres_server import Server

ROLE_SCRIPT = Path(__file__).parents[3] / "deploy" / "postgres" / "role.sh"


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with closing(Server()) as server:
        yield server


@contextmanager
def announcing(postgres: Server, version: str) -> Generator[Path]:
    """A folder with the socket of the server, which says that it is of another version."""
    with (
        tempfile.TemporaryDirectory(prefix="hf-", dir="/tmp") as folder,
        closing(Proxy(Path(folder), postgres.home, version)),
    ):
        yield Path(folder)


def database_behind(postgres: Server, folder: Path) -> str:
    return postgres.database().replace(str(postgres.home), str(folder))


@pytest.mark.parametrize("version", ["9.6", "13.2", "15.4"])
@pytest.mark.parametrize("banks", [None, []])
def test_a_server_that_is_too_old_is_refused_at_opening_with_what_to_do(
    postgres: Server, version: str, banks: list[str] | None
) -> None:
    with announcing(postgres, version) as folder, pytest.raises(StoreError) as raised:
        PostgresStore(database_behind(postgres, folder), banks=banks)

    major = version.split(".")[0]
    assert not isinstance(raised.value, StoreUnavailableError)
    assert f"PostgreSQL {major} at" in raised.value.message
    assert "16 or newer is needed" in raised.value.message
    assert "pg_upgrade" in raised.value.remedy and "docs/postgres.md" in raised.value.remedy


@pytest.mark.parametrize("version", ["16.1", "17.2", "18.4"])
def test_a_supported_server_is_opened(postgres: Server, version: str) -> None:
    with (
        announcing(postgres, version) as folder,
        closing(PostgresStore(database_behind(postgres, folder))) as store,
    ):
        assert store.banks.all() == []


@pytest.mark.parametrize(("version", "granted"), [("16.1", False), ("17.2", True)])
def test_maintain_is_granted_only_by_servers_that_know_it(
    postgres: Server, version: str, granted: bool, tmp_path: Path
) -> None:
    with announcing(postgres, version) as folder:
        script = tmp_path / "role.sh"
        text = ROLE_SCRIPT.read_text().replace("CREATE EXTENSION IF NOT EXISTS vector;\n", "")
        script.write_text(text.replace("memory", f"memory{granted}".lower()))
        postgres.run(postgres.url("postgres"), "DROP ROLE IF EXISTS holdfast, holdfast_owner")
        env = {
            "PATH": f"{postgres.programs}:{os.defpath}",
            "PGHOST": str(folder),
            "POSTGRES_USER": "postgres",
            "HOLDFAST_OWNER_PASSWORD": "one",
            "HOLDFAST_DB_PASSWORD": "two",
        }
        run = subprocess.run(["sh", script], env=env, capture_output=True, text=True)
    database = postgres.url(f"memory{granted}".lower())
    rights = postgres.run(database, "SELECT defaclacl::text FROM pg_default_acl")
    postgres.run(postgres.url("postgres"), f"DROP DATABASE memory{granted}".lower())

    assert run.returncode == 0, run.stderr
    # In PostgreSQL's letters: a (insert), r (select), w (update), d (delete), m (maintain).
    assert any("holdfast=arwdm/" in row for (row,) in rights) is granted
    assert granted or any("holdfast=arwd/" in row for (row,) in rights)
