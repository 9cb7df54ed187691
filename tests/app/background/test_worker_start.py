"""A server that another agent starts sees to it that its transcripts are read."""

from __future__ import annotations

from pathlib import Path

from holdfast.app.background.worker_start import start_worker_if_due
from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.settings import Settings
from tests.support.waiting import wait_until


def prepare(home: Path) -> tuple[Settings, Path]:
    """A home whose worker only says that it was started."""
    places = HomePaths(home / "holdfast")
    places.hooks.mkdir(parents=True)
    said = home / "said"
    script = home / "python"
    script.write_text(f'#!/bin/sh\necho "$@" > {said}.new; mv {said}.new {said}\n')
    script.chmod(0o700)
    places.interpreter.write_text(f"{script}\n-I\n")
    return Settings(places.home, home / "claude"), said


def test_a_worker_is_started_if_another_agent_is_set_up(tmp_path: Path) -> None:
    settings, said = prepare(tmp_path)
    InstallRecord(settings.home, OTHER_AGENTS).add(tmp_path / "config.toml", b"", b"x")

    assert start_worker_if_due(settings)
    wait_until(said.exists, "the worker was started")
    assert said.read_text() == "-I -m holdfast worker --nudged\n"


def test_no_worker_is_started_for_claude_code_alone_or_soon_after_a_scan(tmp_path: Path) -> None:
    settings, said = prepare(tmp_path)
    assert not start_worker_if_due(settings)
    InstallRecord(settings.home, OTHER_AGENTS).add(tmp_path / "config.toml", b"", b"x")
    HomePaths(settings.home).last_scan.touch()

    assert not start_worker_if_due(settings)
    assert not said.exists()
