"""The real program asks our server over HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_setup_and_removal import learn


@contextmanager
def started(lab: Lab, *words: str) -> Generator[dict[str, str]]:
    """A server of ours, and what it says of itself."""
    server = subprocess.Popen(
        [str(lab.python), "-I", "-m", "holdfast", *words],
        cwd=lab.project,
        env=lab.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        try:
            assert server.stdout is not None
            told = ""
            while "}" not in told:
                told += server.stdout.readline() or "{}"
            yield json.loads(told)
        finally:
            server.kill()


class Queried(NamedTuple):
    """What the model was sent before it asked, after it asked the server of a team, and after it
    asked the server of this user."""

    before: str
    by_team: str
    by_local: str


@pytest.fixture(scope="module")
def queried(make_shared_lab: MakeLab) -> Queried:
    """With a key that may only look at one bank, in a file of servers as people write it, and with
    a local server that was added by a command of the program."""
    asked = {"question": "Why does the nightly import fail?"}
    steps = ([Use("mcp__team__memory", asked)], [Use("mcp__far__memory", asked)], [Say("I see.")])
    lab = make_shared_lab({"ask": steps})
    learn(lab)
    made = lab.holdfast("key", "new", "--name", "dev", "--bank", "proj", "--json")
    assert made.status == 0, made.err
    with (
        started(lab, "serve", "--port", "0", "--json") as team,
        started(lab, "mcp", "--http", "--json") as local,
    ):
        token = Path(local["token_file"]).read_text().strip()
        header = f"Authorization: Bearer {token}"
        added = lab.run_claude(
            "mcp", "add", "--transport", "http", "far", local["url"], "--header", header
        )
        assert added.status == 0, added.out + added.err
        far = {
            "type": "http",
            "url": f"{team['url']}/mcp",
            "headers": {"Authorization": f"Bearer {json.loads(made.out)['key']}"},
        }
        config = json.dumps({"mcpServers": {"team": far}})
        allow = "mcp__team__memory,mcp__far__memory"
        lab.claude("Why? PLAY:ask", "--mcp-config", config, allow=allow)
    requests = lab.api.requests
    assert len(requests) == 3
    return Queried(
        lab.api.sent(0), *(json.dumps(request["messages"][-1]) for request in requests[1:])
    )


@pytest.mark.slow
def test_the_model_can_query_a_team_server(queried: Queried) -> None:
    assert "mcp__team__memory" in queried.before and "mcp__team__remember" not in queried.before
    assert "warmed after the import" not in queried.before
    assert "warmed after the import" in queried.by_team and "holdfast://" in queried.by_team


@pytest.mark.slow
def test_the_model_can_query_a_local_server_over_http(queried: Queried) -> None:
    assert "mcp__far__memory" in queried.before
    assert "warmed after the import" in queried.by_local and "holdfast://" in queried.by_local
