"""The real program asks our server over HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.claude_code.api import Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_setup_and_removal import learn


def test_the_model_can_query_a_team_server(make_lab: MakeLab) -> None:
    """With a key that may only look at one bank, in a file of servers as people write it."""
    use = Use("mcp__team__memory", {"question": "Why does the nightly import fail?"})
    lab = make_lab({"ask": ([use], [Say("I see.")])})
    learn(lab)
    made = lab.holdfast("key", "new", "--name", "dev", "--bank", "proj", "--json")
    assert made.status == 0, made.err
    with started(lab, "serve", "--port", "0", "--json") as told:
        far = {
            "type": "http",
            "url": f"{told['url']}/mcp",
            "headers": {"Authorization": f"Bearer {json.loads(made.out)['key']}"},
        }
        config = json.dumps({"mcpServers": {"team": far}})
        lab.claude("Why? PLAY:ask", "--mcp-config", config, allow="mcp__team__memory")
        asked, answered = lab.api.sent(0), lab.api.sent(1)
        assert "mcp__team__memory" in asked and "mcp__team__remember" not in asked
        assert "warmed after the import" not in asked
        assert "warmed after the import" in answered and "holdfast://" in answered


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


def test_the_model_can_query_a_local_server_over_http(make_lab: MakeLab) -> None:
    use = Use("mcp__far__memory", {"question": "Why does the nightly import fail?"})
    lab = make_lab({"ask": ([use], [Say("I see.")])})
    learn(lab)
    with started(lab, "mcp", "--http", "--json") as told:
        token = Path(told["token_file"]).read_text().strip()
        header = f"Authorization: Bearer {token}"
        added = lab.run_claude(
            "mcp", "add", "--transport", "http", "far", told["url"], "--header", header
        )
        assert added.status == 0, added.out + added.err
        lab.claude("Why? PLAY:ask", allow="mcp__far__memory")
        asked, answered = lab.api.sent(0), lab.api.sent(1)
        assert "warmed after the import" not in asked
        assert "warmed after the import" in answered and "holdfast://" in answered
