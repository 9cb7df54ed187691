"""Which connection has to go when a server has no room for a new one.

The oldest that has shown no key is closed for the new one: whoever has a key shows it at once, so a
connection that has waited longest belongs to nobody. Those without a key leave room for those with
one, and one address cannot hold all connections. How a connection is closed is up to the server.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Generic, NamedTuple, Protocol, TypeVar

# Why a connection is refused, as logs and metrics name it, with the status and words it is told.
OF_ADDRESS, WITHOUT_KEY, IN_ALL = "of_address", "without_key", "in_all"
STATUS = {OF_ADDRESS: 429, WITHOUT_KEY: 503, IN_ALL: 503}
MESSAGES = {
    OF_ADDRESS: "Too many connections from this address.",
    WITHOUT_KEY: "Too many connections that have shown no key.",
    IN_ALL: "Too many connections.",
}
REMEDY = "Close some of them, or try again in a moment."
RETRY_AFTER_S = 2
# A client sends the head of a request at once; this leaves time for bad networks. The nginx
# configuration in the deployment guide uses the same number.
HEAD_TIMEOUT_S = 15.0
# On this machine, connections that have shown no key yet: a browser opens six at a time.
MAX_LOCAL_WITHOUT_KEY = 100


class Connection(Protocol):
    """A connection that a server holds."""

    @property
    def address(self) -> str:
        """The address of the client."""
        ...

    @property
    def opened_at(self) -> float:
        """When it was opened, by a clock that never goes back."""
        ...

    @property
    def is_trusted(self) -> bool:
        """Whether this is a proxy, which speaks for many clients and counts them itself."""
        ...

    @property
    def has_key(self) -> bool:
        """Whether it has shown a key."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        ...


C = TypeVar("C", bound=Connection)


class RoomLimits(NamedTuple):
    """How many connections there may be: of one address, without a key, and in all."""

    per_client: int
    without_key: int
    in_all: int


class Crowded(NamedTuple, Generic[C]):
    """Why a connection has to go, and which; None if none of the others can."""

    why: str
    oldest: C | None


def find_crowd(new: C, connections: Collection[C], limits: RoomLimits) -> Crowded[C] | None:
    """What has to go for a new connection, which is one of `connections`; None if there is room.
    Where none can go because all those without a key are being answered just now, there is room."""
    strangers = [one for one in connections if not one.is_trusted]
    own = [one for one in strangers if one.address == new.address]
    keyless = [one for one in strangers if not one.has_key]
    if not new.is_trusted and len(own) > limits.per_client:
        why, among = OF_ADDRESS, [one for one in own if not one.has_key]
    elif not new.is_trusted and len(keyless) > limits.without_key:
        why, among = WITHOUT_KEY, keyless
    elif len(connections) > limits.in_all:
        why, among = IN_ALL, keyless
    else:
        return None
    closable = [one for one in among if one is not new and not one.is_busy]
    oldest = min(closable, key=lambda one: one.opened_at, default=None)
    return None if oldest is None and why == WITHOUT_KEY else Crowded(why, oldest)
