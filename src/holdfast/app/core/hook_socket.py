"""A Unix socket that hooks and commands query: a thread that any long-lived process of ours can
host.

One JSON line in, one JSON line out, one request at a time. Only the owner can connect, requests are
limited in size and time, and the thread never keeps a process alive. If another process listens
already, this one does not; a socket that nobody listens on is replaced.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, cast

from holdfast.capture.home_paths import EVENT_VERSION
from holdfast.operating_system import is_private
from holdfast.private_files import file_identity

# A request holds one prompt. A larger one is refused, so that no client can fill the memory.
_MAX_REQUEST_BYTES = 200_000
# How long a client may take to send its line; until then no other client is answered.
_READ_TIMEOUT_S = 0.5
# How often the thread looks whether it was closed, and how long a probe waits for a listener.
_POLL_S = 0.5
# Connections that may wait while one request is answered.
_BACKLOG = 16
_FAILED: dict[str, Any] = {"v": EVENT_VERSION, "error": "failed"}


class HookAnswerer(Protocol):
    """Answers the requests. All methods are called from one thread."""

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to one request."""
        ...

    def close(self) -> None:
        """Called after the last request."""
        ...


class HookSocket:
    """Listens until it is closed."""

    def __init__(self, path: Path, answerer: HookAnswerer) -> None:
        self._path = path
        self._answerer = answerer
        self._listening: socket.socket | None = None
        self._own_identity: tuple[int, int] | None = None

    def start(self) -> bool:
        """Listen in the background; False if another process does, or the folder is not private."""
        listening = _bind(self._path)
        if listening is None:
            return False
        self._listening = listening
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
        while self._listening is listening:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            except OSError:
                break
            request = _read(connection)
            _reply(connection, self._answer(request) if request is not None else _FAILED)
        self._answerer.close()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("v") != EVENT_VERSION:
            return _FAILED
        answer = _FAILED
        # The thread must survive any error: without it every hook would wait until its timeout.
        with suppress(Exception):
            answer = self._answerer.answer(request)
        return answer


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
        reply = _read(connection, timeout_s)
    return reply if reply is not None and "error" not in reply else None


def _bind(path: Path) -> socket.socket | None:
    """A listening socket at this path, for its owner only; None if another process listens there,
    the folder is not private, or the system has no such sockets."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    try:
        found = path.parent.lstat()
        ours = stat.S_ISDIR(found.st_mode) and is_private(found)
        if not ours or _is_served(path):
            return None
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(FileNotFoundError):
            beside.unlink()
        listening.bind(str(beside))
        beside.chmod(0o600)
        listening.listen(_BACKLOG)
        listening.settimeout(_POLL_S)
        # Replaces an abandoned socket in one step, so that the path always leads to one.
        beside.replace(path)
    except OSError:
        return None
    return listening


def _is_served(path: Path) -> bool:
    """Whether a process listens at this path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_POLL_S)
        try:
            probe.connect(str(path))
        except OSError as error:
            return isinstance(error, TimeoutError)  # it listens, and is busy
        return True


def _read(connection: socket.socket, timeout_s: float = _READ_TIMEOUT_S) -> dict[str, Any] | None:
    """The JSON object that the other side sent; None if it sent anything else or was too slow."""
    connection.settimeout(timeout_s)
    data = b""
    try:
        while not data.endswith(b"\n"):
            part = connection.recv(65_536)
            data += part
            if not part or len(data) > _MAX_REQUEST_BYTES:
                return None
        value: object = json.loads(data)
    except (OSError, ValueError):
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _reply(connection: socket.socket, answer: dict[str, Any]) -> None:
    with suppress(OSError), connection:
        connection.sendall(json.dumps(answer).encode() + b"\n")
