"""The first moments of `holdfast mcp` in a session of Claude Code, before its server is loaded.

Claude Code starts the server with every session, waits for what it asks first (`initialize` and the
list of tools), and in most sessions calls no tool. These answers are in `first_answers/main.json`,
which `tools/write_first_answers.py` writes. So this module
imports neither `typing` nor `re`, `json` or `socket`: the process starts with half the CPU time.
It also answers hooks whose prompt is not worth loading the model for, by a search for words. What
that needs is imported once the session has its answers: the program goes on starting meanwhile, and
the hook of the first prompt waits only for the search.

At anything else it returns, and `commands/mcp` goes on with what was read and not answered.
"""

from __future__ import annotations

import _socket
import gc
import os
import select

from holdfast.app.core.hook_listener import is_worth_loading, listen, read_line
from holdfast.hosts.claude_code.scripts.answer import first_line, is_object, read_json, write_json
from holdfast.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal

# A longer message is left to the server, which limits what it keeps.
_MAX_PENDING_BYTES = 1_000_000
# This needs the memory.
_FOR_SERVER = "tools/call"
_METHOD_NOT_FOUND = -32601
# Other clients may have no hooks, and then their server starts the worker.
_CLIENT = "claude"
# The last of the first requests for which the program waits. When nothing more came for this long
# after it, there is time to import; the program sends the next one within 5 ms.
_LAST_OF_FIRST = "tools/list"
_QUIET_MS = 20
# A hook that reads this searches by itself.
_NOT_LOADED = '{"v": 1, "error": "not loaded"}'


class Pending:
    """What the server goes on with: bytes of the input that were not answered, what the client said
    of itself, and the socket of hooks, perhaps with a request that waits."""

    def __init__(self, data: bytes = b"", hello: dict[str, Any] | None = None) -> None:
        self.data = data
        self.hello = hello or {}
        self.listening: _socket.socket | None = None
        self.connection: _socket.socket | None = None
        self.line = b""


def stand_by() -> Pending | None:
    """Answer what needs no server. Returns what is left for the server when it is needed, None when
    the input has ended."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    standby = _Standby()
    try:
        return standby.run()
    except (KeyboardInterrupt, BrokenPipeError):
        return None
    finally:
        standby.close()


def _stop(number: int, frame: object) -> None:
    raise KeyboardInterrupt


class _Standby:
    def __init__(self) -> None:
        folder = os.path.dirname(__file__)
        with open(os.path.join(folder, "first_answers", "main.json"), "rb") as file:
            answers = read_json(file.read())
        self._versions: list[str] = answers["protocol_versions"]
        self._answers: dict[str, Any] = answers["results"]
        self._hello: dict[str, Any] = {}
        self._data = b""
        self._home = os.path.expanduser(os.environ.get("HOLDFAST_HOME") or "~/.holdfast")
        self._socket_path = _socket_path(self._home)
        self._listening = listen(self._socket_path) if self._socket_path else None
        self._identity = _identity(self._socket_path) if self._listening else ()
        self._is_handed_over = False
        self._is_greeted = False
        self._search: Any = None
        self._was_search_loaded = False

    def run(self) -> Pending | None:
        poll = select.poll()
        poll.register(0, select.POLLIN)
        if self._listening is not None:
            poll.register(self._listening, select.POLLIN)
        while True:
            ready = [file for file, _ in poll.poll(self._patience_ms())]
            if not ready:
                self._load_search()
            elif 0 not in ready:
                pending = self._answer_hook()
                if pending is not None:
                    return self._hand_over(*pending)
            else:
                part = os.read(0, 65_536)
                if not part:
                    return self._hand_over() if self._data else None
                self._data += part
                if not self._answer_lines() or len(self._data) > _MAX_PENDING_BYTES:
                    return self._hand_over()

    def _answer_lines(self) -> bool:
        """Answer the whole lines that were read; False if the server must go on with the rest."""
        while b"\n" in self._data:
            line, _, rest = self._data.partition(b"\n")
            answer = self._answer(line) if line.strip() else ""
            if answer is None:
                return False
            _write(answer)
            self._data = rest
        return True

    def _patience_ms(self) -> int | None:
        """How long to wait before the search is loaded; None where that is done, or not due."""
        is_due = self._is_greeted and self._listening is not None and not self._was_search_loaded
        return _QUIET_MS if is_due else None

    def _load_search(self) -> Any:
        """What finds a brief by words; None if it cannot be imported, which is tried once."""
        if not self._was_search_loaded:
            self._was_search_loaded = True
            from contextlib import suppress  # the search imports it, too

            gc.disable()  # nothing of what is imported is garbage
            # The server must survive any error; the hooks then search by themselves.
            with suppress(Exception):
                from holdfast.app.briefs import hook_briefs

                self._search = hook_briefs
            gc.freeze()
            gc.enable()
        return self._search

    def close(self) -> None:
        """Remove the socket, unless the server goes on with it or another process replaced it."""
        if self._listening is not None and not self._is_handed_over:
            self._listening.close()
            if _identity(self._socket_path) == self._identity:
                os.unlink(self._socket_path)

    def _hand_over(self, connection: _socket.socket | None = None, line: bytes = b"") -> Pending:
        self._is_handed_over = True
        pending = Pending(self._data, self._hello)
        pending.listening, pending.connection, pending.line = self._listening, connection, line
        return pending

    def _answer(self, line: bytes) -> str | None:
        """The answer to a message; "" if none is owed, None if the server must answer."""
        try:
            message = read_json(line)
        except (ValueError, RecursionError):
            return None
        if not is_object(message) or not isinstance(message.get("method"), str):
            return None
        id, method, params = message.get("id"), message["method"], message.get("params", {})
        if not isinstance(id, str | int | None) or not is_object(params):
            return None
        if id is None:
            return ""
        if method == _FOR_SERVER:
            return None
        if method not in self._answers:
            error = {
                "code": _METHOD_NOT_FOUND,
                "message": f"There is no method {method[:100]!r}.",
            }
            return write_json({"jsonrpc": "2.0", "id": id, "error": error}) + "\n"
        result = self._answers[method]
        self._is_greeted = self._is_greeted or method == _LAST_OF_FIRST
        if method == "initialize":
            client = params.get("clientInfo")
            if not is_object(client) or _CLIENT not in str(client.get("name")).lower():
                return None
            self._hello = params
            result = self._initialize_result(result, params.get("protocolVersion"))
        return write_json({"jsonrpc": "2.0", "id": id, "result": result}) + "\n"

    def _initialize_result(self, result: dict[str, Any], requested: object) -> dict[str, Any]:
        version = requested if requested in self._versions else self._versions[0]
        server = {**result["serverInfo"], "version": __version__}
        return {**result, "protocolVersion": version, "serverInfo": server}

    def _answer_hook(self) -> tuple[_socket.socket, bytes] | None:
        """Answer a hook; returns its connection and its line if the server must do so."""
        listening: Any = self._listening  # the types of `_socket` do not have `_accept`
        try:
            number, _ = listening._accept()
        except OSError:
            return None
        connection = _socket.socket(fileno=number)
        line = read_line(connection)
        try:
            request = read_json(line)
        except ValueError:
            request = None
        if is_object(request) and is_worth_loading(request):
            return connection, line
        answer = self._brief_by_words(request) if is_object(request) else _NOT_LOADED
        try:
            connection.sendall(answer.encode() + b"\n")
        except OSError:
            pass
        connection.close()
        return None

    def _brief_by_words(self, request: dict[str, Any]) -> str:
        """The reply to a hook that asks for the brief of a prompt in a bank."""
        bank, prompt = request.get("bank"), request.get("prompt")
        if not isinstance(bank, str) or not bank or not isinstance(prompt, str):
            return _NOT_LOADED
        search = self._load_search()
        if search is None:
            return _NOT_LOADED
        from contextlib import suppress

        answer = _NOT_LOADED
        with suppress(Exception):  # as above
            answer = write_json(search.goal_brief_by_words(self._home, bank, prompt))
        return answer


def _socket_path(home: str) -> str:
    """Where hooks ask, as `HomePaths.socket` has it; "" if hooks were never installed."""
    try:
        inbox = first_line(os.path.join(home, "hooks", "inbox"))
    except (OSError, ValueError):
        return ""
    return os.path.join(inbox, "ask.sock") if inbox else ""


def _identity(path: str) -> tuple[int, ...]:
    """A value that differs between two files that had the same path; () if there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return found.st_dev, found.st_ino


def _write(answer: str) -> None:
    data = answer.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]
