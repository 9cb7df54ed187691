"""Answers over a connection that stays open are not held back for more of them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from holdfast.interfaces.http import serving, team_serving


@pytest.mark.parametrize(
    "listen",
    [lambda: serving.listen(0), lambda: team_serving.listen(team_serving.Place(port=0))],
    ids=["browse", "serve"],
)
def test_whoever_comes_in_is_answered_at_once(listen: Callable[[], socket.socket]) -> None:
    with closing(listen()) as listening:
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                # By this, asyncio tells where it may switch the holding back off.
                assert accepted.proto == socket.IPPROTO_TCP
