"""A server for a team: whoever shows a key may ask, from wherever the address can be reached.

It is never open by mistake: beyond this machine it answers only where there is a key to show, and
where what is shown cannot be read on the way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from starlette.types import ASGIApp

from holdfast.errors import InputError
from holdfast.interfaces.http.asker import carry_out_as, owner
from holdfast.interfaces.http.desk import Desk
from holdfast.interfaces.http.guard import Refusal, Rules
from holdfast.interfaces.http.patience import Impatient
from holdfast.interfaces.http.site import Site
from holdfast.interfaces.http.team_keys import TeamKeys
from holdfast.settings import Settings

_NO_KEY = Refusal(
    401,
    "no_key",
    "No key that holds was shown.",
    "Send `Authorization: Bearer` with a key that `holdfast key new` made.",
)
_DOORS = ("/login", "/static/")


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


def check_keys(settings: Settings, place: Place, has_keys: bool) -> None:
    """Beyond this machine there must be somebody who can be let in."""
    if not has_keys and not place.is_local:
        raise InputError(
            f"There is no key that holds, so nobody could use {place.host}.",
            "Make one first: holdfast key new --name NAME --all-banks --level admin.",
        )


async def serve(settings: Settings, place: Place, ready: Callable[[str], None]) -> None:
    """Serve until a signal says to end."""
    desk = Desk(settings)
    keys = TeamKeys(desk)
    carry_out_as(owner())  # what the server does by itself
    await keys.refresh()
    check_keys(settings, place, keys.any)
    listening = listen(place)
    port = listening.getsockname()[1]
    site = Site(desk, keys, _rules(place, port))
    server = _Server(_config(site.guard, place))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _end, server, site)
    scheme = "https" if place.certificate else "http"
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        host = f"[{place.host}]" if ":" in place.host else place.host
        ready(f"{scheme}://{host}:{port}")
    await serving


def _end(server: uvicorn.Server, site: Site) -> None:
    server.should_exit = True
    site.streams.close()


def _rules(place: Place, port: int) -> Rules:
    names = {name for one in place.names for name in (one, f"{one}:{port}")}
    if place.is_local and not place.behind_proxy and not names:
        names = {f"{name}:{port}" for name in (place.host, "127.0.0.1", "localhost", "[::1]")}
    return Rules(frozenset(names), no_key=_NO_KEY, doors=_DOORS, login="/login")


def _config(app: ASGIApp, place: Place) -> uvicorn.Config:
    trusted = ("127.0.0.1", "::1", *place.proxies)
    return uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=20,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=65_536,
        http=Impatient,
        ws="none",
        proxy_headers=place.behind_proxy,
        forwarded_allow_ips=list(trusted),
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )


def listen(place: Place) -> socket.socket:
    """A socket on that address."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((place.host, place.port))
    except (OSError, OverflowError) as error:
        found.close()
        raise InputError(
            f"{place.host}:{place.port} cannot be used: {error}.", "Choose another address or port."
        ) from error
    found.listen(1024)
    found.setblocking(False)
    return found
