"""Who may come in: whoever shows the token of the file, or came by a link that works once.

A link gives the browser a cookie of its own; the token itself is in no address and no page. What
a form must bring along (`form_key`) follows from the cookie, so that another site cannot know it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from holdfast.interfaces.http.core.request_principal import owner
from holdfast.principal import Principal

COOKIE = "holdfast"
LINK_S = 120.0
_MOST_VISITORS = 50


class Cookies:
    """What forms of visitors must bring along."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def form_key(self, cookie: str) -> str:
        """What a form of this visitor must bring along."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()

    def knows_form(self, cookie: str, shown: str) -> bool:
        """Whether a form is one of ours."""
        return hmac.compare_digest(self.form_key(cookie).encode(), shown.encode("utf-8", "replace"))


class Keys(Cookies):
    """The keys of one run of a server for its owner alone."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self._owner = owner()
        self._links: dict[str, float] = {}
        self._visitors: dict[str, None] = {}

    async def refresh(self, shown: str) -> bool:
        """Nothing changes while it runs."""
        return True

    def make_link_key(self) -> str:
        """A key that lets one browser in, once, within two minutes."""
        key = secrets.token_urlsafe(24)
        self._links[key] = time.monotonic() + LINK_S
        return key

    def enter(self, key: str) -> str | None:
        """The cookie for whoever brings a link's key; None if it does not hold."""
        until = self._links.pop(key, 0.0)
        if time.monotonic() > until:
            return None
        cookie = secrets.token_urlsafe(32)
        while len(self._visitors) >= _MOST_VISITORS:
            del self._visitors[next(iter(self._visitors))]
        self._visitors[cookie] = None
        return cookie

    async def admits(self, who: Principal) -> bool:
        """Whether somebody who came in may still be here: they may."""
        return who == self._owner

    def by_token(self, shown: str) -> Principal | None:
        """Who shows a token; None where it is not ours."""
        same = hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())
        return self._owner if same else None

    def by_cookie(self, shown: str) -> Principal | None:
        """Whose cookie it is; None where it is nobody's."""
        return self._owner if shown in self._visitors else None
