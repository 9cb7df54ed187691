from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.memory import Holdfast
from holdfast.brief.prepared_files import SUBAGENTS_FLAG
from holdfast.brief.triggers import error_triggers
from holdfast.capture.home_paths import HomePaths
from holdfast.refine.facts.error_signatures import error_lines, signature_of
from holdfast.settings import BriefSettings, Settings
from tests.support import brief_scenarios as scenarios
from tests.support.transcripts import Script, bug_hunt


def loaded(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def shop(folder: Path, **wanted: Any) -> Settings:
    scenarios.make_shop(folder).close()
    return Settings(home=folder / "home", claude_dir=folder, brief=BriefSettings(**wanted))


def test_every_bank_gets_files_that_only_the_owner_can_read(tmp_path: Path) -> None:
    settings = shop(tmp_path)
    written = prepare_briefs(settings)
    folder = HomePaths(settings.home).briefs
    assert len(written) == 2 and folder.stat().st_mode & 0o777 == 0o700
    for path in folder.iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
        assert loaded(path)["v"] == 1
    told = loaded(folder / "folders.json")["folders"]
    bank = told[scenarios.SHOP]
    brief = loaded(folder / f"{bank}.json")
    assert brief["bank"] == bank and brief["id"] in brief["text"] and brief["records"]
    files = loaded(folder / f"{bank}.triggers.json")["files"]
    assert "twelve hours" in files["src/auth/session.py"][0]["text"]
    assert "docs/readme.md" not in files


def test_a_folder_belongs_to_the_bank_of_its_sessions_not_of_their_subagents(
    tmp_path: Path,
) -> None:
    script = Script(cwd="/home/dev/proj/src")
    script.user("Look around in the tests.")
    script.assistant("There are nine tests.")
    path = script.write(tmp_path / "p")
    inner = Script(cwd="/elsewhere/borrowed")
    inner.user("List the files.", agentId="aa61", isSidechain=True)
    inner.assistant("One README.", agentId="aa61", isSidechain=True)
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-aa61.jsonl").write_bytes(inner.dumps())
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path, bank="proj")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        cwds = {one.cwd: one.parent for one in memory.reader.sessions.latest(None)}
    assert cwds["/elsewhere/borrowed"] and not cwds["/home/dev/proj/src"]
    prepare_briefs(settings)
    told = loaded(HomePaths(settings.home).briefs / "folders.json")["folders"]
    assert "/home/dev/proj/src" in told and "/elsewhere/borrowed" not in told


def test_unchanged_files_are_not_written_again(tmp_path: Path) -> None:
    settings = shop(tmp_path)
    prepare_briefs(settings)
    folder = HomePaths(settings.home).briefs
    kept = [path for path in folder.iterdir() if path.name != "folders.json"]
    before = {path: path.stat().st_mtime_ns for path in kept}
    assert before and prepare_briefs(settings) == []
    assert {path: path.stat().st_mtime_ns for path in kept} == before
    bug_hunt().write(tmp_path / "p")
    with Holdfast(settings) as memory:
        memory.ingestion.ingest(memory.ingestion.find([tmp_path / "p"]))
    assert len(prepare_briefs(settings)) == 1, "only the bank that is new"


def test_lines_that_say_nothing_do_not_renew_a_brief(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "p")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)

    def read() -> int:
        with Holdfast(settings) as memory:
            memory.ingestion.ingest(memory.ingestion.find([path]))
            (bank,) = memory.reader.banks.all()
            return memory.reader.records.counts(bank.id).raw_bytes

    before = read()
    assert len(prepare_briefs(settings)) == 1
    with path.open("a") as file:
        file.write('{"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}\n')
    assert read() > before
    assert prepare_briefs(settings) == []


def test_settings_are_passed_to_the_hooks_and_renew_the_briefs(tmp_path: Path) -> None:
    settings = shop(tmp_path)
    prepare_briefs(settings)
    other = Settings(
        home=settings.home,
        claude_dir=tmp_path,
        brief=BriefSettings(triggers=False, tokens=600, subagents=True),
    )
    folder = HomePaths(settings.home).briefs
    assert not (folder / SUBAGENTS_FLAG).exists()
    assert len(prepare_briefs(other)) == 2
    assert (folder / SUBAGENTS_FLAG).exists()
    assert loaded(folder / "settings.json")["triggers"] is False
    bank = loaded(folder / "folders.json")["folders"][scenarios.SHOP]
    assert loaded(folder / f"{bank}.triggers.json")["files"] == {}
    assert len(loaded(folder / f"{bank}.json")["text"]) <= 600 * 4


def test_files_of_a_deleted_bank_are_removed(tmp_path: Path) -> None:
    settings = shop(tmp_path)
    prepare_briefs(settings)
    folder = HomePaths(settings.home).briefs
    for name in ("0123456789abcdef.json", "0123456789abcdef.triggers.json"):
        (folder / name).write_text("{}")
    prepare_briefs(settings)
    assert not list(folder.glob("0123456789abcdef*"))


def test_an_interrupted_run_leaves_no_partial_file(tmp_path: Path) -> None:
    settings = shop(tmp_path)
    prepare_briefs(settings)
    assert not list(HomePaths(settings.home).briefs.glob(".*"))


def flaky(session: str) -> Script:
    script = Script(session)
    script.user("The nightly job crashes, please fix the bug.")
    trace = (
        'Traceback (most recent call last):\n  File "/srv/job/run.py", line 42, in load\n'
        "sqlite3.OperationalError: database table is locked: queue_17"
    )
    script.tool("Bash", trace, error=True, command="python run.py")
    script.assistant(
        "The root cause was a cursor that stays open: the OperationalError comes from the second "
        "writer while the first still reads."
    )
    path = "/home/dev/proj/job.py"
    script.tool("Edit", "updated", file_path=path, old_string="a", new_string="b")
    script.tool("Bash", "done", command="python run.py")
    script.assistant("Fixed: the cursor is closed before the write.")
    return script


def test_an_error_that_was_resolved_is_recognised_when_it_recurs(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    flaky("33333333-0000-4000-8000-000000000001").write(tmp_path / "p")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        bank = memory.reader.banks.all()[0].id
        known = error_triggers(memory.reader, bank)
    (signature,) = known
    assert signature == "sqliteN.OperationalError: database table is locked: queue_N"
    assert "a cursor that stays open" in known[signature][0].text
    again = "  sqlite3.OperationalError: database table is locked: queue_3\n"
    assert [signature_of(line) for line in error_lines(again)] == [signature]


def test_an_exit_code_is_not_stored_as_an_error() -> None:
    assert error_lines("Exit code 1") == [] and signature_of("Error: 12") == ""
