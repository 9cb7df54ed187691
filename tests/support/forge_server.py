"""What the servers that stand for forges share: a quiet handler, and a port of this machine."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """Logs nothing, and does not mind a connection that was dropped on purpose."""

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()


@contextmanager
def serving_on_loopback(handler: type[QuietHandler]) -> Generator[str]:
    """Serve on a free port; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
