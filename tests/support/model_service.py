"""A model service on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from holdfast.inference.http_chat import CompletionsChat, MessagesChat

Json = dict[str, Any]
Answered = tuple[int, Mapping[str, str], Any]


class Service:
    """Answers by a function, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, str], Json]] = []
        self.answer: Callable[[Json], Answered] = lambda body: (500, {}, {})
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                service.asked.append((self.path, headers, body))
                status, more, answer = service.answer(body)
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                with suppress(OSError):  # whoever asked has given up
                    self.send_response(status)
                    for name, value in {**more, "Content-Length": str(len(content))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def completions(self) -> CompletionsChat:
        return CompletionsChat("small", "k-1", f"{self.url}/v1", timeout_s=60)

    def messages(self) -> MessagesChat:
        return MessagesChat("claude-haiku-5-5", "k-2", self.url, timeout_s=60)


@contextmanager
def running() -> Generator[Service]:
    made = Service()
    with serve_in_thread(made.server):
        yield made


@contextmanager
def serve_in_thread(server: ThreadingHTTPServer) -> Generator[None]:
    """A server answers within this."""
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
