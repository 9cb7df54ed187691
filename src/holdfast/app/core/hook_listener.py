"""The socket on which hooks ask a process of ours, before anything else of it is loaded.

`hook_socket` answers on it in a thread; the MCP server listens here from its first moment, when it
has imported next to nothing (`interfaces/mcp/standby`). Every module that this one imports delays
the start of a session, so it uses `_socket`, the part of `socket` that has no classes for types.
"""

from __future__ import annotations

import _socket
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as RawSocket

# A request holds one prompt. A larger one is refused, so that no client can fill the memory.
MAX_REQUEST_BYTES = 200_000
# How long a client may take to send its line; until then no other client is answered.
READ_TIMEOUT_S = 0.5
# How long a probe waits for a listener.
_PROBE_TIMEOUT_S = 0.5
# Connections that may wait while one request is answered.
_BACKLOG = 16
# A task of this many words is worth loading the model for, also where a script waits.
_MIN_TASK_WORDS = 12


def listen(path: str) -> RawSocket | None:
    """A listening socket at this path, for its owner only; None if another process listens there,
    the folder is not private, or the system has no such sockets."""
    if not hasattr(_socket, "AF_UNIX"):
        return None
    try:
        found = os.lstat(os.path.dirname(path))
        private = found.st_uid == os.geteuid() and not found.st_mode & 0o077
        if not stat.S_ISDIR(found.st_mode) or not private or _is_served(path):
            return None
        listening = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        folder, name = os.path.split(path)
        beside = os.path.join(folder, f".{name}.{os.getpid()}")
        if os.path.lexists(beside):
            os.unlink(beside)
        listening.bind(beside)
        os.chmod(beside, 0o600)
        listening.listen(_BACKLOG)
        # Replaces an abandoned socket in one step, so that the path always leads to one.
        os.replace(beside, path)
    except OSError:
        return None
    return listening


def _is_served(path: str) -> bool:
    """Whether a process listens at this path."""
    probe = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        probe.settimeout(_PROBE_TIMEOUT_S)
        probe.connect(path)
    except OSError as error:
        return isinstance(error, TimeoutError)  # it listens, and is busy
    finally:
        probe.close()
    return True


def read_line(connection: RawSocket, timeout_s: float = READ_TIMEOUT_S) -> bytes:
    """The line that the other side sent; b"" if it was too slow or sent too much."""
    connection.settimeout(timeout_s)
    data = b""
    try:
        while not data.endswith(b"\n"):
            part = connection.recv(65_536)
            data += part
            if not part or len(data) > MAX_REQUEST_BYTES:
                return b""
    except OSError:
        return b""
    return data


def is_worth_loading(request: dict[str, object]) -> bool:
    """Whether the model should be loaded for this request: a person waits for the first words of
    an answer anyway, a script with a short prompt does not."""
    words = str(request.get("prompt", "")).split()
    return bool(request.get("interactive")) or len(words) >= _MIN_TASK_WORDS
