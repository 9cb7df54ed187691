"""Servers in processes of their own that need no time to start.

`python -m holdfast serve` computes for two seconds before it listens, nearly all of it imports.
These processes are forks of one that has made what all servers have in common.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, BinaryIO

from tests.support.warm_commands import WarmCommand, WarmInterpreter


class ServerProcess:
    """A server that was started, and what it prints. Its errors are printed with those of the
    tests, unless they are to be read from `stderr`."""

    def __init__(
        self, arguments: list[str], env: Mapping[str, str], cwd: Path, *, read_stderr: bool = False
    ) -> None:
        self.stdout, out = _pipe()
        self.stderr: BinaryIO | None = None
        error: IO[bytes] = os.fdopen(os.dup(2), "wb")
        if read_stderr:
            error.close()
            self.stderr, error = _pipe()
        with out, error:
            self.command: WarmCommand = _interpreter().start(arguments, env, cwd, (out, error))
        self.pid = self.command.pid
        self.send_signal = self.command.send_signal
        self.terminate = self.command.terminate
        self.kill = self.command.kill
        self.wait = self.command.wait
        self.poll = self.command.poll

    def finish(self) -> tuple[bytes, bytes]:
        """Read all that it still prints until it has ended; returns output and errors."""
        with ThreadPoolExecutor(1) as other:
            errors = other.submit(self.stderr.read) if self.stderr else None
            printed = self.stdout.read()
            return printed, errors.result() if errors else b""

    def close(self) -> None:
        """End it, wait until it has, and close what it wrote to."""
        self.terminate()
        if not self.stdout.closed and not (self.stderr and self.stderr.closed):
            self.finish()
        self.wait(60)
        self.stdout.close()
        if self.stderr:
            self.stderr.close()


@contextmanager
def running(
    arguments: list[str], env: Mapping[str, str], cwd: Path, *, read_stderr: bool = False
) -> Generator[ServerProcess]:
    """A server until it is not wanted any more."""
    process = ServerProcess(arguments, env, cwd, read_stderr=read_stderr)
    try:
        yield process
    finally:
        process.close()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), os.fdopen(writing, "wb")


@cache
def _interpreter() -> WarmInterpreter:
    """The one of this test run, which ends with it."""
    made = WarmInterpreter(sys.executable, modules=["tests.support.http.prepared_server"])
    atexit.register(made.close)
    return made
