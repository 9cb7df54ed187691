"""API keys of a server."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.principal import Level, Principal


class ApiKey(NamedTuple):
    """One API key. Of the secret only a salted hash is kept. `banks` are ids, None for all; a time
    is "" where there is none. `used` may be a minute or so behind."""

    id: str
    name: str
    salt: str
    hash: str
    banks: tuple[str, ...] | None
    level: Level
    created: str
    expires: str = ""
    revoked: str = ""
    used: str = ""

    @property
    def principal(self) -> Principal:
        """The principal that requests with this key act for."""
        return Principal(self.name, self.banks, self.level, self.id)

    def is_valid(self, now: str) -> bool:
        """Whether it is neither revoked nor expired."""
        return not self.revoked and (not self.expires or now < self.expires)
