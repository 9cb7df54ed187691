from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.http.server import make_home, serving

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
# A stream that never ends; tests of their own listen to it.
STREAMS = r"/events$"


@pytest.mark.slow
def test_the_server_conforms_to_its_openapi_description(tmp_path: Path) -> None:
    """Whatever is sent, no answer is a fault of ours, or of a status or a form that is not told."""
    with serving(make_home(tmp_path), tmp_path) as server:
        told = json.loads(server.ask("/api/v1/openapi.json").text)
        for path, ways in told["paths"].items():
            for way in ways.values():
                assert way["summary"] and way["description"], path
                assert "#/components/schemas/Error" in json.dumps(way["responses"]["default"]), path
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/api/v1/openapi.json"),
            *("--header", f"Authorization: Bearer {server.token}"),
            *("--checks", ",".join(CHECKS), "--exclude-path-regex", STREAMS),
            *("--phases", "examples,fuzzing", "--max-examples", "2", "--workers", "1"),
            *("--seed", "1", "--generation-database", "none", "--no-color", "--mode", "all"),
        ]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
        assert run.returncode == 0, run.stdout.decode()[-6000:]
