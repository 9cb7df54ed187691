"""A user of Claude Code in a box: home, project, service and program, nothing of the real one."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import psutil

import holdfast
from holdfast.capture.home_paths import HomePaths
from tests.e2e.claude_code.api import Api, Plays
from tests.support.waiting import wait_until
from tests.support.warm_commands import warm_interpreter

Json = dict[str, Any]
PATIENCE_S = 120


def find_claude() -> Path | None:
    """The program that comes in the wheel `claude-agent-sdk`."""
    spec = find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / "_bundled" / "claude"
    return program if program.is_file() else None


def install_python(folder: Path) -> Path:
    """An environment in which this very source is installed, so that `python -I` finds it from
    anywhere, as it finds a package that a user installed."""
    base = Path(os.path.realpath(sys.executable))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    source = Path(holdfast.__file__).parents[1]
    (packages / "here.pth").write_text(f"{source}\n{sysconfig.get_paths()['purelib']}\n")
    (folder / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\n"
    )
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(base)
    return folder / "bin" / "python"


class Event(NamedTuple):
    """A raw event as a hook left it."""

    name: str
    session: str
    payload: Json


class Done(NamedTuple):
    """How a run of the program went."""

    status: int
    out: str
    err: str

    @property
    def result(self) -> Json:
        """The last word of a run with `--output-format json`."""
        return json.loads(self.out)


class Lab:
    """One user, one project, one play."""

    def __init__(self, root: Path, program: Path, python: Path, plays: Plays) -> None:
        self.home = root / "home"
        self.claude_dir = self.home / ".claude"
        self.project = root / "proj"
        self.places = HomePaths(root / "memory of it's own")
        self.python = python
        for folder in (self.claude_dir, self.project, root / "bin"):
            folder.mkdir(parents=True)
        (root / "bin" / "claude").symlink_to(program)
        self.api = Api(plays, str(self.project))
        self.env = {
            "PATH": f"{root / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.claude_dir),
            "HOLDFAST_HOME": str(self.places.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/sh",
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
            # Otherwise it asks the model without the tools of a server that is not there at once.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": str(PATIENCE_S * 1000),
            "MCP_TIMEOUT": str(PATIENCE_S * 1000),
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "NO_PROXY": "*",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._lock: int | None = None
        for command in (
            ("init", "-q", "-b", "main"),
            ("config", "user.email", "dev@example.org"),
            ("config", "user.name", "dev"),
            ("commit", "-q", "--allow-empty", "-m", "begin"),
        ):
            subprocess.run(["git", *command], cwd=self.project, env=self.env, check=True)

    def close(self) -> None:
        self.api.close()
        if self._lock is not None:
            os.close(self._lock)
        self.holdfast("uninstall", "--yes")

    def holdfast(self, *arguments: str) -> Done:
        """Run Holdfast as the user would."""
        done = warm_interpreter(str(self.python), "-I").run(arguments, self.env, self.project)
        return Done(done.returncode, done.stdout, done.stderr)

    def claude(self, *arguments: str, words: str = "", allow: str = "") -> Done:
        """Run Claude Code once, without a terminal."""
        allowed = ("--allowedTools", allow) if allow else ()
        return self._run(["claude", "-p", *arguments, *allowed], words)

    def run_claude(self, *arguments: str) -> Done:
        """Run another command of Claude Code's."""
        return self._run(["claude", *arguments])

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start Claude Code and go on."""
        return subprocess.Popen(
            ["claude", "-p", *arguments],
            cwd=self.project,
            env=self.env,
            executable=self._program(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _program(self) -> str:
        return f"{self.env['PATH'].split(':')[0]}/claude"

    def _run(self, command: list[str], words: str = "") -> Done:
        if command[0] == "claude":
            command = [self._program(), *command[1:]]
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.env,
            input=words,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def hold_worker(self) -> None:
        """Keep a worker from starting, so that what hooks left stays to be looked at."""
        stat = Path("/proc/self/stat")
        began = stat.read_text().rpartition(")")[2].split()[19] if stat.exists() else ""
        self.places.worker_pid.write_text(f"{os.getpid()}\n{began}\n")
        self._lock = os.open(self.places.worker_lock, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def release_worker(self) -> None:
        """Let workers start again."""
        assert self._lock is not None
        self.places.worker_pid.unlink()
        os.close(self._lock)
        self._lock = None

    def transcripts(self) -> list[Path]:
        """What the program wrote about its sessions."""
        return sorted((self.claude_dir / "projects").glob("*/*.jsonl"))

    def wait_until_quiet(self) -> None:
        """Wait for the program, its hooks and workers to leave. A worker that was started just now
        has no lease yet, and one that comes after it would leave everything to it."""
        wait_until(lambda: not self.processes(), "every process of this user has left", PATIENCE_S)

    def processes(self) -> list[psutil.Process]:
        """Of the program, its hooks and workers; those that `holdfast` runs are done."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("HOLDFAST_HOME") == str(self.places.home)
        except psutil.Error:
            return False

    def wait_for_worker(self) -> None:
        """Let the worker that a hook started finish: the inbox is empty, and it has left."""
        inbox = self.places.inbox()
        assert inbox is not None
        wait_until(
            lambda: not any(inbox.glob("1.*")) and not self.places.worker_pid.exists(),
            "the worker has emptied the inbox and left",
            PATIENCE_S,
        )

    def events(self, wait_for: str = "") -> list[Event]:
        """What hooks left, in the order in which they left it; `wait_for` names an event that
        must come, because a hook of a killed program may still be on its way."""
        if wait_for:
            wait_until(
                lambda: any(event.name == wait_for for event in self._events()),
                f"a hook has left {wait_for}",
                PATIENCE_S,
            )
        return self._events()

    def _events(self) -> list[Event]:
        inbox = self.places.inbox()
        assert inbox is not None
        files = sorted(inbox.glob("1.*"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        found: list[Event] = []
        for path in files:
            _, name, session, *_ = path.name.split(".")
            text = path.read_text("utf-8")
            if text.endswith(("}", "}\n")):
                found.append(Event(name, session, json.loads(text)))
        return found

    def names(self) -> list[str]:
        """Which events there were."""
        return [event.name for event in self.events()]
