from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.injection_outcomes import SettledCounts, settle_injections
from holdfast.interfaces.cli.main import main
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.settings import Settings
from tests.support.transcripts import Script, bug_hunt

NOW = "2026-09-02T12:00:00.000Z"
LATER = "22222222-0000-4000-8000-000000000002"


def note(settings: Settings, injection: Injection) -> None:
    """As the worker enters what a hook noted."""
    with Holdfast(settings) as memory, memory.store.transaction():
        memory.store.injections.add(injection)


def record_outcomes(settings: Settings, now: str) -> SettledCounts:
    """As the worker does, with its own store."""
    with Holdfast(settings) as memory:
        return settle_injections(memory.store, now)


def outcome_of(folder: Path, script: Script, kind: InjectionKind = InjectionKind.GOAL) -> Injection:
    """The verdict on a brief about the importer that was put into a session."""
    settings = Settings(home=folder / "home", claude_dir=folder)
    bug_hunt().write(folder / "p")
    script.write(folder / "p")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([folder / "p"]))
        bank = memory.reader.banks.all()[0].id
        (first,) = [s for s in memory.reader.sessions.latest(bank) if s.host != LATER]
        exchange = memory.reader.sessions.exchanges(bank, first.id)[0].id
    id, time = f"goal-abc.{LATER}.1", "2026-09-01T09:00:00Z"
    records = (f"holdfast://exchange/{exchange}",)
    note(settings, Injection(id, bank, LATER, time, kind, 700, records))
    assert record_outcomes(settings, "2026-09-01T09:05:00.000Z") == (0, 1), "it may go on"
    assert record_outcomes(settings, NOW) == (1, 0)
    with Holdfast(settings, create=False) as memory:
        (found,) = memory.inventory.injections("proj")
    assert exchange in found.records[0]
    return found


def later(*said: str) -> Script:
    script = Script(LATER)
    for place, text in enumerate(said):
        (script.assistant if place % 2 else script.user)(text)
    return script


def attach(script: Script, id: str) -> None:
    """What Claude Code writes down when it passes a hook's words on."""
    text = f'<holdfast-brief id="{id}">…</holdfast-brief>'
    attachment = {"type": "hook_additional_context", "content": [text]}
    script.add({"type": "attachment", "sessionId": LATER, "attachment": attachment})


def test_a_brief_shown_in_the_transcript_was_delivered(tmp_path: Path) -> None:
    script = later("Tune the cache.", "It is tuned.")
    attach(script, "goal-abc")
    found = outcome_of(tmp_path, script)
    assert (found.arrived, found.use, found.because) == (True, InjectionUse.IGNORED, "")


def test_a_brief_missing_from_the_transcript_was_not_delivered(tmp_path: Path) -> None:
    assert outcome_of(tmp_path, later("Tune the cache.", "It is tuned.")).arrived is False


@pytest.mark.slow
def test_editing_its_file_counts_as_use(tmp_path: Path) -> None:
    script = later("Rows are doubled again.")
    script.tool("Read", "1\tx", file_path="/home/dev/proj/src/importer.py")
    script.assistant("I see.")
    found = outcome_of(tmp_path, script)
    assert (found.use, found.because) == (InjectionUse.FILE, "src/importer.py")


def test_repeating_its_wording_counts_as_use(tmp_path: Path) -> None:
    words = "As before, the retry wrapper after a timeout needs an idempotency key on the import."
    assert (
        outcome_of(tmp_path, later("Look at the nightly job.", words)).use is InjectionUse.WORDING
    )


def test_a_correction_by_the_user_outweighs_everything_else(tmp_path: Path) -> None:
    said = ("Look at the job.", "The retry wrapper did it.", "No, that's outdated, we rewrote it.")
    assert outcome_of(tmp_path, later(*said)).use is InjectionUse.CONTRADICTED


def test_reading_a_recent_file_does_not_count_as_use_of_the_index(tmp_path: Path) -> None:
    script = later("Something else.")
    script.tool("Read", "1\tx", file_path="/home/dev/proj/src/importer.py")
    assert outcome_of(tmp_path, script, InjectionKind.START).use is InjectionUse.IGNORED


def test_an_unread_session_is_given_up_after_a_week(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    bug_hunt().write(tmp_path / "p")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        bank = memory.reader.banks.all()[0].id
    time = "2026-09-01T09:00:00Z"
    note(settings, Injection("start-1.x.1", bank, "x", time, InjectionKind.START, 10))
    assert record_outcomes(settings, NOW).waiting == 1
    assert record_outcomes(settings, "2026-09-20T00:00:00.000Z").settled == 1


def test_the_command_lists_briefs_and_their_outcomes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome_of(tmp_path, later("Tune the cache.", "It is tuned."))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    assert main(["brief", "--bank", "proj"]) == 0
    assert "Where we left off" in capsys.readouterr().out
    assert main(["brief", "log", "--bank", "proj"]) == 0
    assert "did not arrive, ignored" in capsys.readouterr().out
    assert main(["brief", "log", "--json"]) == 0
    logged = json.loads(capsys.readouterr().out)["injections"]
    assert [(one["kind"], one["bank"]) for one in logged] == [("goal", "proj")]
    assert main(["brief", "--bank", "proj", "--prompt", "hi"]) == 0
    assert "The brief is empty" in capsys.readouterr().out
    assert main(["brief", "--bank", "proj", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"]
