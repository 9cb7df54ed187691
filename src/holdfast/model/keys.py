"""Keys that programs and people show to a server."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.principal import Level, Principal


class ApiKey(NamedTuple):
    """One key, without what makes it one: of that only a salted hash is kept. `banks` are ids,
    None for every one; times are "" where there is none. `used` lags behind by a minute or so."""

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
        """In whose name is done what it is shown for."""
        return Principal(self.name, self.banks, self.level, self.id)

    def holds(self, now: str) -> bool:
        """Whether it opens anything at this moment."""
        return not self.revoked and (not self.expires or now < self.expires)
