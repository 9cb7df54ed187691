"""`holdfast forge` through the front door, against a real server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import run_command
from tests.support.github_server import REPO, Fault, GitHubServer, serving, sha


@pytest.fixture
def forge() -> Iterator[GitHubServer]:
    with serving(GitHubServer()) as made:
        made.issue(
            7, "The crane is stuck", "It does not lift.", by="eve", author_association="NONE"
        )
        made.pull(12, "Lift the crane", "Fixes #7", merged=sha("c"))
        made.review(12, "APPROVED", "The winch is sound.")
        made.comment(41, 12, "The winch will hold in a storm.")
        yield made


def run(home: Path, forge: GitHubServer, *arguments: str) -> subprocess.CompletedProcess[str]:
    known = {k: v for k, v in os.environ.items() if not k.startswith(("GH_", "GITHUB_"))}
    environment = {
        **known, "HOME": str(home), "HOLDFAST_HOME": str(home / "memory"), "COLUMNS": "100",
        "CLAUDE_CONFIG_DIR": str(home / "claude"), "HOLDFAST_EMBEDDER": "none",
        "HOLDFAST_FORGE_URL": forge.url, "GITHUB_TOKEN": "t0ken",
    }  # fmt: skip
    return run_command([*arguments], environment, home)


def test_a_forge_can_be_counted_read_and_shown(tmp_path: Path, forge: GitHubServer) -> None:
    given = ("acme/shop", "--bank", "shop")
    counted = run(tmp_path, forge, "forge", *given, "--dry-run", "--json")
    assert json.loads(counted.stdout)["pulls"] == 1, counted.stderr
    assert not (tmp_path / "memory" / "memory.db").exists()
    read = run(tmp_path, forge, "forge", *given)
    assert read.returncode == 0 and "1 pull, 1 issue and 2 remarks new or changed" in read.stdout
    assert all(asked.headers["authorization"] == "Bearer t0ken" for asked in forge.asked)
    shown = run(tmp_path, forge, "show", "pull/12").stdout
    assert "#12 Lift the crane" in shown and "merged on 2026-03-01" in shown
    assert "bob · 2026-03-01 11:00 · approved" in shown and "eve [external]" in shown
    output = json.loads(run(tmp_path, forge, "recall", "storm", "--bank", "shop", "--json").stdout)
    assert [(hit["kind"], hit["trust"]) for hit in output["hits"]] == [("remark", "external")]
    line = run(tmp_path, forge, "timeline", "--bank", "shop").stdout
    assert "#12 Lift the crane (merged, ann)" in line and "holdfast://issue/7\n" in line
    asked = run(tmp_path, forge, "ask", "Will the winch hold in a storm?", "--bank", "shop").stdout
    assert "team · 2026-03-01 · shop · external" in asked and "outside the project" in asked
    again = json.loads(run(tmp_path, forge, "forge", *given, "--json").stdout)
    assert (again["pulls"], again["remarks"], again["stopped"]) == (0, 0, "")


def test_an_error_of_a_forge_prints_one_sentence_with_a_remedy(
    tmp_path: Path, forge: GitHubServer
) -> None:
    forge.faults[REPO] = [Fault(401, (), b'{"message": "Bad credentials"}')]
    failed = run(tmp_path, forge, "forge", "acme/shop", "--bank", "shop")
    assert failed.returncode == 1 and "401: Bad credentials" in failed.stderr
    assert "→ Give a token" in failed.stderr and "Traceback" not in failed.stderr
    lost = run(tmp_path, forge, "forge")
    assert lost.returncode == 2 and "not a git repository with a remote" in lost.stderr
    forge.faults[REPO] = [Fault(403, (("Retry-After", "999"),))]
    stopped = run(tmp_path, forge, "forge", "acme/shop", "--bank", "shop")
    assert stopped.returncode == 1 and "stopped: The forge at" in stopped.stderr


def test_a_bank_filled_only_by_a_forge_is_named(tmp_path: Path, forge: GitHubServer) -> None:
    run(tmp_path, forge, "forge", "acme/shop", "--bank", "shop")
    output = run(tmp_path, forge, "status").stdout
    assert "1 bank: shop" in output and "behind" not in output
