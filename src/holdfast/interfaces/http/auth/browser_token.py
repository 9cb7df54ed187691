"""The keys of `holdfast browse`: the token in its file, and links that work once.

A link gives the browser a cookie; the token itself is in no address and no page. The key that every
form must send (`form_key`) is derived from the cookie, so that another site cannot know it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from holdfast.interfaces.http.core.request_principal import owner
from holdfast.principal import Principal

COOKIE = "holdfast"
# Long enough for a slow browser to start. A link is in the history of the terminal, so not longer.
LINK_LIFETIME_S = 120.0


class FormKeys:
    """The keys that forms must send, one for each cookie."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def form_key(self, cookie: str) -> str:
        """The key that the forms of a browser with this cookie must send."""
        return hmac.new(self._secret, cookie.encode(), hashlib.sha256).hexdigest()

    def is_valid_form_key(self, cookie: str, shown: str) -> bool:
        """Whether a form came from one of our pages."""
        return hmac.compare_digest(self.form_key(cookie).encode(), shown.encode("utf-8", "replace"))


def private_host_name(token: str) -> str:
    """The name under which a browser opens the pages: one of this machine that nobody else knows.

    A browser sends a cookie to every port of the host that set it, so a cookie of 127.0.0.1 goes to
    whatever else is opened there. Browsers take every name below `localhost` for this machine, and
    no other server is opened under this one. It stays the same for as long as the token does."""
    digest = hmac.new(token.encode(), b"host name of the pages", hashlib.sha256).hexdigest()
    return f"holdfast-{digest[:20]}.localhost"


class OwnerKeys(FormKeys):
    """The keys of one run of a server that only its owner uses, who alone can make links."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token
        self._owner = owner()
        self._link_expiry: dict[str, float] = {}
        self._cookies: set[str] = set()

    async def refresh(self, shown: str) -> bool:
        """Do nothing: the keys do not change while the server runs."""
        return True

    def make_link_key(self) -> str:
        """A key that gives one browser a cookie, once, within two minutes."""
        key = secrets.token_urlsafe(24)
        self._link_expiry[key] = time.monotonic() + LINK_LIFETIME_S
        return key

    def enter(self, key: str) -> str | None:
        """The cookie for the key of a link; None if the key is unknown, used or too old."""
        if time.monotonic() > self._link_expiry.pop(key, 0.0):
            return None
        cookie = secrets.token_urlsafe(32)
        self._cookies.add(cookie)
        return cookie

    async def is_still_valid(self, who: Principal) -> bool:
        """Whether a principal that was admitted is still allowed."""
        return who == self._owner

    def by_token(self, shown: str) -> Principal | None:
        """The principal of a token; None if it is wrong."""
        same = hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode())
        return self._owner if same else None

    def by_cookie(self, shown: str) -> Principal | None:
        """The principal of a cookie; None if it is unknown."""
        return self._owner if shown in self._cookies else None
