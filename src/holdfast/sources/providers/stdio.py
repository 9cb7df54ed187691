"""The transport to a plugin's MCP server that is a program: standard input and output.

The program runs under `process_guard`, which ends it when this process ends, however that happens.
Its standard error is discarded, and it gets only the environment variables it is given.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which
from threading import Thread

from holdfast.errors import ProviderError
from holdfast.sources.providers import process_guard
from holdfast.sources.providers.rpc import (
    ByteCounter,
    Deadline,
    Object,
    encode_message,
    is_answer_to,
    parse_messages,
    reply_to,
)

_CHUNK_BYTES = 65_536
# How long the program may take to end by itself, and how long we watch the guard end it.
_EXIT_TIMEOUT_S = 0.2
_GUARD_TIMEOUT_S = 3.0


class StdioTransport:
    """A running program that answers messages, one a line."""

    def __init__(
        self, command: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        found = which(command, path=environment.get("PATH"))
        if found is None:
            raise ProviderError("its program was not found")
        if not hasattr(os, "posix_spawnp"):
            raise ProviderError("plugins that are programs cannot be queried on this system")
        guard_end, self._lifeline = os.pipe()
        guard = [sys.executable, "-I", "-S", process_guard.__file__, str(guard_end)]
        try:
            self._process = subprocess.Popen(
                [*guard, found, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=dict(environment),
                pass_fds=(guard_end,),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            os.close(self._lifeline)
            raise ProviderError("its program cannot be started") from error
        finally:
            os.close(guard_end)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        self._counter = ByteCounter()
        self._pending = bytearray()

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request and wait for its answer; requests that come meanwhile are answered."""
        self.notify(message, deadline)
        while True:
            for received in self._receive(deadline):
                if is_answer_to(received, message):
                    return received
                reply = reply_to(received)
                if reply is not None:
                    self.notify(reply, deadline)

    def notify(self, message: Object, deadline: Deadline) -> None:
        left = memoryview(encode_message(message) + b"\n")
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            while left:
                if not ready.select(deadline.left_s()):
                    raise deadline.error()
                try:
                    left = left[os.write(self._in.fileno(), left) :]
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise self._ended() from error

    def _receive(self, deadline: Deadline) -> list[Object]:
        with selectors.DefaultSelector() as ready:
            ready.register(self._out, selectors.EVENT_READ)
            if not ready.select(deadline.left_s()):
                raise deadline.error()
        piece = os.read(self._out.fileno(), _CHUNK_BYTES)
        if not piece:
            raise self._ended()
        self._pending += piece
        *lines, rest = self._pending.split(b"\n")
        self._pending = rest
        self._counter.add(len(piece), max(len(rest), *map(len, lines)) if lines else len(rest))
        return [message for line in lines for message in parse_messages(bytes(line))]

    def _ended(self) -> ProviderError:
        with suppress(subprocess.TimeoutExpired):
            if self._process.wait(_EXIT_TIMEOUT_S) == process_guard.NOT_STARTED:
                return ProviderError("its program cannot be started")
        return ProviderError("its program ended without an answer")

    def close(self, kindly: bool = True) -> None:
        """End the program: with `kindly` it may end by itself first; then the guard ends it."""
        with suppress(OSError):
            self._in.close()
        if kindly:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_EXIT_TIMEOUT_S)
        os.close(self._lifeline)
        try:
            self._process.wait(_GUARD_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            # On a machine this slow the guard is still at it. To kill it would leave the program.
            Thread(target=self._process.wait, name="wait for a plugin's end", daemon=True).start()
        self._out.close()
