"""Commands in processes of their own that need no time to start.

A new Python imports for half a second before it does anything, which is most of what a test of a
command takes. These processes are forks of one that has imported everything; apart from that they
are like any other: they can be killed, have their own environment, and lower their own priority.
What `/proc` says of their environment is that of the first process.
"""

from __future__ import annotations

import array
import atexit
import hashlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from tests.support.run_folder import WORKER_VARIABLE, locked, run_folder

_ROOT = Path(__file__).parents[2]
_SOURCE = Path(__file__).with_name("warm_interpreter.py")
PATIENCE_S = 300.0


class WarmCommand:
    """A command that runs; it is used like a `subprocess.Popen`."""

    def __init__(self, report: int, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.returncode: int | None = None
        # The processor time of the process itself, when it has ended by itself.
        self.cpu_s = 0.0
        self._report = os.fdopen(report, "rb", buffering=0)
        self.pid = int(self._line())

    def _line(self) -> bytes:
        line = self._report.readline()
        assert line, "the warm interpreter has ended"
        return line

    def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        return self.returncode if self._wait(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns the exit status."""
        if not self._wait(timeout):
            raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def _wait(self, timeout: float | None) -> bool:
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                return False
            line = self._line()
            if line.startswith(b"cpu "):
                self.cpu_s = float(line.split()[1])
                line = self._line()
            self.returncode = int(line)
            self._report.close()
        return True

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            # It is gone a moment before its end is reported.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class WarmInterpreter:
    """A Python with everything imported, or some modules, from which commands are forked. The
    workers of a test run share it."""

    def __init__(self, python: str, *flags: str, modules: Sequence[str] = ()) -> None:
        key = json.dumps([python, flags, modules]).encode()
        self._name = f"warm-{hashlib.sha256(key).hexdigest()[:8]}"
        self._command = [python, *flags, "-c", _SOURCE.read_text("utf-8")]
        self._modules = modules
        self._started: list[subprocess.Popen[bytes]] = []
        # One that has just lost its last worker may end while it is connected to.
        requests = self._connected() or self._connected()
        assert requests is not None, "the warm interpreter could not start"
        self._requests = requests

    def _connected(self) -> socket.socket | None:
        """A connection to the process, which is started if there is none; None if it ended."""
        address = str(run_folder() / self._name)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with locked(self._name):
            try:
                connection.connect(address)
            except (FileNotFoundError, ConnectionRefusedError):
                self._start(address)
                connection.connect(address)
        try:
            if connection.recv(100):
                return connection
        except ConnectionResetError:
            pass
        connection.close()
        return None

    def _start(self, address: str) -> None:
        Path(address).unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address)
            listener.listen()
            self._started.append(
                subprocess.Popen(
                    [*self._command, str(listener.fileno()), *self._modules],
                    pass_fds=[listener.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    cwd=_ROOT,
                )
            )

    def close(self) -> None:
        """Disconnect. The process ends when the last worker of the run has disconnected; commands
        that still run are not ended."""
        self._requests.close()
        if WORKER_VARIABLE not in os.environ:
            for process in self._started:
                process.wait(PATIENCE_S)

    def start(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None = None,
        files: tuple[IO[Any], IO[Any]] | None = None,
        given: str = "",
        file_size: int | None = None,
        dies_after_s: float | None = None,
        code: str | None = None,
    ) -> WarmCommand:
        """Start a command, or `code` as `python -c` would. `files` take what it prints and its
        errors; `file_size` is the largest file that it may write. It is killed when it has used
        `dies_after_s` of processor time, which is the same place however busy the machine is."""
        request = {
            "arguments": list(arguments),
            "env": dict(env),
            "cwd": str(cwd or Path.cwd()),
            "file_size": file_size,
            "dies_after_s": dies_after_s,
            "code": code,
        }
        report, reporting = os.pipe()
        with tempfile.TemporaryFile() as words, Path(os.devnull).open("wb") as nowhere:
            words.write(given.encode())
            words.seek(0)
            out, err = files or (nowhere, nowhere)
            sent = array.array("i", [words.fileno(), out.fileno(), err.fileno(), reporting])
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)]
            self._requests.sendmsg([json.dumps(request).encode()], rights)
            os.close(reporting)
        return WarmCommand(report, arguments)

    def run(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None = None,
        given: str = "",
        file_size: int | None = None,
        code: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command, or code, to its end; returns what it printed and its exit status."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            command = self.start(arguments, env, cwd, (out, err), given, file_size, code=code)
            try:
                status = command.wait(PATIENCE_S)
            finally:
                command.kill()
            printed: list[str] = []
            for file in (out, err):
                file.seek(0)
                printed.append(file.read().decode())
        return subprocess.CompletedProcess(list(arguments), status, *printed)


@cache
def warm_interpreter(python: str = sys.executable, *flags: str) -> WarmInterpreter:
    """The one of this test run, which ends with it."""
    made = WarmInterpreter(python, *flags)
    atexit.register(made.close)
    return made
