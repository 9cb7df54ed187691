"""The connections of a process to one memory: psycopg's pool, and what we ask of a connection.

A connection is opened when it is needed and none is idle. When the server is away, all threads wait
for it together: once that took `wait_s`, none waits any more until it is back.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import StrDumperUnknown
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.errors import StoreError, StoreUnavailableError
from holdfast.store.postgres.address import Address, location_of
from holdfast.store.postgres.errors import store_error

# The oldest supported version. Statements are tested on this one and newer ones.
_MIN_VERSION = 16
# An idle connection is closed after this time, because a server has few.
_MAX_IDLE_S = 300.0
# How often the pool is asked again while it has no connection to give.
_POLL_S = 0.3
# Options of a connection, unless the URL has others. They let a server that is gone without closing
# the connection be noticed after about half a minute.
_CONNECT_DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "holdfast",
}
# PostgreSQL takes no null character in a text; this sequence, which no text has, replaces it.
_ESCAPE, _NULL = "\U0010fffe", "\U0010ffff\U0010fffe"
# The pool logs each failed attempt to connect; callers get an error that says it.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Session(psycopg.Connection[Any]):
    """A connection: its role, the banks that the server shows it, and whether it may change them;
    None where that is not known."""

    shown: tuple[str, str, str] | None = None


class _TextLoader(Loader):
    def load(self, data: Any) -> str:
        text = bytes(data).decode("utf-8")
        return text.replace(_NULL, "\x00") if _ESCAPE in text else text


class _TextDumper(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\x00", _NULL) if "\x00" in obj else obj)


class _NumberLoader(Loader):  # for sums of whole numbers
    def load(self, data: Any) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


class _FlagDumper(Dumper):  # columns have numbers
    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class Pool(ConnectionPool[Session]):
    """The connections to one memory, and what this process knows of its server."""

    def __init__(self, address: Address, read_only: bool) -> None:
        self.place, self.wait_s = location_of(address.url), address.wait_s
        # One thread writes at a time; those that wait for that hold no connection.
        self.writing = threading.Lock()
        # The schema of pgvector, quoted ("": not used, None: not looked up), and what is wrong.
        self.vector_schema: str | None = None
        self.vector_problem = ""
        self.looked_at = 0.0
        # The role of its sessions, and that of those for principals with limits ("": the same,
        # None: not looked up).
        self.own_role = "none"
        self.limited_role: str | None = None
        # Weak, because a search that took too long may never close its connection.
        self.users = WeakSet[object]()
        self._settings = {
            "search_path": f'"{address.schema}"',
            # A plan made for empty tables would be kept while they fill.
            "plan_cache_mode": "force_custom_plan",
            "lock_timeout": f"{int(address.wait_s * 1000)}ms",
            "default_transaction_read_only": "on" if read_only else "off",
        }
        self._url = make_conninfo("", **{**_CONNECT_DEFAULTS, **conninfo_to_dict(address.url)})
        # A server that was there is waited for; until when, once it is away.
        self._was_connected, self._give_up = False, math.inf
        super().__init__(
            self._url,
            connection_class=Session,
            kwargs={"autocommit": True},
            min_size=0,
            max_size=address.connections,
            configure=self._prepare,
            max_idle=_MAX_IDLE_S,
            reconnect_timeout=0,  # `lease` asks again, so that it knows why there is none
            reconnect_failed=self._lose,
            num_workers=1,
            open=True,
        )

    def lease(self) -> Session:
        """A connection, to be given back with `putconn`."""
        give_up = time.monotonic() + self.wait_s
        while True:
            try:
                raw = self.getconn(_POLL_S)
            except PoolTimeout:
                if time.monotonic() > min(give_up, self._give_up):
                    self._explain()
                continue
            except PoolClosed as error:  # by another thread
                raise store_error(error, self.place) from error
            self._was_connected, self._give_up = True, math.inf
            return raw

    def _lose(self, _: object) -> None:
        if self._give_up == math.inf:
            self._give_up = time.monotonic() + (self.wait_s if self._was_connected else 0)

    def _explain(self) -> None:
        """Raise why there is no connection, unless a server that was away is back."""
        try:
            with Session.connect(self._url, autocommit=True) as raw:
                self._prepare(raw)
        except psycopg.Error as error:
            raise store_error(error, self.place) from error
        if self._give_up == math.inf:
            raise StoreUnavailableError(
                f"All {self.max_size} connections to {self.place} are in use.",
                "Try again in a moment.",
            )

    def _prepare(self, raw: Session) -> None:
        version = raw.info.server_version // 10_000
        if version < _MIN_VERSION:
            raise StoreError(
                f"PostgreSQL {version} at {self.place} is not supported "
                f"({_MIN_VERSION} or newer is needed).",
                "Upgrade the server, with pg_upgrade or by pg_dump into a newer one. "
                "See docs/postgres.md.",
            )
        raw.adapters.register_loader("text", _TextLoader)
        raw.adapters.register_loader("numeric", _NumberLoader)
        raw.adapters.register_dumper(str, _TextDumper)
        raw.adapters.register_dumper(bool, _FlagDumper)
        self.own_role = str((raw.execute("SHOW role").fetchone() or ("none",))[0])
        raw.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) "
            "AS t (name, value)",
            (list(self._settings), list(self._settings.values())),
        )


_pools: dict[tuple[object, ...], Pool] = {}
_pools_lock = threading.Lock()


def shared_pool(address: Address, read_only: bool, user: object) -> Pool:
    """The pool of this process for a memory that is opened in this way. `user` must release it."""
    # A forked process must not use the connections of its parent.
    key = (os.getpid(), address, read_only)
    with _pools_lock:
        if key not in _pools:
            _pools[key] = Pool(address, read_only)
        _pools[key].users.add(user)
        return _pools[key]


def release_pool(pool: Pool, user: object) -> None:
    """Close the connections of a pool with its last user."""
    with _pools_lock:
        pool.users.discard(user)
        for key in [key for key, one in _pools.items() if one is pool and not pool.users]:
            del _pools[key]
    if not pool.users:
        pool.close()
