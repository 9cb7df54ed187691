"""The real program asks the server of a team over HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager

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


@pytest.mark.slow
def test_the_model_can_query_a_team_server(make_shared_lab: MakeLab) -> None:
    """With a key that may only look at one bank, in a file of servers as people write it."""
    asked = {"question": "Why does the nightly import fail?"}
    lab = make_shared_lab({"ask": ([Use("mcp__team__memory", asked)], [Say("I see.")])})
    learn(lab)
    made = lab.holdfast("key", "new", "--name", "dev", "--bank", "proj", "--json")
    assert made.status == 0, made.err
    with started(lab, "serve", "--port", "0", "--json") as team:
        served = {
            "type": "http",
            "url": f"{team['url']}/mcp",
            "headers": {"Authorization": f"Bearer {json.loads(made.out)['key']}"},
        }
        config = json.dumps({"mcpServers": {"team": served}})
        lab.claude("Why? PLAY:ask", "--mcp-config", config, allow="mcp__team__memory")
    before, after = lab.api.sent(0), json.dumps(lab.api.requests[-1]["messages"][-1])
    assert len(lab.api.requests) == 2
    assert "mcp__team__memory" in before and "mcp__team__remember" not in before
    assert "warmed after the import" not in before
    assert "warmed after the import" in after and "holdfast://" in after
