"""The socket that hooks ask: a thread that any long-lived process of ours can host.

One JSON line in, one out. It is for its owner only, answers one question at a time, reads no more
than a prompt may hold, waits for nobody long, and never keeps a process alive. Where another one
listens already, this one steps back; a socket that nobody listens on any more is taken over.
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

_MAX_REQUEST_BYTES = 200_000
_READ_TIMEOUT_S = 0.5
_POLL_S = 0.5
_BACKLOG = 16
_FAILED: dict[str, Any] = {"v": EVENT_VERSION, "error": "failed"}


class HookAnswerer(Protocol):
    """What answers. All of it is called from one thread."""

    def prepare(self) -> None:
        """Get ready before the first question."""
        ...

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question."""
        ...

    def close(self) -> None:
        """There will be no more."""
        ...


class HookSocket:
    """Listens until it is closed."""

    def __init__(self, path: Path, answering: HookAnswerer) -> None:
        self._path = path
        self._answering = answering
        self._listening: socket.socket | None = None
        self._mine: tuple[int, int] | None = None

    def start(self) -> bool:
        """Listen in the background; False where another listens, or nobody may."""
        listening = _bind(self._path)
        if listening is None:
            return False
        self._listening = listening
        self._mine = file_identity(self._path)
        threading.Thread(target=self._listen, args=(listening,), daemon=True).start()
        return True

    def close(self) -> None:
        """Stop listening; the socket goes, unless it is another's by now."""
        listening, self._listening = self._listening, None
        if listening is None:
            return
        with suppress(OSError):
            if file_identity(self._path) == self._mine:
                self._path.unlink()
        listening.close()

    def _listen(self, listening: socket.socket) -> None:
        # Whatever goes wrong: with this thread gone every hook would wait for nothing.
        with suppress(Exception):
            self._answering.prepare()
        while self._listening is listening:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            except OSError:
                break
            asked = _read(connection)
            _reply(connection, self._answer(asked) if asked is not None else _FAILED)
        self._answering.close()

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        if asked.get("v") != EVENT_VERSION:
            return _FAILED
        answer = _FAILED
        with suppress(Exception):
            answer = self._answering.answer(asked)
        return answer


def file_identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from the next one of its name; None where there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _bind(path: Path) -> socket.socket | None:
    """A socket at a path, for its owner only; None where another one answers there."""
    try:
        found = path.parent.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if not ours or found.st_mode & 0o077 or _is_served(path):
            return None
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(FileNotFoundError):
            beside.unlink()
        listening.bind(str(beside))
        beside.chmod(0o600)
        listening.listen(_BACKLOG)
        listening.settimeout(_POLL_S)
        # Renamed over a dead one, so that there is never a moment without.
        beside.replace(path)
    except OSError:
        return None
    return listening


def _is_served(path: Path) -> bool:
    """Whether somebody listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_POLL_S)
        try:
            probe.connect(str(path))
        except TimeoutError:
            return True
        except OSError:
            return False
        return True


def _read(connection: socket.socket) -> dict[str, Any] | None:
    """The one line of a connection; None for anything that is none."""
    connection.settimeout(_READ_TIMEOUT_S)
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
