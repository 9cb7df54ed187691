"""Who may come in to a server that several people share: whoever shows a key that the store knows.

All keys are held in memory and looked at anew about once a second, so that asking costs nothing
more, and one that was revoked soon opens nothing; sooner when one is shown that is not known, which
may just have been made. When each was last used is written down now and
then, not with every request. A browser shows its key once, and a cookie of its own from then on,
which is worth as much as the key is at that moment.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict

from holdfast.app.memory import Holdfast
from holdfast.app.search.old_recall import utc_now
from holdfast.app.server.keys import is_of, read_key
from holdfast.errors import HoldfastError
from holdfast.interfaces.http.auth.browser_token import Cookies
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.model.keys import Key
from holdfast.principal import Principal

FRESH_S = 1.0
_FRESH_TO_STRANGERS_S = 0.05
NOTED_S = 30.0
_MOST_VISITORS = 10_000
_VISIT_S = 12 * 3600.0


class TeamKeys(Cookies):
    """The keys of a store."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._keys: dict[str, Key] = {}
        # When it was last begun to look which keys there are; and when so that it was also done.
        self._seen = self._looked = -FRESH_S
        self._away = False
        self._noted = time.monotonic()
        self._looking = asyncio.Lock()
        # Ids of keys whose secret was shown and held, so that it is hashed once.
        self._shown: OrderedDict[str, str] = OrderedDict()
        self._visitors: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._used: dict[str, str] = {}

    async def refresh(self, shown: str = "") -> bool:
        """See which keys there are, unless that was just done; whether it is known then if this is
        one. While the store cannot be asked, those that were known hold: whatever they ask for has
        to ask it as well. Who shows one that is not known waits until that was looked up."""
        came = time.monotonic()
        id, _ = read_key(shown)
        if not self._is_fresh(id, came):
            async with self._looking:
                if not self._is_fresh(id, came):
                    await self._look()
        return not (self._away and id and id not in self._keys)

    def _is_fresh(self, id: str, came: float) -> bool:
        """Whether what is known of keys is new enough for somebody who came then."""
        if id and id not in self._keys:
            return self._looked > came - _FRESH_TO_STRANGERS_S
        return self._seen > came - FRESH_S

    async def _look(self) -> None:
        self._seen = begun = time.monotonic()
        try:
            await self.load()
            self._away = False
        except HoldfastError:
            self._away = True
        self._seen = self._looked = begun
        if not self._away and self._used and begun - self._noted > NOTED_S:
            await self.note()

    async def load(self) -> None:
        """See which keys there are."""
        found = await self._desk.as_owner(lambda memory: memory.store.api_keys())
        self._keys = {key.id: key for key in found}
        self._seen = time.monotonic()

    async def note(self) -> None:
        """Write down when keys were last used."""
        used, self._used, self._noted = self._used, {}, time.monotonic()

        def written(memory: Holdfast) -> None:
            with memory.store.transaction():
                memory.store.note_uses(used)

        if used:
            try:
                await self._desk.as_owner(written)
            except HoldfastError:
                self._used = {**used, **self._used}

    @property
    def any(self) -> bool:
        """Whether there is a key that holds."""
        now = utc_now()
        return any(key.holds(now) for key in self._keys.values())

    def by_token(self, shown: str) -> Principal | None:
        """Who shows a key that holds."""
        id, secret = read_key(shown)
        key = self._keys.get(id)
        if key is None:
            return None
        if self._shown.get(shown) != key.hash:
            if not is_of(key, secret):
                return None
            self._shown[shown] = key.hash
            if len(self._shown) > _MOST_VISITORS:
                self._shown.popitem(last=False)
        return self._admitted(key)

    def by_cookie(self, shown: str) -> Principal | None:
        """Whose cookie it is, if their key still holds."""
        id, until = self._visitors.get(shown, ("", 0.0))
        key = self._keys.get(id)
        return self._admitted(key) if key and time.monotonic() < until else None

    async def admits(self, who: Principal) -> bool:
        """Whether the key of somebody who came in still holds."""
        await self.refresh()
        key = self._keys.get(who.key)
        return key is not None and key.holds(utc_now())

    def log_in(self, shown: str) -> str | None:
        """A cookie for whoever shows a key."""
        known = self.by_token(shown)
        if known is None:
            return None
        cookie = secrets.token_urlsafe(32)
        self._visitors[cookie] = (known.key, time.monotonic() + _VISIT_S)
        if len(self._visitors) > _MOST_VISITORS:
            self._visitors.popitem(last=False)
        return cookie

    def log_out(self, cookie: str) -> None:
        """Let a cookie open nothing any more."""
        self._visitors.pop(cookie, None)

    def _admitted(self, key: Key) -> Principal | None:
        now = utc_now()
        if not key.holds(now):
            return None
        self._used[key.id] = now
        return key.principal
