"""What `status` says first, for homes in every state."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.app.core.lease import take_lease
from holdfast.app.memory import Holdfast
from holdfast.app.status.health import Verdict, ago, gather_health, judge_capture
from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code.detect import DEFAULT_TRANSCRIPT_DAYS, EVENT_NAMES, detect_hooks
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.installed_home import make_home, make_old, run
from tests.support.transcripts import Script, bug_hunt

DAY = 86400.0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(make_home(tmp_path), tmp_path / "claude", embed_model="none")


def verdict_of(settings: Settings) -> Verdict:
    with Holdfast(with_empty_memory(settings), create=False) as memory:
        return judge_capture(gather_health(memory, None), memory.inventory.balance().pending)


def read_all(settings: Settings) -> None:
    with Holdfast(with_empty_memory(settings)) as memory:
        memory.ingest(memory.ingestion.find([]))


def drop_event(settings: Settings, age: float) -> Path:
    inbox = HomePaths(settings.home).inbox()
    assert inbox is not None
    path = inbox / f"1.Stop.none.{int(age) + 90000}"
    path.write_text("{}")
    make_old(path, age)
    return path


def record_captured_session(settings: Settings, age: float) -> None:
    """A hook told of a session, and a worker took it up."""
    journal = HomePaths(settings.home).journal("s")
    journal.parent.mkdir()
    journal.touch()
    make_old(journal, age)


def recent_session(settings: Settings, minutes: float) -> Path:
    script = Script(start=datetime.now(UTC) - timedelta(minutes=minutes, seconds=20))
    script.user("Reef the mainsail")
    return script.write(settings.claude_dir / "projects")


def test_a_new_home_waits_for_its_first_session(settings: Settings) -> None:
    assert (
        verdict_of(settings).sentence
        == "Claude Code hooks are installed; waiting for your next session."
    )


def test_transcripts_that_were_read_do_not_prove_that_hooks_run(settings: Settings) -> None:
    path = recent_session(settings, 2.5)
    read_all(settings)
    assert (
        verdict_of(settings).sentence
        == "Claude Code hooks are installed; waiting for your next session."
    )
    with path.open("a") as file:
        file.write("{}\n")
    assert verdict_of(settings).sentence.endswith("session; 1 line not read yet.")


def test_working_capture_is_reported_as_healthy(settings: Settings) -> None:
    recent_session(settings, 2.5)
    record_captured_session(settings, 150)
    read_all(settings)
    found = verdict_of(settings)
    assert found == Verdict("works", "Capture works: last event 2 minutes ago, everything read.")


def test_unread_lines_are_reported(settings: Settings) -> None:
    path = recent_session(settings, 2.5)
    record_captured_session(settings, 150)
    read_all(settings)
    with path.open("a") as file:
        file.write("{}\n{}\n")
    assert "2 lines not read yet" in verdict_of(settings).sentence
    with take_lease(HomePaths(settings.home)):
        assert "(a worker is running)" in verdict_of(settings).sentence


def test_the_last_event_may_still_be_pending(settings: Settings) -> None:
    bug_hunt().write(settings.claude_dir / "projects")
    read_all(settings)
    drop_event(settings, 5)
    assert "last event just now" in verdict_of(settings).sentence


def test_missing_hooks_are_reported(settings: Settings) -> None:
    (settings.claude_dir / "settings.json").unlink()
    found = verdict_of(settings)
    assert (found.state, found.remedy) == ("off", "holdfast setup")


@pytest.mark.parametrize(
    ("age", "words"), [(7200, "waited for 2 hours"), (-DAY, "before the clock")]
)
def test_unprocessed_events_are_reported(settings: Settings, age: float, words: str) -> None:
    drop_event(settings, age)
    found = verdict_of(settings)
    assert (found.state, found.remedy) == ("lags", "holdfast worker")
    assert words in found.sentence
    with take_lease(HomePaths(settings.home)):
        assert verdict_of(settings).state == "works"


@pytest.mark.slow
def test_a_transcript_about_to_be_deleted_unread_is_reported(settings: Settings) -> None:
    path = bug_hunt().write(settings.claude_dir / "projects")
    make_old(path, 27.5 * DAY)
    found = verdict_of(settings)
    assert (found.state, found.remedy) == ("lags", "holdfast worker")
    assert "1 transcript is not fully read" in found.sentence and "in 2 days" in found.sentence
    read_all(settings)
    assert verdict_of(settings).state == "works"


def test_the_retention_of_transcripts_is_read_from_claude_codes_settings(
    settings: Settings,
) -> None:
    path = bug_hunt().write(settings.claude_dir / "projects")
    make_old(path, 20 * DAY)
    assert verdict_of(settings).state == "works"
    file = settings.claude_dir / "settings.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "cleanupPeriodDays": 21}))
    assert "Claude Code deletes the first" in verdict_of(settings).sentence


def test_settings_of_any_shape_are_read_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for text in ("", "[]", "{", '{"hooks": [1]}', '{"hooks": {"Stop": [{"hooks": 3}, 4]}}', "\0"):
        path.write_text(text)
        found = detect_hooks(tmp_path)
        assert (
            not found.is_installed
            and found.kept_days == DEFAULT_TRANSCRIPT_DAYS
            and found.missing == EVENT_NAMES
        )
    assert detect_hooks(tmp_path).problems
    path.write_text('\ufeff{"enabledPlugins": {"holdfast@market": true}, "cleanupPeriodDays": 7}')
    assert (
        detect_hooks(tmp_path).plugins == ("holdfast@market",)
        and detect_hooks(tmp_path).missing == []
    )
    assert detect_hooks(tmp_path).kept_days == 7


def test_the_settings_of_a_project_count_as_well(tmp_path: Path) -> None:
    own = tmp_path / "project" / ".claude"
    (tmp_path / "project" / "src").mkdir(parents=True)
    own.mkdir()
    hook = {"type": "command", "command": "sh '/h/hooks/capture.sh' Stop || exit 0"}
    settings = json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})
    (own / "settings.local.json").write_text(settings)
    found = detect_hooks(tmp_path / "claude", tmp_path / "project" / "src")
    assert found.scripts == {"Stop": (Path("/h/hooks/capture.sh"),)}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "just now"), (61, "1 minute ago"), (7200, "2 hours ago"), (-7300, "in 2 hours by this")],
)
def test_ages_are_formatted_in_words(seconds: float, words: str) -> None:
    moment = datetime.now(UTC) - timedelta(seconds=seconds)
    assert ago(moment.isoformat()).startswith(words)


def test_status_shows_the_verdict_first_and_its_evidence(settings: Settings) -> None:
    path = recent_session(settings, 2.5)
    bug_hunt().write(settings.claude_dir / "projects")
    record_captured_session(settings, 150)
    read_all(settings)
    path.unlink()
    run(settings.home, "worker")
    told = run(settings.home, "status").stdout
    assert told.startswith("Capture works: last event ")
    for words in ("last ingest: 20", "worker: not running; no events waiting", "disk: database "):
        assert words in told
    assert "vectors" not in told
    assert "deleted already: 1 transcript (1 line in memory)" in told
    found = json.loads(run(settings.home, "status", "--json").stdout)
    assert found["capture"]["state"] == "works"
    assert found["worker"] == {"running": False, "pid": None}
    assert found["gone"] == {"files": 1, "lines_kept": 1}
    assert found["disk"]["database"] > 0 and found["last_ingest"] and found["chores"] == []
    with take_lease(HomePaths(settings.home)):
        found = json.loads(run(settings.home, "status", "--json").stdout)
        assert found["worker"] == {"running": True, "pid": os.getpid()}
