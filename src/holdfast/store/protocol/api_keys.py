"""The API keys of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from holdfast.model.keys import ApiKey


class ApiKeyStore(Protocol):
    """Keys belong to no bank: a principal that is restricted to some banks has no access to
    them."""

    def api_keys(self) -> list[ApiKey]:
        """Every key that was ever made, revoked ones included, the oldest first."""
        ...

    def add_key(self, key: ApiKey) -> None:
        """Store a new key."""
        ...

    def revoke_key(self, id: str, time: str) -> bool:
        """Revoke a key; False if there is none, or it was revoked before."""
        ...

    def record_key_uses(self, times: Mapping[str, str]) -> None:
        """Record when keys, by id, were last used; an earlier time than the known one changes
        nothing."""
        ...
