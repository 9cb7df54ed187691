"""The limits of a team server that uvicorn keeps."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.http.team import team_serving, two_banks
from tests.support.waiting import wait_until


def test_connections_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    env = two_banks(tmp_path)
    (Path(env["HOLDFAST_HOME"]) / "config.toml").write_text("[serve]\nconnections = 4\n")
    with team_serving(env, tmp_path) as team, ExitStack() as stack:
        port = urlsplit(team.url).port or 0
        for _ in range(3):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
        wait_until(lambda: team.ask("/health").status == 503, "the server is full")
        stack.close()
        wait_until(lambda: team.ask("/health").status == 200, "there is room again")
