"""`holdfast show` of commits, and of the sessions that made them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import main
from tests.refine.git.test_commit_authorship import SESSIONS, START, Place


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "none")
    return Place(tmp_path)


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_commit_is_shown_with_its_context(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "".join(f"line {n}\n" for n in range(60))
    place.commit("Start", START - timedelta(days=1), **{"crane.py": body})
    place.git("mv", "crane.py", "lift.py")
    script = place.session(0)
    place.edit(script, "lift.py")
    changed = "".join(f"row {n}\n" for n in range(12)) + body
    long = "".join(f"new {n}\n" for n in range(80))
    id, printed = place.commit(
        "Lift higher", START + timedelta(minutes=1), **{"lift.py": changed, "long.py": long}
    )
    place.run_commit(script, "Lift higher", printed)
    place.git("tag", "v1.0")
    place.git("revert", "--no-edit", id, at=START + timedelta(hours=1))
    undone = place.git("rev-parse", "HEAD").strip()
    place.read(script)
    place.memory.close()

    shown = output_of(capsys, "show", f"commit/{id[:10]}")
    assert "tags: v1.0" in shown and f"reverted by: holdfast://commit/{undone}" in shown
    assert "crane.py → lift.py  (renamed, +12 -0)" in shown
    assert "long.py  (new, +80 -0)" in shown
    assert (
        f"made by session {SESSIONS[0]} (matched by its name, 1.00): holdfast://exchange/" in shown
    )
    assert "+row 3" in shown and "more: --full" in shown and "+new 40" not in shown
    assert "+new 40" in output_of(capsys, "show", id, "--full")
    assert f"reverts: holdfast://commit/{id}" in output_of(capsys, "show", undone)
    one = json.loads(output_of(capsys, "show", id, "--json"))["commit"]
    assert (one["tags"], one["astray"]) == (["v1.0"], False)
    assert one["files"][0]["was"] == "crane.py" and len(one["files"][0]["blob"]) == 40
    (maker,) = one["made_by"]
    assert maker["host"] == SESSIONS[0]
    for name in (maker["session"], maker["exchange"]):
        assert "made 1 commit:" in output_of(capsys, "show", name)
        (made,) = json.loads(output_of(capsys, "show", name, "--json"))["commits"]
        assert (made["uri"], made["because"]) == (f"holdfast://commit/{id}", "its name")
