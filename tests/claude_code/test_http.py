"""The real program asks our server over HTTP."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.claude_code.api import Say, Use
from tests.claude_code.conftest import MakeLab
from tests.claude_code.test_moving import learn


def test_the_model_can_ask_over_http(make_lab: MakeLab) -> None:
    use = Use("mcp__far__memory", {"question": "Why does the nightly import fail?"})
    lab = make_lab({"ask": ([use], [Say("I see.")])})
    learn(lab)
    server = subprocess.Popen(
        [str(lab.python), "-I", "-m", "holdfast", "mcp", "--http", "--json"],
        cwd=lab.project,
        env=lab.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    with server:
        try:
            assert server.stdout is not None
            told = json.loads(server.stdout.readline())
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
        finally:
            server.kill()
