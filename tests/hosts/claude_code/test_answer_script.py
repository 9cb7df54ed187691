from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import holdfast
from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.briefs.hook_server import serve_briefs
from holdfast.app.core.lease import process_start
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import INJECTED_EVENT, HomePaths
from holdfast.hosts.claude_code.scripts import repository_bank
from holdfast.settings import Settings
from holdfast.sources.project import normal_remote
from tests.support import brief_scenarios as scenarios
from tests.support.hook_scripts import extend_time_limits
from tests.support.waiting import wait_until

SCRIPTS = Path(holdfast.__file__).parent / "hosts" / "claude_code" / "scripts"
SESSION = "5d1f0a52-0000-4000-8000-000000000001"


class Home(NamedTuple):
    """A home as setup leaves it, with the shop's memory in it."""

    settings: Settings
    inbox: Path

    @property
    def places(self) -> HomePaths:
        return HomePaths(self.settings.home)

    def run(
        self, what: str, payload: object, session: str = SESSION, **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        """The real script, by a real interpreter."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        python = self.places.interpreter.read_text().splitlines()[0]
        return subprocess.run(
            [python, "-I", "-S", "-Werror", str(self.places.hooks / "answer.py"), what, session],
            input=data,
            capture_output=True,
            timeout=60,
            env={"PATH": os.environ["PATH"], "HOME": str(self.settings.home.parent), **env},
        )

    def injected(self, what: str, payload: object, session: str = SESSION, **env: str) -> str:
        """What it puts into the session."""
        done = self.run(what, payload, session, **env)
        assert done.returncode == 0 and done.stderr == b""
        if not done.stdout:
            return ""
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer.get("hookSpecificOutput", {}).get("additionalContext", "")

    def events(self, name: str) -> list[Path]:
        return sorted(path for path in self.inbox.iterdir() if f".{name}." in path.name)


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python of its own in which this code is installed."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, symlinks=True, with_pip=False)
    (site,) = (folder / "lib").glob("python3*/site-packages")
    (site / "holdfast.pth").write_text(str(Path(holdfast.__file__).parents[1]))
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memory")
    scenarios.make_shop(folder).close()
    prepare_briefs(Settings(home=folder / "home", claude_dir=folder))
    return folder / "home"


@pytest.fixture
def home(tmp_path: Path, memory: Path, interpreter: Path) -> Iterator[Home]:
    shutil.copytree(memory, tmp_path / "home")
    settings = Settings(home=tmp_path / "home", claude_dir=tmp_path)
    places = HomePaths(settings.home)
    places.hooks.mkdir(mode=0o700)
    for script in SCRIPTS.glob("*.py"):
        shutil.copy(script, places.hooks)
    extend_time_limits(places.hooks / "answer.py")
    inbox = Path("/dev/shm") / f"hf-test-{os.getpid()}-{time.time_ns()}"
    if not os.access("/dev/shm", os.W_OK):
        inbox = tmp_path / "inbox"
    inbox.mkdir(mode=0o700)
    places.inbox_pointer.write_text(f"{inbox}\n")
    places.interpreter.write_text(f"{interpreter}\n-I\n")
    places.worker_pid.write_text(f"{os.getpid()}\n{process_start(os.getpid())}\n")
    yield Home(settings, inbox)
    shutil.rmtree(inbox)


def started(cwd: str = scenarios.SHOP, source: str = "startup") -> dict[str, str]:
    return {"session_id": SESSION, "cwd": cwd, "hook_event_name": "SessionStart", "source": source}


def prompted(prompt: str, cwd: str = scenarios.SHOP) -> dict[str, str]:
    return {"session_id": SESSION, "cwd": cwd, "prompt": prompt}


GOAL = prompted(scenarios.BUILT_WITH[4].prompt)


@pytest.mark.parametrize("source", ["startup", "clear", "compact", "fork"])
def test_a_starting_session_gets_the_brief(home: Home, source: str) -> None:
    text = home.injected("start", started(source=source))
    assert "Where we left off" in text and text.startswith("<holdfast-brief")
    (event,) = home.events("SessionStart")
    assert json.loads(event.read_bytes())["source"] == source
    assert event.stat().st_mode & 0o777 == 0o600
    (note,) = home.events(INJECTED_EVENT)
    noted = json.loads(note.read_bytes())
    assert noted["kind"] == "start" and noted["characters"] == len(text) and noted["records"]
    assert noted["id"].split(".")[0] in text


def test_a_resumed_session_gets_no_second_brief(home: Home) -> None:
    assert home.injected("start", started(source="resume")) == ""
    assert home.events("SessionStart") and not home.events(INJECTED_EVENT)


def test_a_subfolder_and_a_worktree_belong_to_the_project(home: Home, tmp_path: Path) -> None:
    assert home.injected("start", started(cwd=scenarios.SHOP + "/src/ui")) != ""
    top, tree = tmp_path / "repo", tmp_path / "tree"
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", "-C"]
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    subprocess.run([*git, str(top), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, str(top), "worktree", "add", "-q", str(tree)], check=True)
    assert home.injected("start", started(cwd=str(tree))) == ""
    know(home, f"gitdir:{top.resolve() / '.git'}")
    assert "Where we left off" in home.injected("start", started(cwd=str(tree)))
    know(home, "remote:github.com/acme/shop")
    url = "git@github.com:Acme/Shop.git"
    subprocess.run([*git, str(top), "remote", "add", "origin", url], check=True)
    assert "Where we left off" in home.injected("start", started(cwd=str(tree)))


def know(home: Home, alias: str) -> None:
    """The shop is known under an alias, and under nothing else."""
    path = home.places.briefs / "folders.json"
    result = json.loads(path.read_text())
    bank = json.loads(path.read_text())["folders"][scenarios.SHOP]
    path.write_text(json.dumps({**result, "aliases": {alias: bank}}))


def test_an_unknown_project_gets_one_greeting_and_nothing_afterwards(home: Home) -> None:
    first = home.run("start", started(cwd="/elsewhere/new"))
    assert "Holdfast remembers" in json.loads(first.stdout)["systemMessage"]
    assert home.run("start", started(cwd="/elsewhere/new")).stdout == b""
    assert home.run("start", started(cwd="/elsewhere/other")).stdout == b""


def test_only_the_first_goal_of_a_session_gets_a_brief(home: Home) -> None:
    for small_talk in ("hi", "/compact", "<task-notification>checkout</task-notification>"):
        assert home.injected("goal", prompted(small_talk)) == ""
    text = home.injected("goal", GOAL)
    assert "partners get the bulk endpoint" in text and "2026-06-10" in text
    assert home.injected("goal", GOAL) == ""
    assert len(home.events("UserPromptSubmit")) == 5, "each prompt is kept"
    assert "bulk endpoint" in home.injected("goal", GOAL, session="another-session")


def test_the_id_in_the_payload_counts_where_the_environment_has_none(home: Home) -> None:
    assert "bulk endpoint" in home.injected("goal", GOAL, session="")
    assert home.injected("goal", GOAL, session="") == "", "once in a session"
    assert home.injected("goal", GOAL) == "", "which is the same by either name"
    other = {**GOAL, "session_id": "another-session"}
    assert "bulk endpoint" in home.injected("goal", other, session="")
    for no_name in ("", "../../x", None):
        assert home.injected("goal", {**GOAL, "session_id": no_name}, session="") == ""


def test_a_running_server_is_queried_first(home: Home) -> None:
    asking = serve_briefs(home.settings)
    assert asking is not None
    try:
        assert serve_briefs(home.settings) is None, "one listens already"
        path = home.inbox / "ask.sock"
        assert path.stat().st_mode & 0o777 == 0o600
        # This Python has nothing of ours installed: it could not find the answer by itself.
        bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
        home.places.interpreter.write_text(f"{bare}\n-I\n")
        wait_for(path)
        assert "bulk endpoint" in home.injected("goal", GOAL)
    finally:
        asking.close()
    assert not path.exists()


def wait_for(path: Path) -> None:
    """Until the server answered something, at most a while."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(b'{"v":1,"op":"nothing","interactive":true}\n')
        assert json.loads(connection.recv(1000)) == {"v": 1, "id": "", "text": "", "records": []}


def test_a_stale_socket_is_replaced_and_an_invalid_request_does_no_harm(home: Home) -> None:
    path = home.inbox / "ask.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    asking = serve_briefs(home.settings)
    assert asking is not None
    for bad in (
        b"nonsense\n",
        b"[]\n",
        b"",
        b'{"v":9}\n',
        b'{"v":1,"op":"goal"}\n',
        b"x" * 300_000,
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(60)
            connection.connect(str(path))
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(bad)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1000)
    wait_for(path)
    asking.close()


def test_a_decision_about_a_file_is_injected_once(home: Home) -> None:
    given = {"file_path": scenarios.SHOP + "/src/auth/session.py"}
    edit = {"cwd": scenarios.SHOP, "tool_name": "Edit", "tool_input": given}
    assert "twelve hours" in home.injected("file", edit)
    assert home.injected("file", edit) == "" and not home.events("PreToolUse")
    other = {**edit, "tool_input": {"file_path": scenarios.SHOP + "/docs/readme.md"}}
    assert home.injected("file", other) == ""
    assert home.injected("file", {**edit, "agent_id": "a1"}, session="third") == ""


@pytest.mark.parametrize("decision", ["correct", "forget"])
def test_what_ended_about_a_file_is_not_injected(home: Home, decision: str) -> None:
    given = {"file_path": scenarios.SHOP + "/src/auth/session.py"}
    edit = {"cwd": scenarios.SHOP, "tool_name": "Edit", "tool_input": given}
    with Holdfast(home.settings) as memory:
        facts = [one for bank in memory.reader.banks.all() for one in memory.browse.facts(bank.id)]
        (fact,) = [one for one in facts if "twelve hours" in one.content]
        if decision == "correct":
            text = fact.content.replace("twelve hours", "ten hours")
            memory.correct(f"fact/{fact.id}", text)
        else:
            memory.forget(f"fact/{fact.id}")
    told = home.injected("file", edit)
    assert "twelve hours" not in told and ("ten hours" in told) == (decision == "correct")


def test_what_was_prepared_before_a_change_of_the_bank_is_not_injected(home: Home) -> None:
    given = {"file_path": scenarios.SHOP + "/src/auth/session.py"}
    edit = {"cwd": scenarios.SHOP, "tool_name": "Edit", "tool_input": given}
    with Holdfast(home.settings) as memory:
        for bank in memory.reader.banks.all():  # as a process does that prepares no briefs
            memory.store.progress.mark_changed(bank.id, "")
    assert home.injected("file", edit) == ""
    prepare_briefs(home.settings)
    assert "twelve hours" in home.injected("file", edit)


def test_the_solution_of_a_known_error_is_injected_once(home: Home) -> None:
    bank = json.loads((home.places.briefs / "folders.json").read_text())["folders"][scenarios.SHOP]
    path = home.places.briefs / f"{bank}.triggers.json"
    result = json.loads(path.read_text())
    text = "<holdfast-brief>then</holdfast-brief>"
    entry: dict[str, object] = {"id": "error-1", "text": text, "records": []}
    result["errors"] = {"ValueError: bad row N in P of the feed": [entry]}
    path.write_text(json.dumps(result))
    error = "Exit code 1\nTraceback\nValueError: bad row 17 in /srv/feeds/a.csv of the feed\n"
    seen = {"cwd": scenarios.SHOP, "tool_name": "Bash", "error": error, "is_interrupt": False}
    assert home.injected("error", seen) == text
    assert home.injected("error", seen) == "" and len(home.events("PostToolUseFailure")) == 2
    assert home.injected("error", {**seen, "error": "Exit code 1"}) == ""


def test_subagents_get_no_brief_unless_the_settings_say_so(home: Home) -> None:
    assert home.injected("subagent", started()) == ""
    path = home.places.briefs / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "subagents": True}))
    assert "Where we left off" in home.injected("subagent", started())


@pytest.mark.parametrize("what", ["start", "goal", "file", "error"])
def test_each_kind_of_brief_can_be_turned_off(home: Home, what: str) -> None:
    path = home.places.briefs / "settings.json"
    off = {"v": 1, "session": False, "goal": False, "triggers": False}
    path.write_text(json.dumps(off))
    file = {"file_path": scenarios.SHOP + "/src/auth/session.py"}
    assert home.injected(what, {**started(), **GOAL, "tool_input": file, "error": "x"}) == ""


@pytest.mark.parametrize("what", ["start", "goal", "file", "error", "nonsense"])
@pytest.mark.parametrize(
    "payload", [b"", b"{", b"[1]", b'"text"', b"\xff\xfe", b"null", b'{"cwd": 7, "prompt": []}']
)
def test_invalid_payloads_are_stored_and_get_no_answer(
    home: Home, what: str, payload: bytes
) -> None:
    done = home.run(what, payload)
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_a_disabled_hook_does_nothing(home: Home) -> None:
    assert home.injected("start", started(), HOLDFAST_OFF="1") == ""
    assert list(home.inbox.iterdir()) == []


def test_with_names_only_the_event_file_is_empty(home: Home) -> None:
    home.places.names_only_flag.touch()
    assert home.injected("start", started()) != ""
    (event,) = home.events("SessionStart")
    assert event.stat().st_size == 0


def test_without_an_inbox_the_script_fails_so_that_the_shell_takes_over(home: Home) -> None:
    home.places.inbox_pointer.unlink()
    done = home.run("start", started())
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 1)


def test_a_huge_payload_is_stored_completely(home: Home) -> None:
    data = json.dumps(prompted("x" * 20_000_000)).encode()
    assert home.injected("goal", data) == ""
    (event,) = home.events("UserPromptSubmit")
    assert event.stat().st_size == len(data)


def test_damaged_brief_files_are_ignored(home: Home) -> None:
    for path in home.places.briefs.iterdir():
        path.write_text("{")
    assert home.injected("goal", GOAL) == "" and home.injected("start", started()) == ""


def test_a_worker_is_started_if_none_runs_and_events_wait(home: Home, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\necho "$HOLDFAST_HOME $PWD $@" >{ran}.part\nmv {ran}.part {ran}\n')
    fake.chmod(0o700)
    data = json.dumps(started()).encode()
    script = [sys.executable, "-I", "-S", str(home.places.hooks / "answer.py"), "start", SESSION]
    home.places.interpreter.write_text(f"{fake}\n-I\n")
    home.places.worker_pid.write_text("999999999\n")
    subprocess.run(script, input=data, check=True, capture_output=True, timeout=60)
    assert not ran.exists(), "nothing waits but what this session just left"
    (home.inbox / "1.Stop.another.1").touch()
    subprocess.run(script, input=data, check=True, capture_output=True, timeout=60)
    wait_until(ran.exists, "the worker was started")
    assert ran.read_text().split() == [
        str(home.settings.home), "/", "-I", "-m", "holdfast", "worker", "--nudged"
    ]  # fmt: skip


URLS = (
    "git@github.com:Org/Repo.git",
    "https://github.com/org/repo",
    "https://user:token@github.com:8443/org/repo.git/",
    "ssh://git@[::1]:22/org/repo.git",
    "ssh://git@host.example/org/repo",
    "file:///srv/git/repo.git",
    "../other.git",
    "/srv/git/repo",
    "host:path/to/repo.git",
    "host:/path/to/repo",
    "C:\\work\\repo",
    "https://host",
    "weird",
)


def test_script_and_program_normalise_remotes_alike() -> None:
    for url in URLS:
        found = repository_bank.normal_remote(url, "/top/dir")
        assert found == normal_remote(url, "/top/dir"), url


def test_the_script_uses_the_file_names_of_the_program() -> None:
    text = (SCRIPTS / "answer.py").read_text("utf-8")
    places = HomePaths(Path("/h"))
    shell = (SCRIPTS / "capture.sh").read_text("utf-8")
    for path in (
        places.inbox_pointer,
        places.interpreter,
        places.worker_pid,
        places.starting_worker,
    ):
        assert f'"{path.name}"' in text and f"$here/{path.name}" in shell
    assert (
        f'"{places.names_only_flag.name}"' in text
        and f"$here/{places.names_only_flag.name}" in shell
    )
    ours = (places.session_marks, places.briefs, places.unread_prompts)
    for name in (*(path.name for path in ours), INJECTED_EVENT, "ask.sock"):
        assert f'"{name}"' in text
    unread = (SCRIPTS / "unread_prompts.py").read_text("utf-8")
    assert f'"{places.journals.name}"' in unread


def test_payloads_that_wait_for_over_a_day_stop_the_storing_of_payloads(home: Home) -> None:
    """As where the package was removed and its hooks were not."""
    home.places.interpreter.write_text("/bin/false\n-I\n")
    home.places.worker_pid.unlink()
    script = [sys.executable, "-I", "-S", str(home.places.hooks / "answer.py"), "start", SESSION]
    left = home.inbox / "1.Stop.another.1"
    left.write_text("{}")
    for age, names_only in ((3600, False), (2 * 86400, True)):
        os.utime(left, (time.time() - age, time.time() - age))
        data = json.dumps(started()).encode()
        subprocess.run(script, input=data, check=True, capture_output=True, timeout=60)
        assert home.places.names_only_flag.exists() is names_only
    subprocess.run(script, input=b'{"a":1}', check=True, capture_output=True, timeout=60)
    assert [e.stat().st_size > 0 for e in home.events("SessionStart")].count(False) == 1
