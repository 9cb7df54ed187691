"""Somebody who fills in forms on the pages, with and without a browser."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode

from holdfast.app.memory import Holdfast, open_memory
from holdfast.settings import load_settings
from tests.support.http.server import Got, Server

_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')


class Visitor:
    """Somebody without scripts: by the token, or by the cookie that a browser was given."""

    def __init__(self, server: Server, cookie: str = "") -> None:
        self.server = server
        key = {"Cookie": cookie} if cookie else {"Authorization": f"Bearer {server.token}"}
        self._headers = {**key, "Origin": server.url, "Accept": "text/html"}

    def look(self, path: str) -> Got:
        """A page."""
        return self.server.ask(path, self._headers)

    def key(self, path: str = "/memory?tab=memories") -> str:
        """The key that a form of this visitor carries."""
        found = _KEY.search(self.look(path).text)
        assert found is not None, f"no form on {path}"
        return found.group(1)

    def post(self, path: str, form: Mapping[str, str], key: str | None = None) -> Got:
        """A form that was filled in; with the key of this visitor, unless another is given."""
        told = {"form_key": self.key() if key is None else key, **form}
        body = urlencode({name: value for name, value in told.items() if value})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.server.ask(path, {**self._headers, **kind}, body.encode(), "POST")


@contextmanager
def remembering(server: Server) -> Generator[Holdfast]:
    """The same memory that the server has."""
    with open_memory(load_settings(dict(server.env)), create=False) as memory:
        yield memory
