"""What somebody meets who tries one command after another: hints that fit, lists that line up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import (
    COMMANDS,
    FIRST_COMMANDS,
    GROUPS,
    all_commands,
    main,
    make_parser,
    overview,
)
from tests.support.command_line import Run, runner
from tests.support.transcripts import Script, bug_hunt


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    script = Script()
    script.user("Never overwhelm the harbour gauges with requests. I prefer FastAPI.")
    script.assistant("Done: `AuthProvider` in AuthProvider.tsx waits, as the auth provider should.")
    script.user("Thanks. Does AuthProvider wait for every gauge?")
    script.assistant("AuthProvider waits for every gauge of the harbour.")
    script.write(tmp_path / "claude" / "projects")
    assert main(["ingest", str(tmp_path / "claude"), "--embed", "none", "--json"]) == 0
    return runner(capsys)


def test_the_short_help_shows_eight_commands_and_where_the_rest_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["--help"], ["-h"], ["help"]):
        assert main(arguments) == 0
        assert capsys.readouterr().out == overview()
    lines = overview().splitlines()
    assert len(lines) <= 24 and all(len(line) <= 80 for line in lines)
    listed = [line.split()[0] for line in lines if line.startswith("  ") and "holdfast" not in line]
    assert listed == list(FIRST_COMMANDS) and len(listed) == 8 and set(listed) <= set(COMMANDS)
    assert f"  holdfast help all          all {len(COMMANDS)} commands" in lines


def test_help_all_groups_every_command_by_its_purpose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == all_commands().splitlines()
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert all(len(line) <= 80 for line in lines)
    assert all(f"{title}:" in lines for title in GROUPS)
    assert all(any(line.startswith(f"  {name} ") for line in lines) for name in COMMANDS)


# Riddles of an earlier dialect, with what a developer would say instead.
_RIDDLES = {
    "does not tell Holdfast": "hooks are not installed",
    "unasked": "injected",
    "borne out": "confirmed",
    "move into": "install",
    "move out": "remove",
    "speak of": "be about",
    "speaks of": "is about",
    "behind the scenes": "in the background",
    " anew": "again",
    "taken out": "redacted",
    " mend": "fix",
    "whoever": "everybody who",
    "the very ": "exact",
    " told ": "shown",
    " tells ": "says",
    "put away": "hidden",
    "looked through": "checked",
    "goes on where": "resumes",
    "take in": "import",
    "came to": "resulted in",
    "bear out": "confirm",
    "may be given several times": "repeatable",
}


def test_without_arguments_it_shows_the_status_and_one_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    monkeypatch.setenv("PATH", "")

    def output() -> str:
        assert main([]) == 0
        return capsys.readouterr().out

    nothing = output()
    assert (
        "Claude Code hooks are not installed." in nothing and "Next:  holdfast setup\n" in nothing
    )
    assert not (tmp_path / "home").exists()
    (tmp_path / "claude").mkdir()
    assert main(["setup", "--yes"]) == 0
    capsys.readouterr()
    assert "Next:  holdfast ingest FOLDER\n" in output()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "claude").chmod(0o755)
    with monkeypatch.context() as there:
        there.setenv("PATH", str(tmp_path / "bin"))
        assert "Next:  claude\n" in output()
    assert main(["uninstall", "--yes"]) == 0
    capsys.readouterr()
    bug_hunt().write(tmp_path / "claude" / "projects" / "p")
    assert "1 transcript on this machine could be read" in output()
    assert main(["setup", "--yes", "--no-ingest"]) == 0
    capsys.readouterr()
    assert "Next:  holdfast ingest\n" in output()
    assert main(["ingest", "--embed", "none"]) == 0
    capsys.readouterr()
    after = output()
    assert "1 session" in after and "bank proj" in after
    assert 'Next:  holdfast ask "why did we' in after
    assert main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["next"]["command"].startswith("holdfast ask")


def test_a_memory_that_cannot_be_opened_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "memory.db").write_bytes(b"not a database, and long enough to be seen as none")
    assert main([]) == 0
    output = capsys.readouterr().out
    assert "memory        cannot be opened" in output and "Next:  holdfast doctor" in output


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("recal tide", "There is no command 'recal'.\n  → Did you mean 'recall'?"),
        ("--halp", "There is no option '--halp'."),
        ("recall tide --bnak x", "no option '--bnak'.\n  → Did you mean '--bank'?"),
        ("recall tide --limt=3", "no option '--limt'.\n  → Did you mean '--limit'?"),
        (
            "recall tide --budget lwo",
            "'lwo'.\n  → Did you mean 'low'? Choose from: low, mid, high.",
        ),
        ("hlep", "'hlep'.\n  → Did you mean 'help'?"),
        ("--verison", "'--verison'.\n  → Did you mean '--version'?"),
        ("bank shw", "'shw'.\n  → Did you mean 'show'?"),
        ("status now", "'holdfast status' does not take 'now'."),
        ("show", "Something is missing: ID.\n  → See `holdfast show --help`."),
        (
            "recall tide --limit few",
            "limit must be a whole number.\n  → See `holdfast recall --help`",
        ),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(
    typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(typed.split()) == 2
    assert said in capsys.readouterr().err


def test_the_help_of_every_command_has_examples() -> None:
    for name in COMMANDS:
        text = make_parser(name).format_help()
        assert f"holdfast {name}" in text.partition("\nexamples:\n")[2], name
