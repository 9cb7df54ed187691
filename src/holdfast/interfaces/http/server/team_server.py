"""`holdfast serve`: a server for a team. Every request needs a key.

It is never open by mistake: without a key it refuses everything but health checks, and beyond this
machine it starts only if keys are encrypted on the way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from holdfast.app.server.search_process import default_workers
from holdfast.errors import InputError, StoreUnavailableError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.logs import Log
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.running import open_socket, run, shut_down
from holdfast.settings import Settings
from holdfast.version import __version__

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


def check_options(options: ListenOptions) -> None:
    """Raise `InputError` if keys could be read on the way, or options contradict each other."""
    if not 0 <= options.port <= _MAX_PORT:
        raise InputError(
            f"There is no port {options.port}.", f"Choose 1 to {_MAX_PORT}, or 0 for any."
        )
    if bool(options.certificate) != bool(options.key):
        raise InputError("A certificate needs its key.", "Name both: --tls-cert and --tls-key.")
    if options.certificate:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(options.certificate, options.key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"The certificate cannot be used: {error}.", "Give a PEM file and its key."
            ) from error
    elif not (options.is_local or options.behind_proxy or options.insecure):
        raise InputError(
            f"Without TLS, keys could be read on the way to {options.host}.",
            "Give --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS; "
            "--insecure on a network where everybody is trusted.",
        )


async def serve(
    settings: Settings, options: ListenOptions, log: Log, ready: Callable[[str], None]
) -> None:
    """Serve until a signal."""
    limits = settings.serve
    workers = limits.workers or default_workers()
    pool = MemoryPool(settings, max_waiting=limits.waiting, workers=workers)
    try:
        keys = TeamKeys(pool)
        await _load_keys(keys, log, limits.start_s)
        if not keys.has_valid_key:
            # A key may be made while the server runs; until then it only says that it is well.
            log.write("no_key", make=_FIRST_KEY)
        listening = listen(options)
        port = listening.getsockname()[1]
        rules = GuardRules(
            _host_names(options, port),
            max_body_bytes=limits.body_bytes,
            request_s=limits.request_s,
        )

        def started() -> None:
            host = f"[{options.host}]" if ":" in options.host else options.host
            url = f"{'https' if options.certificate else 'http'}://{host}:{port}"
            log.write("started", url=url, version=__version__, workers=workers)
            ready(url)

        await run(
            WebApp(pool, keys, rules, log),
            [listening],
            started,
            lambda: log.write("ending"),
            timeout_graceful_shutdown=limits.end_s,
            limit_concurrency=limits.connections,
            proxy_headers=options.behind_proxy,
            forwarded_allow_ips=[*(options.proxies or ("127.0.0.1", "::1"))],
            ssl_certfile=options.certificate,
            ssl_keyfile=options.key,
        )
        await keys.save_last_used()
    finally:

        def ended(aborted: bool) -> None:
            log.write("ended", aborted=aborted)
            log.flush()

        await shut_down(pool, ended)


async def _load_keys(keys: TeamKeys, log: Log, wait_s: float) -> None:
    """Read the keys, waiting for a database that is not there yet; raises once that took too long.

    A server and its database often start together. Ending instead would use up the restarts that
    systemd allows."""
    give_up = time.monotonic() + wait_s
    next_line = 0.0
    while True:
        try:
            return await keys.load()
        except StoreUnavailableError as error:
            now = time.monotonic()
            if now >= give_up:
                raise
            if now >= next_line:
                log.write("waiting", problem=error.message, seconds_left=round(give_up - now))
                next_line = now + _WAITING_LOG_S
            await asyncio.sleep(_STORE_RETRY_S)


def _host_names(options: ListenOptions, port: int) -> frozenset[str]:
    """The names that requests may be sent to; none for any."""
    names = {name for one in options.names for name in (one, f"{one}:{port}")}
    if options.is_local and not options.behind_proxy and not names:
        names = {f"{name}:{port}" for name in (options.host, "127.0.0.1", "localhost", "[::1]")}
    return frozenset(names)


def listen(options: ListenOptions) -> socket.socket:
    """A socket on that address."""
    name = f"{options.host}:{options.port}"
    return open_socket(options.host, options.port, 1024, name, "Choose another address or port.")
