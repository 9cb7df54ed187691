"""Between a store and its server: somebody who hangs up at a word, or tells another version."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

_NAME = ".s.PGSQL.5432"


class Proxy:
    """Passes everything on. Once told to, it hangs up at the next COMMIT: before the server hears
    of it, or after the server has done it and before anybody is told. With a `version`, the server
    announces that one, such as "15.4", when somebody connects."""

    def __init__(self, folder: Path, server: Path, version: str = "") -> None:
        self._version = version
        self._server = str(server / _NAME)
        self._hang_up = ""
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / _NAME))
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def hang_up(self, when: str) -> None:
        """`before` or `after` the next COMMIT."""
        self._hang_up = when

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                asking, _ = self._listening.accept()
                answering = socket.socket(socket.AF_UNIX)
                answering.connect(self._server)
                threading.Thread(
                    target=self._pass_on, args=(asking, answering), daemon=True
                ).start()
                threading.Thread(target=self._answer, args=(answering, asking), daemon=True).start()

    def _pass_on(self, asking: socket.socket, answering: socket.socket) -> None:
        with suppress(OSError):
            while data := asking.recv(65_536):
                when = self._hang_up if b"COMMIT" in data else ""
                if when:
                    self._hang_up = ""
                    asking.shutdown(socket.SHUT_WR)
                if when == "before":
                    break
                answering.sendall(data)
        with suppress(OSError):
            answering.shutdown(socket.SHUT_WR)
        asking.close()

    def _answer(self, answering: socket.socket, asking: socket.socket) -> None:
        with suppress(OSError):
            while data := answering.recv(65_536):
                asking.sendall(_announced(data, self._version))
        answering.close()
        with suppress(OSError):
            asking.shutdown(socket.SHUT_RDWR)


def _announced(data: bytes, version: str) -> bytes:
    """What the server says, with another version in its ParameterStatus; as long as before."""
    name = b"server_version\0"
    start = data.find(name)
    if not version or start < 0:
        return data
    start += len(name)
    stop = data.index(b"\0", start)
    return data[:start] + version.encode().ljust(stop - start, b" ") + data[stop:]
