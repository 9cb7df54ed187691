"""Commands as processes of their own that begin where all modules are already imported.

`python -m holdfast serve` computes for two seconds before it listens, nearly all of it imports.
Here one process imports them once in a test run and is forked for every command, which then has its
own process, environment, folder and output as any other.
"""

from __future__ import annotations

import array
import atexit
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import BinaryIO, NamedTuple

_ROOT = Path(__file__).parents[2]
_PRELOADED = (
    "holdfast.interfaces.cli.main",
    "holdfast.interfaces.cli.commands.servers.browse",
    "holdfast.interfaces.cli.commands.servers.serve",
    "holdfast.interfaces.http.server.browse_server",
    "holdfast.interfaces.http.server.team_server",
    "holdfast.interfaces.http.graphql.schema",
)
# Of a request: more than any environment of a test, less than a socket takes at once.
_MAX_BYTES = 150_000


class _Asked(NamedTuple):
    arguments: list[str]
    env: dict[str, str]
    cwd: str


class ForkedCommand:
    """A running command, with the methods of `subprocess.Popen` that tests use. Its errors are
    printed with those of the tests, unless they are to be read from `stderr`."""

    def __init__(
        self, arguments: list[str], env: Mapping[str, str], cwd: Path, *, read_stderr: bool = False
    ) -> None:
        self.returncode: int | None = None
        reading, out = os.pipe()
        self.stdout: BinaryIO = os.fdopen(reading, "rb")
        self.stderr: BinaryIO | None = None
        error = os.dup(2)
        if read_stderr:
            os.close(error)
            reading, error = os.pipe()
            self.stderr = os.fdopen(reading, "rb")
        self._status, status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        asked = _Asked(arguments, dict(env), str(cwd))
        with status:
            _template().start(json.dumps(asked).encode(), (out, error, status.fileno()))
        os.close(out)
        os.close(error)
        self.pid = int(self._receive(None))

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        if self.returncode is None:
            try:
                self.wait(0)
            except subprocess.TimeoutExpired:
                return None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; returns the exit status, negative for a signal."""
        if self.returncode is None:
            self.returncode = int(self._receive(timeout))
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Read all that it prints until it has ended; returns output and errors."""
        with ThreadPoolExecutor(1) as other:
            errors = other.submit(self.stderr.read) if self.stderr else None
            told = self.stdout.read()
            complained = errors.result() if errors else b""
        self.wait(timeout)
        return told, complained

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> ForkedCommand:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Wait for its end, and close what it wrote to."""
        try:
            self.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Close the pipes."""
        for one in (self.stdout, self.stderr, self._status):
            if one is not None:
                one.close()

    def _receive(self, timeout: float | None) -> bytes:
        self._status.settimeout(timeout)
        try:
            told = self._status.recv(100)
        except (TimeoutError, BlockingIOError):
            raise subprocess.TimeoutExpired("holdfast", timeout or 0.0) from None
        if not told:
            raise AssertionError("the process that starts commands has ended")
        return told


class _Template:
    """The process that is forked for every command. It ends with this one."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=_ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._asking = ours
        atexit.register(self._end)

    def start(self, asked: bytes, files: tuple[int, ...]) -> None:
        assert len(asked) < _MAX_BYTES
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))
        self._asking.sendmsg([asked], [rights])

    def _end(self) -> None:
        self._asking.close()
        self._process.wait()


@cache
def _template() -> _Template:
    return _Template()


def _serve_forks(asking: socket.socket) -> list[str] | None:
    """Fork for every request. Returns the arguments of a command in the process that is to run it,
    and None in this one when nobody can ask any more."""
    before = set(os.environ)
    for module in _PRELOADED:
        importlib.import_module(module)
    added = {name: value for name, value in os.environ.items() if name not in before}
    running: dict[int, socket.socket] = {}
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, _wake)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    selector = selectors.DefaultSelector()
    selector.register(asking, selectors.EVENT_READ)
    selector.register(woken, selectors.EVENT_READ)
    while True:
        ready = [key.fileobj for key, _ in selector.select()]
        if woken in ready:
            woken.recv(1000)
            _report_ended(running)
        if asking not in ready:
            continue
        told, files, _, _ = socket.recv_fds(asking, _MAX_BYTES, 3)
        if not told:
            return None
        pid = os.fork()
        if not pid:
            for one in (asking, woken, waking, selector, *running.values()):
                one.close()
            return _become(_Asked(*json.loads(told)), files, added)
        status = socket.socket(fileno=files[2])
        running[pid] = status
        os.close(files[0])
        os.close(files[1])
        status.send(str(pid).encode())


def _wake(number: int, frame: FrameType | None) -> None:
    """Nothing: that there is a handler lets the signal be written to the file that wakes."""


def _report_ended(running: dict[int, socket.socket]) -> None:
    """Tell those who wait for processes that have ended with which status."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with running.pop(pid) as waiting:
            try:
                waiting.send(str(os.waitstatus_to_exitcode(status)).encode())
            except BrokenPipeError:
                continue  # nobody waits for it


def _become(asked: _Asked, files: list[int], added: Mapping[str, str]) -> list[str]:
    """Take on the environment, folder and output of a command; return its arguments."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(files[0], 1)
    os.dup2(files[1], 2)
    for file in files:
        os.close(file)
    os.environ.clear()
    os.environ.update({**added, **asked.env})
    os.chdir(asked.cwd)
    return asked.arguments


if __name__ == "__main__":
    found = _serve_forks(socket.socket(fileno=int(sys.argv[1])))
    if found is not None:
        sys.argv = ["holdfast", *found]
        sys.exit(importlib.import_module("holdfast.interfaces.cli.main").main())
