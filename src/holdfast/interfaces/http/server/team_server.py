"""A server for a team: whoever shows a key may ask, from wherever the address can be reached.

It is never open by mistake: beyond this machine it answers only where there is a key to show, and
where what is shown cannot be read on the way.
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
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

import holdfast
from holdfast.errors import HoldfastError, InputError
from holdfast.interfaces.http.app import Site
from holdfast.interfaces.http.auth.guard import Refusal, Rules
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.server.logs import Log
from holdfast.interfaces.http.server.request_watch import Watch, Watching
from holdfast.interfaces.http.server.sockets import manner, open_socket
from holdfast.settings import Settings

_NO_KEY = Refusal(
    401,
    "no_key",
    "No key that holds was shown.",
    "Send `Authorization: Bearer` with a key that `holdfast key new` made.",
)
_DOORS = ("/login", "/static/")
_LAST_S = 6.0
_LOOK_S = 0.05
_PORTS = 65535
_FIRST_KEY = "holdfast key new --name NAME --all-banks --level admin"


class Place(NamedTuple):
    """Where and how a server answers. `proxies` are addresses whose word on who asks is taken;
    `names` those that it may be called by, any where there is none."""

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
        """Whether nobody but this machine reaches it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class _Server(uvicorn.Server):
    """One that leaves signals to us: to be asked to end is no reason to fail."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Nothing is caught here."""
        yield


def check(place: Place) -> None:
    """Refuse what would show keys to whoever listens on the way."""
    if not 0 <= place.port <= _PORTS:
        raise InputError(f"There is no port {place.port}.", f"Choose 1 to {_PORTS}, or 0 for any.")
    if bool(place.certificate) != bool(place.key):
        raise InputError("A certificate needs its key.", "Name both: --tls-cert and --tls-key.")
    if place.certificate and place.key:
        try:
            made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            made.load_cert_chain(place.certificate, place.key)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                f"The certificate cannot be used: {error}.", "Give a PEM file and its key."
            ) from error
    if not (place.is_local or place.certificate or place.behind_proxy or place.insecure):
        raise InputError(
            f"Without TLS, keys could be read on the way to {place.host}.",
            "Give --tls-cert and --tls-key, or --behind-proxy if a proxy does TLS; "
            "--insecure on a network where everybody is trusted.",
        )


def check_keys(place: Place, has_keys: bool) -> None:
    """Beyond this machine there must be somebody who can be let in."""
    if not has_keys and not place.is_local:
        raise InputError(
            f"There is no key that holds, so nobody could use {place.host}.",
            f"Make one first: {_FIRST_KEY}.",
        )


async def serve(
    settings: Settings, place: Place, log: Log, ready: Callable[[str], None], queries: bool = False
) -> None:
    """Serve until a signal says to end. With `queries` the log tells paths and questions, too."""
    desk = Desk(settings, most_waiting=settings.serve.waiting)
    try:
        keys = TeamKeys(desk)
        await keys.load()
        check_keys(place, keys.any)
        if not keys.any:
            # It may come while the server runs; until then nobody can use it.
            log.write("no_key", make=_FIRST_KEY)
        listening = listen(place)
        await _run(
            settings,
            place,
            listening,
            Site(desk, keys, _rules(settings, place, listening)),
            log,
            ready,
            queries,
        )
    finally:
        await _leave(desk, log)
        log.settle()


async def _run(
    settings: Settings,
    place: Place,
    listening: socket.socket,
    site: Site,
    log: Log,
    ready: Callable[[str], None],
    queries: bool,
) -> None:
    watching = Watching(site.metrics, log, settings.serve.request_s, queries)
    watch = Watch(site.guard, watching, partial(_readiness, site.desk))
    server = _Server(_config(watch, settings, place))
    loop = asyncio.get_running_loop()

    def end() -> None:
        log.write("ending")
        watch.ending = True
        server.should_exit = True
        site.streams.close()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        scheme = "https" if place.certificate else "http"
        host = f"[{place.host}]" if ":" in place.host else place.host
        url = f"{scheme}://{host}:{listening.getsockname()[1]}"
        log.write("started", url=url, version=holdfast.__version__)
        ready(url)
    await serving


async def _readiness(desk: Desk) -> str:
    """What is in the way of answering: nothing, if the memory can be opened and asked."""
    try:
        await desk.as_owner(lambda memory: memory.reader.last_event())
    except HoldfastError:
        return "the memory cannot be used"
    return ""


async def _leave(desk: Desk, log: Log) -> None:
    """Let threads finish what they are at, but not for long: a question is broken off then, and
    what still goes on ends with us. Nothing is left half-written: a transaction is there whole or
    not at all."""
    desk.refuse()
    begun = time.monotonic()
    while desk.is_busy and time.monotonic() - begun < _LAST_S:
        await asyncio.sleep(_LOOK_S)
        if time.monotonic() - begun > _LAST_S / 2:
            desk.give_up()
    left = desk.is_busy
    log.write("ended", broken_off=left)
    if left:
        log.settle()
        sys.stdout.flush()
        os._exit(0)
    desk.close()


def _rules(settings: Settings, place: Place, listening: socket.socket) -> Rules:
    port, most = listening.getsockname()[1], settings.serve
    names = {name for one in place.names for name in (one, f"{one}:{port}")}
    if place.is_local and not place.behind_proxy and not names:
        names = {f"{name}:{port}" for name in (place.host, "127.0.0.1", "localhost", "[::1]")}
    return Rules(
        frozenset(names),
        most.rate,
        most.burst,
        _NO_KEY,
        _DOORS,
        "/login",
        most.at_once,
        most.body_bytes,
    )


def _config(app: ASGIApp, settings: Settings, place: Place) -> uvicorn.Config:
    trusted = ("127.0.0.1", "::1", *place.proxies)
    return manner(
        app,
        1000,
        settings.serve.end_s,
        proxy_headers=place.behind_proxy,
        forwarded_allow_ips=list(trusted),
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )


def listen(place: Place) -> socket.socket:
    """A socket on that address."""
    name = f"{place.host}:{place.port}"
    return open_socket(place.host, place.port, 1024, name, "Choose another address or port.")
