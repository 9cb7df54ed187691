"""The keys of `holdfast serve`, which are stored in the memory.

All keys are cached and reloaded about once a second, so that a check costs no query and a revoked
key soon stops working. An unknown key may have been made just now and causes a reload at once. The
time of last use is written from time to time, not with every request. A browser sends its key once
and a cookie from then on, which is valid as long as the key is.
"""

from __future__ import annotations

import asyncio
import secrets
import time

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.server.keys import secret_matches, split_key
from holdfast.errors import HoldfastError
from holdfast.interfaces.http.auth.browser_token import FormKeys
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.model.keys import ApiKey
from holdfast.principal import Principal

# How long a revoked key still works; a reload is one query for all requests.
RELOAD_INTERVAL_S = 1.0
# The least time between two reloads: bounds the queries that guessing keys can cause.
_RELOAD_INTERVAL_UNKNOWN_S = 0.05
# How exact the time of last use is; each save is a write to the database.
SAVE_INTERVAL_S = 30.0
# Cookies that are kept in memory; the oldest make room.
_MAX_COOKIES = 10_000
# A working day: after it a browser must send its key again.
_COOKIE_LIFETIME_S = 12 * 3600.0


class TeamKeys(FormKeys):
    """The keys that a store holds, and the cookies of browsers that sent one."""

    def __init__(self, pool: MemoryPool) -> None:
        super().__init__()
        self._pool = pool
        self._keys: dict[str, ApiKey] = {}
        # When the latest reload began, and whether it failed.
        self._loaded = -RELOAD_INTERVAL_S
        self._store_failed = False
        self._loading = asyncio.Lock()
        self._cookies: dict[str, tuple[str, float]] = {}
        self._last_used: dict[str, str] = {}
        self._saved = time.monotonic()

    async def refresh(self, shown: str = "") -> bool:
        """Reload the keys unless that was just done; returns whether it is known if `shown` is one.

        While the store does not answer, the cached keys stay valid: their requests need the store
        anyway. A request with an unknown key waits for a reload that begins after it came."""
        now = time.monotonic()
        id, _ = split_key(shown)

        def is_fresh() -> bool:
            is_unknown = id and id not in self._keys
            return self._loaded >= (now if is_unknown else now - RELOAD_INTERVAL_S)

        if not is_fresh():
            async with self._loading:
                if not is_fresh():
                    earliest = self._loaded + _RELOAD_INTERVAL_UNKNOWN_S
                    await asyncio.sleep(max(0.0, earliest - time.monotonic()))
                    await self._reload()
        return not (self._store_failed and id and id not in self._keys)

    async def _reload(self) -> None:
        begun = time.monotonic()
        try:
            await self.load()
            self._store_failed = False
            if begun - self._saved > SAVE_INTERVAL_S:
                await self.save_last_used()
        except HoldfastError:
            self._store_failed = True
        self._loaded = begun

    async def load(self) -> None:
        """Read the keys from the store."""
        found = await self._pool.read_as_owner(lambda memory: memory.store.api_keys.all())
        self._keys = {key.id: key for key in found}

    async def save_last_used(self) -> None:
        """Write to the store when keys were last used."""
        used, self._last_used, self._saved = self._last_used, {}, time.monotonic()

        def save(memory: Holdfast) -> None:
            with memory.store.transaction():
                memory.store.api_keys.record_uses(used)

        if used:
            try:
                await self._pool.read_as_owner(save)
            except HoldfastError:
                self._last_used = used | self._last_used

    @property
    def has_valid_key(self) -> bool:
        """Whether any key is valid now."""
        now = utc_now()
        return any(key.is_valid(now) for key in self._keys.values())

    def by_token(self, shown: str) -> Principal | None:
        """The principal of a key; None if the key is not valid."""
        id, secret = split_key(shown)
        key = self._keys.get(id)
        return self._principal_of(key) if key and secret_matches(key, secret) else None

    def by_cookie(self, shown: str) -> Principal | None:
        """The principal of a cookie; None if it is unknown or its key is not valid any more."""
        id, until = self._cookies.get(shown, ("", 0.0))
        key = self._keys.get(id)
        return self._principal_of(key) if key and time.monotonic() < until else None

    async def is_still_valid(self, who: Principal) -> bool:
        """Whether the key of a principal that was admitted is still valid."""
        await self.refresh()
        key = self._keys.get(who.key)
        return key is not None and key.is_valid(utc_now())

    def log_in(self, shown: str) -> str | None:
        """A new cookie for a key; None if the key is not valid."""
        known = self.by_token(shown)
        if known is None:
            return None
        cookie = secrets.token_urlsafe(32)
        self._cookies[cookie] = (known.key, time.monotonic() + _COOKIE_LIFETIME_S)
        if len(self._cookies) > _MAX_COOKIES:
            del self._cookies[next(iter(self._cookies))]
        return cookie

    def log_out(self, cookie: str) -> None:
        """Forget a cookie."""
        self._cookies.pop(cookie, None)

    def _principal_of(self, key: ApiKey) -> Principal | None:
        now = utc_now()
        if not key.is_valid(now):
            return None
        self._last_used[key.id] = now
        return key.principal
