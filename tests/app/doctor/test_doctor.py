"""The doctor: what it finds in homes that are ill, and what it mends."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.doctor.check import Check, Grade
from holdfast.app.doctor.examine import run_checks, run_fixes
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.settings import Settings
from tests.support.installed_home import make_home, run
from tests.support.transcripts import Script, bug_hunt


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = make_home(tmp_path)
    bug_hunt().write(tmp_path / "claude" / "projects")
    settings = Settings(home, tmp_path / "claude", embed_model="none")
    assert run(home, "worker").returncode == 0
    return settings


def failing_checks(settings: Settings) -> dict[str, Check]:
    """What is not in order."""
    return {c.name: c for c in run_checks(settings, None) if c.grade is not Grade.OK}


def fixed(settings: Settings, yes: bool = True) -> dict[str, bool]:
    return {one.name: one.done for one in run_fixes(settings, None, lambda check: yes)}


def change_settings(settings: Settings, **more: Any) -> None:
    path = settings.claude_dir / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def test_a_healthy_home_has_nothing_to_fix(settings: Settings) -> None:
    assert failing_checks(settings) == {} and fixed(settings) == {}
    done = run(settings.home, "doctor")
    assert done.returncode == 0 and "Everything is in order." in done.stdout


def test_checking_a_missing_home_does_not_create_it(tmp_path: Path) -> None:
    done = run(tmp_path / "none", "doctor")
    assert done.returncode == 0 and "holdfast setup" in done.stdout
    assert not (tmp_path / "none").exists()


def test_a_deleted_hooks_folder_is_restored_completely(settings: Settings) -> None:
    places = HomePaths(settings.home)
    shutil.rmtree(places.hooks)
    found = failing_checks(settings)
    for name in ("hooks", "scripts", "interpreter"):
        assert found[name].remedy == "holdfast doctor --fix", found[name]
    assert fixed(settings) == {"scripts": True}
    assert not failing_checks(settings).keys() & {"hooks", "scripts"}
    assert places.interpreter.read_text().startswith(f"{sys.executable}\n")
    inbox = places.inbox()
    assert inbox is not None and inbox.is_dir()
    inbox.rmdir()


def test_missing_duplicate_and_foreign_hooks_are_reported(settings: Settings) -> None:
    hooks = json.loads((settings.claude_dir / "settings.json").read_text())["hooks"]
    change_settings(settings, hooks={"Stop": hooks["Stop"]})
    assert "SessionStart" in failing_checks(settings)["hooks"].sentence
    change_settings(settings, hooks={**hooks, "Stop": hooks["Stop"] * 2})
    assert "more than once for Stop" in failing_checks(settings)["duplicates"].sentence
    change_settings(settings, hooks=hooks, enabledPlugins={"holdfast@somewhere": True})
    assert "each event is recorded twice" in failing_checks(settings)["duplicates"].sentence
    change_settings(settings, enabledPlugins={})
    other = {**hooks, "Stop": [{"hooks": [{"command": "sh /gone/hooks/capture.sh Stop"}]}]}
    change_settings(settings, hooks=other)
    assert "/gone/hooks/capture.sh, which is missing" in failing_checks(settings)["hooks"].sentence
    (settings.claude_dir / "settings.json").write_text("{")
    assert "cannot be read" in failing_checks(settings)["hooks"].sentence


def test_folders_that_others_may_read_are_made_private(settings: Settings) -> None:
    inbox = HomePaths(settings.home).inbox()
    assert inbox is not None
    (settings.home / "notes of my own").touch()  # or opening the memory closes it by itself
    for path in (settings.home, inbox):
        path.chmod(0o755)
    assert set(failing_checks(settings)) == {"home", "inbox"}
    assert fixed(settings) == {"home": True, "inbox": True}
    assert failing_checks(settings) == {} and inbox.stat().st_mode & 0o777 == 0o700


def test_an_inbox_that_is_a_symlink_is_not_touched(settings: Settings, tmp_path: Path) -> None:
    inbox = HomePaths(settings.home).inbox()
    assert inbox is not None
    inbox.rmdir()
    inbox.symlink_to(tmp_path)
    assert "is a link" in failing_checks(settings)["inbox"].sentence and fixed(settings) == {}


def test_a_session_that_asked_this_memory_is_in_order(settings: Settings) -> None:
    script = Script("22222222-0000-4000-8000-000000000001")
    script.user("Why did we drop the queue?")
    script.tool("mcp__holdfast__memory", "Not known.", question="Why did we drop the queue?")
    script.assistant("The memory does not know.")
    script.write(settings.claude_dir / "projects")
    assert run(settings.home, "ingest").returncode == 0
    assert "derived" not in failing_checks(settings)


def test_inconsistent_derived_rows_are_rebuilt_if_allowed(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.database)) as connection:
        connection.execute("DELETE FROM passage WHERE kind = 'turn'")
        connection.execute("UPDATE exchange SET session = 'nowhere'")
        connection.commit()
    found = failing_checks(settings)["derived"]
    assert "4 turns that cannot be found" in found.sentence
    assert "1 exchanges of sessions that are not there" in found.sentence
    refused = run(settings.home, "doctor", "--fix")
    assert refused.returncode == 1 and "not fixed without --yes" in refused.stderr
    done = run(settings.home, "doctor", "--fix", "--yes")
    assert done.returncode == 0, done.stdout
    assert failing_checks(settings) == {}


def test_truncated_vectors_are_reported_and_computed_again(settings: Settings) -> None:
    settings = replace(settings, embed_model="")
    with Holdfast(settings) as memory:
        memory.ingestion.embed()
    assert "vectors" not in failing_checks(settings)
    with closing(sqlite3.connect(settings.database)) as damaging, damaging:
        damaging.execute("UPDATE vector SET data = substr(data, 1, 700) WHERE rowid % 3 = 0")
    assert "damaged" in failing_checks(settings)["vectors"].sentence
    assert fixed(settings)["vectors"] and "vectors" not in failing_checks(settings)


def test_damage_is_reported_and_repaired_only_if_allowed(settings: Settings) -> None:
    whole = settings.database.read_bytes()
    with settings.database.open("r+b") as file:
        file.seek(len(whole) // 3)
        file.write(b"\xff" * (len(whole) // 3))
    found = failing_checks(settings)["memory"]
    assert found.grade is Grade.BROKEN and found.question and "intact backup" in found.remedy
    assert fixed(settings, yes=False) == {"memory": False} and failing_checks(settings)["memory"]
    settings.database.write_bytes(b"not a database at all" * 500)
    assert "damaged" in failing_checks(settings)["memory"].sentence


def test_json_keeps_its_shape(settings: Settings) -> None:
    (settings.home / "hooks" / "capture.sh").unlink()
    done = run(settings.home, "doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert set(found) == {"healthy", "checks", "mended"} and found["healthy"] is False
    for check in found["checks"]:
        assert set(check) == {"name", "grade", "sentence", "remedy", "fixable"}
        assert check["grade"] == "ok" or check["remedy"]
