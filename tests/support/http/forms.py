"""Requests to the pages and their forms without a browser."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode

from holdfast.app.memory import Holdfast, open_memory
from holdfast.settings import load_settings
from tests.support.http.server import HttpResponse, Server

_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')


class PageClient:
    """A client of the pages, signed in by the token or by the cookie of a browser."""

    def __init__(self, server: Server, cookie: str = "") -> None:
        self.server = server
        self._headers = {"Accept": "text/html"}
        if cookie:
            self._headers |= {**server.as_browser, "Cookie": cookie, "Origin": server.site}
        else:
            self._headers |= {"Authorization": f"Bearer {server.token}", "Origin": server.url}

    def get(self, path: str) -> HttpResponse:
        """Return a page."""
        return self.server.ask(path, self._headers)

    def key(self, path: str = "/memory?tab=memories") -> str:
        """Return the form key of this client."""
        found = _KEY.search(self.get(path).text)
        assert found is not None, f"no form on {path}"
        return found.group(1)

    def post(self, path: str, form: Mapping[str, str], key: str | None = None) -> HttpResponse:
        """Submit a form, with the key of this client unless another is given."""
        told = {"form_key": self.key() if key is None else key, **form}
        body = urlencode({name: value for name, value in told.items() if value})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.server.ask(path, {**self._headers, **kind}, body.encode(), "POST")


@contextmanager
def open_server_memory(server: Server) -> Generator[Holdfast]:
    """Open the memory of the server."""
    with open_memory(load_settings(dict(server.env)), create=False) as memory:
        yield memory
