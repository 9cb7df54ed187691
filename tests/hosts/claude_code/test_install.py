"""`holdfast setup` and `holdfast uninstall`, on files of every kind."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.core.token import token_file
from holdfast.app.remote import remote_search
from holdfast.capture.home_paths import HomePaths
from holdfast.hosts.claude_code import uninstall as leaving
from holdfast.settings import load_settings
from holdfast.sources.providers import reliability
from tests.e2e.claude_code.sandbox import install_python
from tests.support.transcripts import bug_hunt
from tests.support.warm_commands import warm_interpreter

MINE = '{\n\t"model": "opus",\n\t"hooks": {"Stop": []}\n}'


class User:
    """Somebody with a home, a project and a Holdfast."""

    def __init__(self, root: Path, python: Path) -> None:
        self.home = root / "home"
        self.project = root / "proj"
        self.settings = self.home / ".claude" / "settings.json"
        self.servers = self.home / ".claude.json"
        self.places = HomePaths(self.home / ".holdfast")
        self.python = python
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.home.mkdir()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, env=self.env, check=True)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return warm_interpreter(str(self.python), "-I").run(arguments, self.env, self.project)

    def do(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, content: str | bytes = MINE) -> None:
        self.settings.parent.mkdir(exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        self.settings.write_bytes(raw)

    def hooks(self) -> dict[str, Any]:
        return json.loads(self.settings.read_bytes().decode("utf-8-sig"))["hooks"]


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_python(tmp_path_factory.mktemp("python") / "env")


@pytest.fixture
def user(tmp_path: Path, python: Path) -> Iterator[User]:
    made = User(tmp_path, python)
    yield made
    inbox = made.places.inbox()
    if inbox is not None:
        shutil.rmtree(inbox, ignore_errors=True)


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_shows_the_diff_and_changes_nothing(user: User) -> None:
    user.write()
    before = files_of(user.home)
    shown = user.do("setup", "--dry-run")
    assert f"--- {user.settings}" in shown and "+++" in shown and "capture.sh' Stop" in shown
    assert f"+++ {user.servers}" in shown and "Nothing was changed." in shown
    assert files_of(user.home) == before


def test_without_a_terminal_or_yes_it_is_refused(user: User) -> None:
    user.write()
    before = files_of(user.home)
    for command in ("setup", "uninstall"):
        done = user.run(command)
        assert done.returncode == (2 if command == "setup" else 0)
        assert files_of(user.home) == before
    assert "--yes" in user.run("setup").stderr


def test_a_second_run_has_nothing_to_change(user: User) -> None:
    user.write()
    user.do("setup", "--yes")
    before = files_of(user.home)
    assert "nothing to change" in user.do("setup")
    assert files_of(user.home) == before


def test_the_files_of_the_hooks_exist_and_are_private(user: User) -> None:
    user.do("setup", "--yes")
    python, flags = user.places.interpreter.read_text().splitlines()
    assert (python, flags) == (str(user.python), "-I")
    inbox = user.places.inbox()
    assert inbox is not None and inbox.stat().st_mode & 0o777 == 0o700
    assert user.places.home.stat().st_mode & 0o777 == 0o700
    for path in user.places.hooks.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert (user.places.hooks / "capture.sh").stat().st_mode & 0o100


@pytest.mark.parametrize("broken", ["{", "[]", '{"a": 1} // mine', "\xff\xfe", '{"hooks": []}'])
def test_an_unusable_file_is_refused_and_nothing_is_changed(user: User, broken: str) -> None:
    user.write(broken.encode("latin-1"))
    user.servers.write_text("{}")
    before = files_of(user.home)
    done = user.run("setup", "--yes")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert files_of(user.home) == before
    user.write()
    user.servers.write_bytes(broken.encode("latin-1"))
    if broken != '{"hooks": []}':
        assert user.run("setup", "--yes").returncode == 2
        assert user.settings.read_text() == MINE and not user.places.home.exists()


@pytest.mark.parametrize(
    "raw",
    [
        MINE.encode(),
        b"\xef\xbb\xbf" + MINE.replace("\n", "\r\n").encode(),
        b'{"model":"opus","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}]}}\n\n',
        b"{}",
        b"",
        b' { "hooks" : { } } \n',
    ],
)
def test_uninstall_restores_every_byte(user: User, raw: bytes) -> None:
    user.write(raw)
    user.settings.chmod(0o640)
    user.servers.write_text('{\n "numStartups": 5}')
    user.do("setup", "--yes")
    changed = user.settings.read_bytes()
    assert len(user.hooks()) >= 11
    assert changed.startswith(raw[:3]) or raw in (b"{}", b"")
    assert (b"\r\n" in changed) == (b"\r\n" in raw)
    assert b"\n" not in changed.replace(b"\r\n", b"") or b"\r\n" not in raw
    user.do("uninstall", "--yes")
    assert user.settings.read_bytes() == raw
    assert user.settings.stat().st_mode & 0o777 == 0o640
    assert user.servers.read_text() == '{\n "numStartups": 5}'
    assert not (user.places.home / "backups").exists()


def test_a_symlinked_settings_file_is_written_at_its_target(user: User, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_text(MINE)
    user.settings.parent.mkdir()
    user.settings.symlink_to(kept)
    user.do("setup", "--yes")
    assert user.settings.is_symlink() and "capture.sh" in kept.read_text()
    user.do("uninstall", "--yes")
    assert user.settings.is_symlink() and kept.read_text() == MINE


def test_changes_made_by_the_user_since_are_kept(user: User) -> None:
    user.write()
    user.do("setup", "--yes")
    now = json.loads(user.settings.read_text())
    mine = {"hooks": [{"type": "command", "command": "say hi"}]}
    now["hooks"]["Stop"].append(mine)
    now["theme"] = "dark"
    user.settings.write_text(json.dumps(now, indent=3))
    user.do("uninstall", "--yes")
    expected = {"model": "opus", "hooks": {"Stop": [mine]}, "theme": "dark"}
    assert user.settings.read_text() == json.dumps(expected, indent=3)
    kept = [path.read_text() for path in (user.places.home / "backups").iterdir()]
    assert kept == [MINE]


def test_setting_up_again_keeps_changes_of_the_user(user: User) -> None:
    user.write()
    user.do("setup", "--yes")
    text = user.settings.read_text().replace('"model": "opus"', '"model": "haiku"')
    user.settings.write_text(text.replace(" PreCompact 2>/dev/null", " PreCompact"))
    assert "PreCompact 2>/dev/null" in user.do("setup", "--dry-run")
    assert "1 hook:" in user.do("setup", "--yes")
    assert "PreCompact 2>/dev/null" in user.settings.read_text()
    user.do("uninstall", "--yes")
    assert json.loads(user.settings.read_text()) == {"model": "haiku"}


def test_uninstall_leaves_nothing_on_a_machine_without_claude_code(user: User) -> None:
    result = user.do("setup", "--yes")
    assert "Claude Code was not found" in result and user.settings.exists()
    user.do("uninstall", "--yes")
    left = [path for path in user.home.rglob("*") if ".holdfast" not in str(path)]
    assert left == []
    user.do("uninstall", "--yes", "--data")
    assert list(user.home.iterdir()) == []


def test_uninstall_with_data_removes_every_file_that_holdfast_writes(user: User) -> None:
    user.do("setup", "--yes")
    settings = load_settings({"HOLDFAST_HOME": str(user.places.home)})
    written = [value for value in vars(user.places).values() if isinstance(value, Path)]
    written += [settings.database, settings.remotes, token_file(user.places.home)]
    for name in (reliability.FILE, remote_search.RELIABILITY_FILE):
        written += [user.places.home / name, user.places.home / f"{name}.lock"]
    files = [path for path in written if path.parent == user.places.home and path.suffix]
    assert len(files) > 8
    for path in files:
        path.touch()
    assert "files of other programs" not in user.do("uninstall", "--yes", "--data")
    assert not user.places.home.exists()


def test_uninstall_with_data_keeps_files_of_others(user: User) -> None:
    user.do("setup", "--yes")
    (user.places.home / "diary.txt").touch()
    assert "files of other programs" in user.do("uninstall", "--yes", "--data")
    assert [path.name for path in user.places.home.iterdir()] == ["diary.txt"]


def test_an_upgrade_installs_new_scripts(user: User) -> None:
    user.do("setup", "--yes")
    script = user.places.hooks / "capture.sh"
    new = script.read_bytes()
    script.write_text("# Holdfast, hook format 0\n")
    assert "~/.holdfast/hooks  the scripts that hooks run" in user.do("setup", "--yes")
    assert script.read_bytes() == new


def test_a_project_can_be_uninstalled_while_the_user_scope_stays(user: User) -> None:
    user.write()
    user.do("setup", "--yes")
    user.do("setup", "--yes", "--scope", "project")
    local = user.project / ".claude" / "settings.local.json"
    assert "capture.sh" in local.read_text()
    servers = json.loads(user.servers.read_text())
    assert "holdfast" in servers["projects"][str(user.project)]["mcpServers"]
    assert user.run("uninstall", "--yes", "--scope", "project", "--data").returncode == 2
    assert "still uses" in user.do("uninstall", "--yes", "--scope", "project")
    assert not local.exists() and user.places.hooks.exists()
    assert list(json.loads(user.servers.read_text())) == ["mcpServers"]
    user.do("uninstall", "--yes")
    assert user.settings.read_text() == MINE and not user.servers.exists()


def test_the_mcp_server_is_registered_where_claude_code_looks_for_it(user: User) -> None:
    chosen = user.home / "elsewhere"
    user.env["CLAUDE_CONFIG_DIR"] = str(chosen)
    user.env["HOLDFAST_HOME"] = str(user.home / ".holdfast" / "own")
    user.do("setup", "--yes")
    entry = json.loads((chosen / ".claude.json").read_text())["mcpServers"]["holdfast"]
    assert entry["env"] == {"HOLDFAST_HOME": user.env["HOLDFAST_HOME"]}
    user.do("uninstall", "--yes")
    (chosen).mkdir(exist_ok=True)
    (chosen / ".config.json").write_text("{}")
    assert str(chosen / ".config.json") in user.do("setup", "--dry-run")


def test_uninstall_with_data_removes_every_file_of_a_home(tmp_path: Path) -> None:
    places = HomePaths(tmp_path)
    ours = {
        value.relative_to(tmp_path).parts[0]
        for name in dir(places)
        if isinstance(value := getattr(places, name), Path) and value != tmp_path
    }
    for name in ours:
        (tmp_path / name).touch()
    leaving.remove([*leaving.hook_parts(places), *leaving.data_parts(places)])
    assert leaving.remove_home(places), list(tmp_path.iterdir())


def test_data_is_removed_only_on_request_and_without_files_of_others(user: User) -> None:
    bug_hunt().write(user.home / ".claude" / "projects")
    assert "transcript" in user.do("setup", "--yes")
    user.do("worker")
    stranger = user.places.home / "my notes.txt"
    stranger.write_text("mine")
    assert user.run("uninstall", "--data").returncode == 2
    user.do("uninstall", "--yes")
    assert (user.places.home / "memory.db").exists() and not user.places.hooks.exists()
    user.do("uninstall", "--yes", "--data")
    assert list(user.places.home.iterdir()) == [stranger]


def test_two_new_files_can_be_created_in_one_folder(user: User) -> None:
    user.env["CLAUDE_CONFIG_DIR"] = str(user.home / "work" / ".claude")
    user.do("setup", "--yes")
    user.do("uninstall", "--yes")
    assert not (user.home / "work" / ".claude").exists() and not user.places.hooks.exists()


def test_history_is_ingested_on_request(user: User) -> None:
    bug_hunt().write(user.home / ".claude" / "projects")
    result = json.loads(user.do("setup", "--yes", "--json"))
    assert result["done"] and result["history"]["files"] == 1 and result["history"]["bytes"] > 0
    assert "Read 1 session" in user.do("setup", "--yes", "--ingest")
    assert json.loads(user.do("status", "--json"))["turns"] > 0


@pytest.mark.parametrize(
    ("replies", "hooks", "tools"),
    [
        ("n", False, False),
        ("y y n", True, True),
        ("y n n", True, False),
        ("d y y n", True, True),
    ],
)
def test_at_a_terminal_it_asks_for_confirmation(
    user: User, replies: str, hooks: bool, tools: bool
) -> None:
    user.write()
    shown = at_a_terminal(user, ["setup", "--no-ingest"], replies.split())
    written = user.settings.read_text()
    assert "Go ahead?" in shown and ("They only read." in shown) is hooks
    assert ("capture.sh" in written) is hooks
    assert ("mcp__holdfast__memory_recall" in written) is tools
    assert (f"+++ {user.settings}" in shown) is replies.startswith("d")
    assert ("Nothing was changed." in shown) is not hooks
    assert ("No model is used." in shown) is hooks


# Without a word for so long, a command waits for an answer that nobody gives.
_PATIENCE_S = 120


def at_a_terminal(user: User, arguments: list[str], replies: list[str], **env: str) -> str:
    """What a command shows at a terminal where somebody gives these answers."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [str(user.python), "-I", "-m", "holdfast", *arguments],
        cwd=user.project,
        env={**user.env, **env},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, "".join(f"{reply}\n" for reply in replies).encode())
    shown = b""
    while True:
        if not select.select([master], [], [], _PATIENCE_S)[0]:
            running.kill()
            running.wait()
            os.close(master)
            pytest.fail(f"it waits for an answer: {shown.decode()[-300:]}")
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        shown += piece
        if not piece:
            break
    os.close(master)
    assert running.wait(timeout=60) == 0
    return shown.decode()


def test_invalid_payloads_leave_an_event_and_print_nothing(user: User) -> None:
    user.do("setup", "--yes")
    script = str(user.places.hooks / "capture.sh")
    for payload in (b"", b"\xff\x00{{{", b"[" * 1_000_000):
        done = subprocess.run(
            ["sh", script, "PostToolUse"], input=payload, env=user.env, capture_output=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    inbox = user.places.inbox()
    assert inbox is not None and len(list(inbox.glob("1.PostToolUse.none.*"))) == 3


def test_uninstall_says_in_a_few_lines_what_goes_and_shows_the_diff_on_request(user: User) -> None:
    user.do("setup", "--yes")
    told = user.do("uninstall", "--dry-run")
    assert "+++ " in told and told.endswith("Nothing was changed.\n")
    told = user.do("uninstall", "--yes")
    assert "11 hooks and 4 permissions" in told and "the MCP server `holdfast`" in told
    assert "+++ " not in told and len(told.splitlines()) < 12
