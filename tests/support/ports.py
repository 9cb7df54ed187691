"""Ports for servers whose port must be known before they listen, or be the same after a restart."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

# Below those that systems give to connections (from 32768 on Linux, 49152 elsewhere): between the
# choice and the server's start, or while the server is down, no connection can be given this port,
# not even one that a test makes to the port itself.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("A hundred ports were tried, and all are in use.")
