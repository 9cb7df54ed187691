"""Agents that are connected by MCP. A session belongs to the key that began it: to any other key
there is none of that name."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager

from holdfast.errors import BusyError, InputError, NotFoundError
from holdfast.interfaces.mcp.server_spec import CallContext

MOST = 1_000
MOST_EACH = 64
MOST_CALLS = 100
_LONGEST_NAME = 60

Id = str | int
_Known = tuple[str, Id]


class McpSession:
    """One client. Its ids are its own."""

    def __init__(self, owner: str, client: str) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.client = client[:_LONGEST_NAME]
        self._asks: dict[_Known, CallContext] = {}

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for anything."""
        return not self._asks

    @contextmanager
    def under_way(self, id: Id, ask: CallContext) -> Generator[None]:
        """A call, which can be taken back by its id while it lasts."""
        known = _known(id)
        if known in self._asks:
            raise InputError("This id is in use.")
        if len(self._asks) >= MOST_CALLS:
            raise BusyError(f"{MOST_CALLS} calls are under way already.", "Try again later.")
        self._asks[known] = ask
        try:
            yield
        finally:
            del self._asks[known]

    def take_back(self, id: Id) -> None:
        """Nobody waits for a call any more."""
        ask = self._asks.get(_known(id))
        if ask is not None:
            ask.cancel()


class SessionTable:
    """Those that are known. Of a key that has many, the one that was silent longest makes room;
    it hears that its session is gone, and begins another."""

    def __init__(self, most: int = MOST, most_each: int = MOST_EACH) -> None:
        self._most = most
        self._most_each = most_each
        self._known: dict[str, McpSession] = {}

    def begin(self, owner: str, client: str) -> McpSession:
        """A new client."""
        own = [one for one in self._known.values() if one.owner == owner]
        if len(own) >= self._most_each:
            self._make_room(own)
        elif len(self._known) >= self._most:
            self._make_room(list(self._known.values()))
        made = McpSession(owner, client)
        self._known[made.id] = made
        return made

    def find(self, id: str, owner: str) -> McpSession:
        """A client that came before."""
        found = self._known.get(id)
        if found is None or found.owner != owner:
            raise NotFoundError("There is no such session.", "Initialize again.")
        self._known[id] = self._known.pop(id)  # now the latest
        return found

    def end(self, id: str, owner: str) -> None:
        """A client that leaves."""
        del self._known[self.find(id, owner).id]

    def _make_room(self, among: list[McpSession]) -> None:
        idle = next((one for one in among if one.is_idle), None)
        if idle is None:
            raise BusyError("Too many sessions.", "End one, or try again later.")
        del self._known[idle.id]


def _known(id: Id) -> _Known:
    return type(id).__name__, id
