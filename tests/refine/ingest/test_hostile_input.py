"""Ingest of hostile input, of files that change while they are read, and at limits."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.model.ledgers.lines import SourceState
from holdfast.recall.query.terms import read_terms
from holdfast.refine.core.passages import split_identifiers
from holdfast.settings import Settings
from tests.refine.ingest.test_ingest import open_at, texts
from tests.support.transcripts import Script, bug_hunt


def test_one_line_nested_without_end_does_not_stop_the_others(tmp_path: Path) -> None:
    script = Script()
    script.user("before")
    nested: object = 1
    for _ in range(600):
        nested = [nested]
    script.call("TaskUpdate", taskId=nested, status=nested)
    script.user("after")
    path = script.write(tmp_path)
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        assert [t for t in texts(memory, script.session) if "TaskUpdate" not in t] == [
            "before",
            "after",
        ]
        balance = memory.inventory.balance()
    assert balance.accounted == balance.lines == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "MY_KEY_A: a" + "    \n" * 20_000,
        "curl " * 40_000,
        "password=" + "passwordx" * 20_000,
        "mysql " * 40_000,
        "eyJ-" * 40_000,
        "KEY" * 60_000,
        "://a" * 40_000,
        "q" * 200_000,
        "aB" * 80_000,
        "**" * 50_000,
    ],
)
def test_no_text_takes_quadratic_time(text: str) -> None:
    started = time.process_time()
    Redactor().redact(text)
    read_terms(text)
    split_identifiers(text)
    # Quadratic work on texts of this size takes minutes; this is a border, not a measurement.
    assert time.process_time() - started < 5


def test_a_long_password_is_redacted_completely() -> None:
    secret = "aB3x7Kq9" * 150
    for text in (f"api_key = {secret} and more", f'api_key = "{secret}" and more'):
        assert "aB3" not in Redactor().redact(text).text


def test_the_body_of_a_key_without_its_first_line_is_redacted() -> None:
    body = "\n".join("MIIEpAIBAAKCAQEA" + f"{n:02}" * 24 for n in range(3))
    assert "MIIEpA" not in Redactor().redact(f"…\n{body}\n…").text
    short = "+MIIEvQIBADANBgkqhkiG9w0\n+-----END PRIVATE KEY-----"
    assert "MIIEvQ" not in Redactor().redact(short).text


def test_secrets_in_names_of_branches_and_speakers_are_redacted(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    script = Script(branch=f"fix-{token}")
    script.user(f'<teammate-message teammate_id="{token}">do it</teammate-message>')
    path = script.write(tmp_path / "p")
    with path.open("ab") as file:
        file.write(b'{"half": "' + b"x" * 1985 + token.encode() + b"\n")
        file.write(f'{{"text": "{{\\"api_key\\": \\"{token}\\"'.encode() + b"\n")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            assert token.encode() not in data and token[:20].encode() not in data


def test_exclusions_hold_for_whole_paths_folders_commands_and_worktrees(tmp_path: Path) -> None:
    script = Script()
    script.tool("Read", "ok", file_path="/home/dev/proj/secrets/a.pem")
    script.tool("Bash", "ok", command="cat ./secrets/a.pem | wc -l")
    script.tool("Read", "ok", file_path="/home/dev/proj/src/a.py")
    other = Script("66666666-0000-4000-8000-000000000001", cwd="/home/x/.claude/worktrees/w1/src")
    other.user("hidden in a worktree")
    script.write(tmp_path / "p")
    other.write(tmp_path / "p")
    with open_at(
        tmp_path, exclude_paths=("/home/dev/proj/secrets/",), exclude_projects=("/home/x",)
    ) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        kept = texts(memory, script.session)
        assert len(kept) == 1 and "src/a.py" in kept[0]
        assert memory.inventory.counts().turns == 1


def test_an_excluded_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    with (
        open_at(tmp_path, exclude_projects=(str(tmp_path / "repo"),)) as memory,
        pytest.raises(InputError, match="excluded"),
    ):
        memory.ingestion.ingest_git(tmp_path / "repo")


def test_a_file_that_comes_back_is_live_again(tmp_path: Path) -> None:
    path = bug_hunt().write(tmp_path / "p")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        path.rename(tmp_path / "aside")
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        assert memory.reader.sources.all()[0].state is SourceState.GONE
        (tmp_path / "aside").rename(path)
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        assert memory.reader.sources.all()[0].state is SourceState.LIVE


def test_two_copies_of_a_vanished_file_are_both_accounted_for(tmp_path: Path) -> None:
    script = bug_hunt()
    path = script.write(tmp_path / "p")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        for folder in ("one", "two"):
            (tmp_path / "p" / folder).mkdir()
            (tmp_path / "p" / folder / path.name).write_bytes(path.read_bytes())
        path.unlink()
        memory.ingest(memory.ingestion.find([tmp_path / "p"]))
        assert memory.inventory.balance().accounted == 2 * len(script.lines)


@pytest.mark.slow
def test_a_file_that_becomes_unreadable_midway_is_read_again_later(tmp_path: Path) -> None:
    script = Script()
    for number in range(40):
        script.tool("Bash", f"{number} " + "x" * 200_000, command=f"echo {number}")
    path = script.write(tmp_path / "p")
    with open_at(tmp_path) as memory:
        inputs = memory.ingestion.find([tmp_path / "p"])
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        memory.ingest(inputs)
        path.write_bytes(data)
        memory.ingest(inputs)
        balance = memory.inventory.balance()
    assert balance.accounted == balance.lines == len(script.lines) and balance.pending == 0


def test_status_counts_unread_transcripts(tmp_path: Path) -> None:
    script = bug_hunt()
    script.write(tmp_path / "claude" / "projects")
    with Holdfast(Settings(home=tmp_path / "h", claude_dir=tmp_path / "claude")) as memory:
        before = memory.inventory.balance()
        memory.ingest(memory.ingestion.find([]))
        after = memory.inventory.balance()
    assert (before.files, before.lines, before.pending) == (1, len(script.lines), 13)
    assert (after.files, after.lines, after.pending) == (1, len(script.lines), 0)


def test_a_truncated_file_is_reported_until_it_is_read_again(tmp_path: Path) -> None:
    script = bug_hunt()
    path = script.write(tmp_path / "p")
    with open_at(tmp_path) as memory:
        memory.ingest(memory.ingestion.find([path]))
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5]))
        assert any("shorter" in problem for problem in memory.inventory.balance().problems)
        memory.ingest(memory.ingestion.find([path]))
        assert memory.inventory.balance().lines == 5 and memory.inventory.balance().problems == ()


def test_linked_folders_are_followed_and_names_that_are_not_utf8_are_reported(
    tmp_path: Path,
) -> None:
    bug_hunt().write(tmp_path / "real")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "p")
    os.close(os.open(os.fsencode(tmp_path / "p") + b"/\xff\xfe.jsonl", os.O_CREAT | os.O_WRONLY))
    problems: list[str] = []
    with open_at(tmp_path) as memory:
        inputs = memory.ingestion.find([tmp_path / "p"], problems=problems)
        memory.ingest(inputs)
        assert len(inputs) == 1 and memory.inventory.counts().sessions == 1
    assert len(problems) == 1 and "not UTF-8" in problems[0]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with open_at(tmp_path) as memory, pytest.raises(InputError, match="neither a file"):
        memory.ingestion.find([tmp_path / "pipe.jsonl"])


@pytest.mark.parametrize("name", ["all", " "])
def test_reserved_and_empty_bank_names_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "hi"}\n')
    with open_at(tmp_path) as memory, pytest.raises(InputError, match="cannot be called"):
        memory.imports.import_conversation(path, name)


@pytest.mark.slow
def test_a_file_cut_and_restored_while_it_is_read_leaves_no_gap(tmp_path: Path) -> None:
    script = Script()
    for number in range(500):
        script.tool("Bash", f"{number} " + "y" * 4000, command=f"echo {number}")
    path = script.write(tmp_path / "p")
    data = path.read_bytes()
    cuts = iter([lambda: os.truncate(path, 3_000_000), lambda: path.write_bytes(data)])

    def meddle(done: int, total: int) -> None:
        next(cuts, lambda: None)()

    with open_at(tmp_path) as memory:
        memory.ingestion.ingest(memory.ingestion.find([path]), on_progress=meddle)
        memory.ingest(memory.ingestion.find([path]))
        balance = memory.inventory.balance()
    assert balance.accounted == balance.lines == len(script.lines)
