"""The program of a process that recalls for a server; `search_process` starts it.

It answers the calls that come over a socket, one after the other, and ends when that is closed.
"""

from __future__ import annotations

import signal
import sys
import traceback
from multiprocessing.connection import Connection

from holdfast.app.core.backends import database_identity
from holdfast.app.memory import Holdfast
from holdfast.app.server.search_process import CosinesCall, RecallCall, RecallFailure
from holdfast.errors import HoldfastError, InputError
from holdfast.model.query import RecallResult
from holdfast.settings import Settings

# Frames of the code in the place of a failure, from the innermost.
_MAX_FRAMES = 4


class _Searcher:
    """Recalls, in the process; opens the memory anew where its file was replaced."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: tuple[object, Holdfast] | None = None

    def answer(self, call: RecallCall | CosinesCall) -> RecallResult | list[float] | RecallFailure:
        """What is found, or why nothing can be."""
        try:
            if isinstance(call, CosinesCall):
                return self._memory().search.cosines(call.query, call.texts)
            return self._recall(self._memory(), call)
        except UnicodeEncodeError:
            half = InputError("The text is not valid Unicode.", "Send whole characters.")
            return RecallFailure(type(half).__name__, half.message, half.remedy)
        except HoldfastError as error:
            return RecallFailure(type(error).__name__, error.message, error.remedy)

    def close(self) -> None:
        """Close the memory."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def _recall(self, memory: Holdfast, call: RecallCall) -> RecallResult:
        if call.principal is None:
            return memory.search.recall_in_bank(call.bank, call.query, call.plan)
        with memory.scoped_to(call.principal):
            return memory.search.recall_in_bank(call.bank, call.query, call.plan)

    def _memory(self) -> Holdfast:
        seen = database_identity(self._settings.database)
        if self._open is None or self._open[0] != seen:
            self.close()
            self._open = (seen, Holdfast(self._settings, create=False))
        return self._open[1]


def serve_calls(connection: Connection) -> None:
    """Answer calls until the other end is closed. The first message has the settings."""
    try:
        searcher = _Searcher(connection.recv())
    except (EOFError, OSError):
        return
    try:
        while True:
            connection.send(searcher.answer(connection.recv()))
    except (EOFError, OSError):
        pass  # the server has ended
    finally:
        searcher.close()


def _print_place(kind: type[BaseException], error: BaseException, _: object) -> None:
    """Print a fault of ours into the log of the server, without the texts that it may quote."""
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in reversed(frames))
    sys.stderr.write(f"searcher failed: {kind.__name__} at {places}\n")


def main() -> None:
    """Run as `python -m holdfast.app.server.searcher DESCRIPTOR`, with the socket to answer on."""
    # A signal to the whole group (Ctrl-C, a stop by systemd) is the server's to handle: it lets
    # running requests finish, and then ends this process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.excepthook = _print_place
    serve_calls(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
