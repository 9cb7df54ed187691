"""The protocol's inspector lists and calls the tools of every server without complaint."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.mcp.test_mcp import learn

INSPECTOR = shutil.which("mcp-inspector")
CALLS = {
    "main": (7, "memory", "question"),
    "memory": (8, "memory_search_with_fallbacks", "query"),
    "search": (9, "get_timeline_by_query", "query"),
}


@pytest.mark.skipif(
    INSPECTOR is None,
    reason="the inspector is not installed (npm install -g @modelcontextprotocol/inspector)",
)
@pytest.mark.parametrize("server", CALLS)
def test_the_mcp_inspector_reports_no_errors(tmp_path: Path, server: str) -> None:
    home, folder = tmp_path / "home", tmp_path / "proj"
    folder.mkdir()
    learn(home, folder, "The nightly import fails because the cache is warmed before it.")
    places = {"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")}

    def inspect(*more: str) -> dict[str, Any]:
        done = subprocess.run(
            [
                str(INSPECTOR),
                "--cli",
                *(part for place in places.items() for part in ("-e", "=".join(place))),
                *(sys.executable, "-m", "holdfast", "mcp", server, *more),
            ],
            cwd=folder,
            env={**os.environ, **places},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    count, tool, key = CALLS[server]
    assert len(inspect("--method", "tools/list")["tools"]) == count
    asked = ("--method", "tools/call", "--tool-name", tool, "--tool-arg", f"{key}=nightly import")
    told = inspect(*asked)
    assert not told.get("isError") and told["structuredContent"]
    assert bool(inspect("--method", "resources/list")["resources"]) == (server != "main")
