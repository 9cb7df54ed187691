"""Requests over one connection that stays open. These tests send thousands of them, and a client
that does more than they need takes longer than the server that answers."""

from __future__ import annotations

import http.client
import json
import select
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

_TIMEOUT_S = 60
_MAX_STREAM_CHARS = 4_000


class Answer(NamedTuple):
    """What a server answered."""

    status_code: int
    text: str
    headers: Mapping[str, str]

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    def json(self) -> Any:
        return json.loads(self.text)


class PlainClient:
    """Somebody who asks one server, from one address, with some headers in every request."""

    def __init__(self, url: str, headers: Mapping[str, str], address: str) -> None:
        self.url = url.rstrip("/")
        self._headers = {"Accept": "*/*", **headers}
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            place.hostname or "", place.port, _TIMEOUT_S, source_address=(address, 0)
        )

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def get(self, path: str) -> Answer:
        """Look at something."""
        return self.request("GET", path)

    def post(
        self,
        path: str,
        content: bytes | str = b"",
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Send something."""
        return self.request("POST", path, content, headers, params)

    def request(
        self,
        method: str,
        path: str,
        content: bytes | str = b"",
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Ask once. Of a stream of events only the start is listened to."""
        if params:
            path = f"{path}?{urlencode(_in_words(params), doseq=True)}"
        body = content.encode() if isinstance(content, str) else content
        self._end_what_the_server_ended()
        # A server that has heard enough answers and hangs up before it was told everything.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.request(
                method, path, body or None, {**self._headers, **(headers or {})}
            )
        response = self._connection.getresponse()
        told = {name.lower(): value for name, value in response.getheaders()}
        if "event-stream" in told.get("content-type", ""):
            text = _start(response)
            self._connection.close()
        else:
            text = response.read().decode()
        return Answer(response.status, text, told)

    def _end_what_the_server_ended(self) -> None:
        """Connect anew where the connection was closed meanwhile."""
        socket = self._connection.sock
        if socket is not None and select.select([socket], [], [], 0)[0]:
            self._connection.close()


def _in_words(params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in params.items()
    }


def _start(response: http.client.HTTPResponse) -> str:
    heard = b""
    while piece := response.read1():
        heard += piece
        if b"data:" in heard or len(heard) > _MAX_STREAM_CHARS:
            break
    return heard.decode(errors="replace")
