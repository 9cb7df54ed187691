"""A Unix socket that hooks and commands query: a thread that any long-lived process of ours can
host.

One JSON line in, one JSON line out, one request at a time. Only the owner can connect, requests are
limited in size and time, and the thread never keeps a process alive. If another process listens
already, this one does not; a socket that nobody listens on is replaced (`hook_listener`).
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from holdfast.app.core.hook_listener import listen, read_line
from holdfast.capture.home_paths import EVENT_VERSION
from holdfast.private_files import file_identity

# How often the thread looks whether it was closed.
_POLL_S = 0.5


class HookAnswerer(Protocol):
    """Answers the requests. All methods are called from one thread."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to one request."""
        ...

    def close(self) -> None:
        """Called after the last request."""
        ...


class TakenOver(NamedTuple):
    """A socket on which this process listens already, and what it has read there but not answered:
    a connection and its line."""

    listening: int
    connection: int | None = None
    line: bytes = b""


class HookSocket:
    """Listens until it is closed, on a socket that is `taken` over if there is one."""

    def __init__(self, path: Path, answerer: HookAnswerer, taken: TakenOver | None = None) -> None:
        self._path = path
        self._taken = taken
        self._answerer = answerer
        self._listening: socket.socket | None = None
        self._own_identity: tuple[int, int] | None = None

    def start(self) -> bool:
        """Listen in the background; False if another process does, or the folder is not private."""
        if self._taken is not None:
            number = self._taken.listening
        elif (raw := listen(str(self._path))) is not None:
            number = raw.detach()
        else:
            return False
        self._listening = listening = socket.socket(fileno=number)
        listening.settimeout(_POLL_S)
        self._own_identity = file_identity(self._path)
        threading.Thread(target=self._listen, args=(listening,), daemon=True).start()
        return True

    def close(self) -> None:
        """Stop listening, and remove the socket unless another process has replaced it."""
        listening, self._listening = self._listening, None
        if listening is None:
            return
        with suppress(OSError):
            if file_identity(self._path) == self._own_identity:
                self._path.unlink()
        listening.close()

    def _listen(self, listening: socket.socket) -> None:
        if self._taken is not None and self._taken.connection is not None:
            self._serve(socket.socket(fileno=self._taken.connection), self._taken.line)
        while self._listening is listening:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            except OSError:
                break
            self._serve(connection, read_line(connection))
        self._answerer.close()

    def _serve(self, connection: socket.socket, line: bytes) -> None:
        answer: dict[str, Any] = {"v": EVENT_VERSION, "error": "failed"}
        request = _parse(line)
        if request is not None and request.get("v") == EVENT_VERSION:
            # The thread must survive any error: without it every hook would wait until its timeout.
            with suppress(Exception):
                answer = self._answerer.answer(request)
        with suppress(OSError), connection:
            connection.sendall(json.dumps(answer).encode() + b"\n")


def ask_socket(path: Path, request: dict[str, Any], timeout_s: float) -> dict[str, Any] | None:
    """The reply of the process that listens at this path; None if none does, or not in time."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        try:
            connection.connect(str(path))
            connection.sendall(json.dumps({"v": EVENT_VERSION, **request}).encode() + b"\n")
        except OSError:
            return None
        reply = _parse(read_line(connection, timeout_s))
    return reply if reply is not None and "error" not in reply else None


def _parse(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line; None if it is anything else."""
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None
