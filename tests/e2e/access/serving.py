"""`holdfast serve` over a memory, and keys of every sort for it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import KeyRequest, make_key
from holdfast.principal import Level
from tests.e2e.access.two_banks import World
from tests.support.http.server import read_startup_message
from tests.support.http.server_process import running


class Served(NamedTuple):
    """A server over both banks."""

    world: World
    keys: ServerKeys
    url: str


class ServerKeys(NamedTuple):
    """What can be shown: keys for the own bank of each level, one for everything, and some that
    open nothing."""

    read: str
    write: str
    admin: str
    chief: str
    other: str
    bad: Sequence[str]


def make_keys(world: World) -> ServerKeys:
    """Made as `holdfast key new` makes them."""
    with Holdfast(world.settings) as memory:

        def made(name: str, level: Level, *banks: str) -> str:
            return make_key(memory, KeyRequest(name, banks, level))[0]

        own, other = world.own.names[0], world.other.names[0]
        gone = made("gone", Level.ADMIN)
        stale, kept = make_key(memory, KeyRequest("stale", (), Level.ADMIN))
        with memory.store.transaction():
            memory.store.api_keys.revoke(gone.split("_")[1], memory.now())
            past = "2020-01-01T00:00:00.000Z"
            old = kept._replace(id="0ddba115", expires=past)
            memory.store.api_keys.add(old)
        chief = made("chief", Level.ADMIN)
        stale = stale.replace(kept.id, old.id)
        id, secret = chief.split("_", 2)[1:]
        foreign = f"hf_{id}_{secret[::-1]}"  # as another server would have made it
        garbled = (chief[:-1], chief + "x", f"hf_{secret}", "hf_00000000_" + "A" * 43, "'; --")
        return ServerKeys(
            made("looks", Level.READ, own),
            made("writes", Level.WRITE, own),
            made("rules", Level.ADMIN, own),
            chief,
            made("beyond", Level.ADMIN, other),
            (gone, stale, foreign, *garbled),
        )


@contextmanager
def served(world: World, *options: str) -> Generator[str]:
    """A server of its own process; its address."""
    command = ["serve", "--port", "0", "--json", *options]
    with running(command, world.env, world.folder) as process:
        yield read_startup_message(process)["url"]
