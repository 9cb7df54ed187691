"""The principal of a request: name, visible banks, and access level.

The owner of a home has no principal and may do everything. On a server that several people share,
every request is carried out as the principal of its API key.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_named_tuple import NamedTuple


class Level(StrEnum):
    """What a principal may do: read; change records; change banks and erase records. Each level
    includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, other: Level) -> bool:
        """Whether this level is enough where `other` is required."""
        return _LEVEL_ORDER[self] >= _LEVEL_ORDER[other]


_LEVEL_ORDER = {level: rank for rank, level in enumerate(Level)}


_KEY_MARK = ", key "


def key_owner(label: str) -> str:
    """The name in a label of `Principal`, whatever follows it; "" if it is not of an API key."""
    name, mark, _ = label.rpartition(_KEY_MARK)
    return name if mark else ""


class Principal(NamedTuple):
    """For whom something is done. `banks` are ids, None for all; `key` is the id of the API key."""

    name: str
    banks: tuple[str, ...] | None = None
    level: Level = Level.ADMIN
    key: str = ""

    @property
    def is_unrestricted(self) -> bool:
        """Whether nothing is forbidden."""
        return self.banks is None and self.level is Level.ADMIN

    @property
    def label(self) -> str:
        """The name in logs; it tells two keys of the same name apart."""
        return f"{self.name}{_KEY_MARK}{self.key}" if self.key else self.name

    def sees(self, bank: str) -> bool:
        """Whether a bank, by its id, is visible to the principal."""
        return self.banks is None or bank in self.banks
