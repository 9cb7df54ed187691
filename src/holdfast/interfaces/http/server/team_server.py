"""`holdfast serve`: a server for a team. Every request needs a key.

It is never open by mistake: without a key it refuses everything but health checks, and beyond this
machine it starts only if keys are encrypted on the way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from holdfast.app.server.search_process import default_workers
from holdfast.errors import InputError, StoreUnavailableError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.guard import GuardRules, Refusal
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.logs import Log
from holdfast.interfaces.http.server.request_monitor import MonitorOptions, RequestMonitor
from holdfast.interfaces.http.server.sockets import open_socket, start, uvicorn_config
from holdfast.settings import Settings
from holdfast.version import __version__

_NO_KEY = Refusal(
    401,
    "no_key",
    "No valid key was sent.",
    "Send `Authorization: Bearer` with a key that `holdfast key new` made.",
)
_PUBLIC_PATHS = ("/login", "/static/")
# How long running tasks may take when the server stops; queries are interrupted after half of it.
_SHUTDOWN_S = 6.0
_SHUTDOWN_CHECK_S = 0.05
_MAX_PORT = 65535
# How often a server that starts looks for its database, and how often it logs that it waits.
_STORE_RETRY_S = 0.5
_WAITING_LOG_S = 10.0
_FIRST_KEY = "holdfast key new --name NAME --all-banks --level admin"


class ListenOptions(NamedTuple):
    """Where a server listens. `proxies` are addresses that may say who the client is, this machine
    if empty; `names` are the host names that it answers to, any if empty."""

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False
    proxies: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    insecure: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to us, so that a signal is a normal end."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Catch nothing."""
        yield


def check_options(options: ListenOptions) -> None:
    """Raise `InputError` if keys could be read on the way, or options contradict each other."""
    if not 0 <= options.port <= _MAX_PORT:
        raise InputError(
            f"There is no port {options.port}.", f"Choose 1 to {_MAX_PORT}, or 0 for any."
        )
    if bool(options.certificate) != bool(options.key):
        raise InputError("A certificate needs its key.", "Name both: --tls-cert and --tls-key.")
    if options.certificate and options.key:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.certificate, options.key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"The certificate cannot be used: {error}.", "Give a PEM file and its key."
            ) from error
    if not (options.is_local or options.certificate or options.behind_proxy or options.insecure):
        raise InputError(
            f"Without TLS, keys could be read on the way to {options.host}.",
            "Give --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS; "
            "--insecure on a network where everybody is trusted.",
        )


async def _load_keys(keys: TeamKeys, log: Log, wait_s: float) -> None:
    """Read the keys, waiting for a database that is not there yet; raises once that took too long.

    A server and its database often start together. Ending instead would use up the restarts that
    systemd allows."""
    give_up = time.monotonic() + wait_s
    next_line = 0.0
    while True:
        try:
            await keys.load()
        except StoreUnavailableError as error:
            now = time.monotonic()
            if now >= give_up:
                raise
            if now >= next_line:
                log.write("waiting", problem=error.message, seconds_left=round(give_up - now))
                next_line = now + _WAITING_LOG_S
            await asyncio.sleep(_STORE_RETRY_S)
        else:
            return


async def serve(
    settings: Settings,
    options: ListenOptions,
    log: Log,
    ready: Callable[[str], None],
    log_queries: bool = False,
) -> None:
    """Serve until a signal. With `log_queries` the log also has paths and queries."""
    workers = settings.serve.workers or default_workers()
    pool = MemoryPool(settings, max_waiting=settings.serve.waiting, workers=workers)
    try:
        keys = TeamKeys(pool)
        await _load_keys(keys, log, settings.serve.start_s)
        if not keys.has_valid_key:
            # A key may be made while the server runs; until then it only says that it is well.
            log.write("no_key", make=_FIRST_KEY)
        listening = listen(options)
        web = WebApp(pool, keys, _rules(settings, options, listening))
        monitoring = MonitorOptions(web.metrics, log, settings.serve.request_s, log_queries)
        monitor = RequestMonitor(web.guard, monitoring, pool)
        server = _Server(_config(monitor, settings, options))

        def end() -> None:
            log.write("ending")
            monitor.is_stopping = True
            server.should_exit = True
            web.streams.close()

        for number in (signal.SIGTERM, signal.SIGINT):
            # Windows' event loop has no such handlers; there Ctrl+C ends the server at once.
            with suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, end)
        serving = await start(server, listening)
        if server.started:
            url = _url(options, listening)
            log.write("started", url=url, version=__version__, workers=workers)
            ready(url)
        await serving
    finally:
        await _shut_down(pool, log)
        log.flush()


def _url(options: ListenOptions, listening: socket.socket) -> str:
    scheme = "https" if options.certificate else "http"
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"{scheme}://{host}:{listening.getsockname()[1]}"


async def _shut_down(pool: MemoryPool, log: Log) -> None:
    """Let running tasks finish for a while, then interrupt their queries, then end the process.
    That leaves nothing half-written, because every change is one transaction."""
    pool.stop_accepting()
    begun = time.monotonic()
    while pool.is_busy and time.monotonic() - begun < _SHUTDOWN_S:
        await asyncio.sleep(_SHUTDOWN_CHECK_S)
        if time.monotonic() - begun > _SHUTDOWN_S / 2:
            pool.interrupt_queries()
    is_still_busy = pool.is_busy
    log.write("ended", aborted=is_still_busy)
    if is_still_busy:
        pool.interrupt_queries()
        log.flush()
        sys.stdout.flush()
        os._exit(0)
    pool.close()


def _rules(settings: Settings, options: ListenOptions, listening: socket.socket) -> GuardRules:
    port = listening.getsockname()[1]
    names = {name for one in options.names for name in (one, f"{one}:{port}")}
    if options.is_local and not options.behind_proxy and not names:
        names = {f"{name}:{port}" for name in (options.host, "127.0.0.1", "localhost", "[::1]")}
    return GuardRules(frozenset(names), _NO_KEY, _PUBLIC_PATHS, "/login", settings.serve.body_bytes)


def _config(app: ASGIApp, settings: Settings, options: ListenOptions) -> uvicorn.Config:
    return uvicorn_config(
        app,
        settings.serve.end_s,
        limit_concurrency=settings.serve.connections,
        proxy_headers=options.behind_proxy,
        forwarded_allow_ips=[*(options.proxies or ("127.0.0.1", "::1"))],
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )


def listen(options: ListenOptions) -> socket.socket:
    """A socket on that address."""
    name = f"{options.host}:{options.port}"
    return open_socket(options.host, options.port, 1024, name, "Choose another address or port.")
