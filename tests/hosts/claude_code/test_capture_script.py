from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.core.lease import process_start
from holdfast.brief.prepared_files import SUBAGENTS_FLAG
from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import list_events
from holdfast.hosts import claude_code
from tests.support.inbox_home import RECORDED, SESSION, recorded
from tests.support.waiting import wait_until

SCRIPT = Path(claude_code.__file__).parent / "scripts" / "capture.sh"
SHELLS = [
    shell.split()
    for shell in ("sh", "dash", "bash --posix", "busybox sh")
    if shutil.which(shell.split()[0])
]
CAPTURED = sorted({path.name.split(".")[0] for path in RECORDED.glob("*.json")})


class Hooks:
    """A home as setup leaves it, with the script in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / 'it\'s a "home" $HOME'
        self.places = HomePaths(self.home)
        self.inbox = folder / "in box"
        self.inbox.mkdir(mode=0o700)
        self.places.hooks.mkdir(parents=True)
        self.places.inbox_pointer.write_text(f"{self.inbox}\n")
        self.script = self.places.hooks / "capture.sh"
        shutil.copy(SCRIPT, self.script)
        self.log = folder / "log"

    def run(
        self, event: str, payload: bytes = b"{}", shell: list[str] | None = None, **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the hook; whatever happens it must succeed."""
        known = {"PATH": os.environ["PATH"], "CLAUDE_CODE_SESSION_ID": SESSION, **env}
        done = subprocess.run(
            [*(shell or ["sh"]), str(self.script), event],
            input=payload,
            env=known,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done

    def silent(self, event: str, payload: bytes = b"{}", **env: str) -> None:
        assert self.run(event, payload, None, **env).stdout == b""

    def interpreter(self, text: str) -> None:
        """What the hook takes for the interpreter."""
        path = self.home / "bin python"
        path.write_text(text)
        path.chmod(0o755)
        self.places.interpreter.write_text(f"{path}\n-I\n")

    def worker(self) -> None:
        self.interpreter(f'#!/bin/sh\necho "$*" "$HOLDFAST_HOME" "$PWD" >>"{self.log}"\n')

    def started(self, count: int = 1) -> list[str]:
        """What the workers that were started wrote, as soon as so many have."""
        return wait_until(lambda: self._whole_log(count), f"{count} workers were started")

    def _whole_log(self, count: int) -> list[str]:
        text = self.log.read_text() if self.log.exists() else ""
        return text.splitlines() if text.count("\n") >= count else []

    def events(self) -> list[tuple[str, str, bytes]]:
        return [(e.event, e.session, e.path.read_bytes()) for e in list_events(self.inbox).events]


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize("event", CAPTURED)
def test_every_event_is_written_to_the_inbox_unchanged(
    hooks: Hooks, event: str, shell: list[str]
) -> None:
    payload = next(RECORDED.glob(f"{event}.*json")).read_bytes()
    assert hooks.run(event, payload, shell).stdout == b""
    assert hooks.events() == [(event, SESSION, payload)]
    (path,) = hooks.inbox.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_pre_tool_use_event_is_not_stored(hooks: Hooks) -> None:
    hooks.silent("PreToolUse")
    assert hooks.events() == []


def test_invalid_and_empty_payloads_are_stored_unchanged(hooks: Hooks) -> None:
    for payload in (b"", b"\x00\xff not json\n", b'{"prompt": '):
        hooks.silent("PostToolUse", payload)
    assert [data for _, _, data in hooks.events()] == [b"", b"\x00\xff not json\n", b'{"prompt": ']


@pytest.mark.parametrize("session", ["", "../../etc", "a b", "x" * 3 + "/.."])
def test_an_invalid_session_id_is_replaced_by_none(hooks: Hooks, session: str) -> None:
    hooks.silent("PostToolUse", CLAUDE_CODE_SESSION_ID=session)
    assert [(event, name) for event, name, _ in hooks.events()] == [("PostToolUse", "none")]


def test_a_payload_of_fifty_megabytes_is_stored(hooks: Hooks) -> None:
    payload = b'{"x":"' + b"y" * 50_000_000 + b'"}'
    hooks.silent("PostToolUse", payload)
    assert hooks.events() == [("PostToolUse", SESSION, payload)]


def test_with_names_only_the_event_file_is_empty(hooks: Hooks) -> None:
    hooks.places.names_only_flag.touch()
    hooks.silent("UserPromptSubmit", b'{"prompt":"secret"}')
    assert hooks.events() == [("UserPromptSubmit", SESSION, b"")]


def test_an_agent_started_by_us_leaves_no_event(hooks: Hooks) -> None:
    hooks.silent("Stop", HOLDFAST_OFF="1")
    assert hooks.events() == []


def test_a_missing_inbox_is_created_again_and_private(hooks: Hooks) -> None:
    hooks.inbox.rmdir()
    hooks.silent("PostToolUse")
    assert len(hooks.events()) == 1
    assert stat.S_IMODE(hooks.inbox.stat().st_mode) == 0o700


def test_an_inbox_that_is_a_symlink_is_not_written_to(hooks: Hooks, tmp_path: Path) -> None:
    hooks.inbox.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hooks.inbox.symlink_to(elsewhere)
    hooks.silent("PostToolUse")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's folder")
def test_an_inbox_of_another_user_is_not_written_to(hooks: Hooks) -> None:
    os.chown(hooks.inbox, 4711, 4711)
    hooks.silent("PostToolUse")
    assert list(hooks.inbox.iterdir()) == []


def test_the_hook_command_succeeds_without_a_home(hooks: Hooks) -> None:
    hooks.places.inbox_pointer.unlink()
    hooks.silent("Stop")
    shutil.rmtree(hooks.home)
    quoted = str(hooks.script).replace("'", "'\\''")
    entry = f"sh '{quoted}' Stop 2>/dev/null || exit 0"
    done = subprocess.run(["sh", "-c", entry], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this user may not mount a small disk to fill")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_on_a_full_disk_at_least_the_event_name_is_stored(hooks: Hooks, mounted: Path) -> None:
    hooks.places.inbox_pointer.write_text(f"{mounted}\n")
    hooks.inbox = mounted
    hooks.silent("PostToolUse", b"x" * 1_000_000)
    hooks.silent("PostToolUse", b'{"small":1}')
    assert [data for _, _, data in hooks.events()] == [b"", b'{"small":1}']


def test_on_a_read_only_disk_nothing_happens(hooks: Hooks, mounted: Path) -> None:
    shutil.copytree(hooks.home, mounted / "home")
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    hooks.script = mounted / "home" / "hooks" / "capture.sh"
    hooks.silent("Stop", b'{"kept":1}')
    assert hooks.events() == [("Stop", SESSION, b'{"kept":1}')], "the inbox is elsewhere"
    hooks.inbox.rename(hooks.inbox.with_name("gone"))
    hooks.silent("Stop")


def test_a_stop_event_starts_a_worker_outside_the_users_folder(hooks: Hooks) -> None:
    hooks.worker()
    hooks.silent("PostToolUse")
    assert not hooks.places.starting_worker.exists() and not hooks.log.exists()
    hooks.silent("Stop")
    assert hooks.started() == [f"-I -m holdfast worker --nudged {hooks.home} /"]


@pytest.mark.parametrize("event", ["SessionEnd", "PreCompact"])
def test_session_end_and_compaction_start_a_worker_too(hooks: Hooks, event: str) -> None:
    hooks.worker()
    hooks.silent(event)
    assert len(hooks.started()) == 1


def test_no_second_worker_is_started_while_one_runs(hooks: Hooks) -> None:
    hooks.worker()
    code = "import sys; sys.stdin.read()"
    running = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    hooks.places.worker_pid.write_text(f"{running.pid}\n{process_start(running.pid)}\n")
    hooks.silent("Stop")
    assert not hooks.places.starting_worker.exists() and not hooks.log.exists()
    running.communicate()
    hooks.silent("Stop")
    assert len(hooks.started()) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to tell whose it is")
@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_no_second_worker_is_started_while_one_starts(hooks: Hooks, shell: list[str]) -> None:
    gate = hooks.log.with_name("gate")
    os.mkfifo(gate)
    hooks.interpreter(f'#!/bin/sh\necho start >>"{hooks.log}"\nread -r go <"{gate}"\n')
    for _ in range(5):
        hooks.run("Stop", b"{}", shell)
    assert hooks.started() == ["start"]
    number = int(hooks.places.starting_worker.read_text().split()[0])
    gate.write_text("go\n")
    # A dead one may stay to be seen where nobody buries it.
    wait_until(lambda: not process_start(number) or _state(number) == "Z", "the worker has left")
    hooks.run("Stop", b"{}", shell)
    assert hooks.started(2) == ["start", "start"]
    gate.write_text("go\n")


def _state(number: int) -> str:
    """Z for one that is dead and not buried, and for one that is gone."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][:1]
    except OSError:
        return "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to tell whose it is")
def test_a_reused_pid_is_not_taken_for_a_worker(hooks: Hooks) -> None:
    hooks.worker()
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    hooks.places.worker_pid.write_text(f"{other.pid}\n7\n")
    hooks.silent("Stop")
    assert len(hooks.started()) == 1
    other.communicate()


def test_without_an_interpreter_payloads_are_kept_for_a_while_and_then_only_names(
    hooks: Hooks,
) -> None:
    hooks.places.interpreter.write_text("/no/such/python\n-I\n")
    payload = json.dumps(recorded("SessionStart.startup")).encode()
    hooks.silent("SessionStart", payload)
    hooks.silent("UserPromptSubmit", b'{"prompt":"x"}')
    hooks.silent("Stop", b'{"last_assistant_message":"y"}')
    assert [(event, bool(data)) for event, _, data in hooks.events()] == [
        ("SessionStart", True),
        ("UserPromptSubmit", True),
        ("Stop", True),
    ]
    hooks.silent("UserPromptSubmit", b'{"prompt":"z"}')
    assert hooks.events()[-1][2] == b"", "nobody would come for the words"


@pytest.mark.parametrize(
    ("event", "asked"),
    [
        ("SessionStart", "start"),
        ("UserPromptSubmit", "goal"),
        ("PreToolUse", "file"),
        ("PostToolUseFailure", "error"),
        ("SubagentStart", "subagent"),
    ],
)
def test_events_that_need_an_answer_run_the_answer_script(
    hooks: Hooks, event: str, asked: str
) -> None:
    hooks.places.interpreter.write_text(f"{sys.executable}\n-I\n")
    answer = hooks.places.hooks / "answer.py"
    answer.write_text("import sys\ndef run(): print(sys.argv[1:], sys.stdin.read())")
    (hooks.home / "briefs").mkdir()
    (hooks.home / "briefs" / SUBAGENTS_FLAG).touch()
    done = hooks.run(event, b'{"a":1}')
    assert done.stdout.decode() == f"['{asked}', '{SESSION}'] {{\"a\":1}}\n"
    assert hooks.events() == [], "it captures by itself"


def test_the_answer_script_is_compiled_once(hooks: Hooks) -> None:
    hooks.places.interpreter.write_text(f"{sys.executable}\n-I\n")
    (hooks.places.hooks / "answer.py").write_text("def run(): print(__cached__)")
    ran = [hooks.run("SessionStart", b"{}").stdout.decode().strip() for _ in range(2)]
    compiled = Path(ran[0])
    assert ran == [str(compiled)] * 2 and compiled.is_relative_to(hooks.places.hooks)
    assert not compiled.stat().st_mode & 0o077


def test_a_subagent_starts_no_interpreter_unless_subagents_are_briefed(hooks: Hooks) -> None:
    hooks.places.interpreter.write_text(f"{sys.executable}\n-I\n")
    (hooks.places.hooks / "answer.py").write_text("def run(): print('answer')")
    hooks.silent("SubagentStart", b'{"agent_id":"a"}')
    assert [event for event, _, _ in hooks.events()] == ["SubagentStart"]


def test_the_second_prompt_of_a_session_is_only_captured(hooks: Hooks) -> None:
    hooks.places.interpreter.write_text(f"{sys.executable}\n-I\n")
    (hooks.places.hooks / "answer.py").write_text("def run(): print('answer')")
    hooks.places.session_marks.mkdir()
    (hooks.places.session_marks / f"{SESSION}.goal").touch()
    hooks.silent("UserPromptSubmit")
    assert len(hooks.events()) == 1


@pytest.mark.parametrize(
    "broken", ["#!/bin/sh\nexit 1\n", "#!/no/such/shell\n", "\x7fELF nonsense"]
)
def test_a_broken_interpreter_loses_no_event(hooks: Hooks, broken: str) -> None:
    hooks.interpreter(broken)
    hooks.silent("SessionStart", b'{"source":"startup"}')
    hooks.silent("Stop", b"{}")
    assert [event for event, _, _ in hooks.events()] == ["SessionStart", "Stop"]
    assert hooks.events()[0][2] == b'{"source":"startup"}'
