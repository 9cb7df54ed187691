"""What a store keeps of the keys of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from holdfast.model.keys import ApiKey


class ApiKeyStore(Protocol):
    """Keys are of no bank: whoever sees only some banks sees none of them."""

    def api_keys(self) -> list[ApiKey]:
        """Every key that was ever made, the oldest first."""
        ...

    def add_key(self, key: ApiKey) -> None:
        """Keep a new one."""
        ...

    def revoke_key(self, id: str, time: str) -> bool:
        """Let a key open nothing any more; False if there is none, or it was revoked before."""
        ...

    def record_key_uses(self, times: Mapping[str, str]) -> None:
        """When keys, by their ids, were last used; an earlier time than is known changes
        nothing."""
        ...
