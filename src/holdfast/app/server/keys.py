"""Keys of a server: made, told apart, revoked.

A key is `hf_`, eight hexadecimal digits that name it, and 256 random bits. These are shown once and
kept nowhere; what is kept is a salted hash of them. So much randomness cannot be guessed, so a hash
that takes long would protect nothing that this one does not.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.keys import ApiKey
from holdfast.principal import Level
from holdfast.refine.core.banks import find_bank_by_name, unknown_bank_hint

_PREFIX = "hf"
_BITS = 256
_SHOWN = re.compile(r"hf_([0-9a-f]{8})_([A-Za-z0-9_-]{32,128})")
_SPAN = re.compile(r"(\d{1,5})([hdwy])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "y": 24 * 365}
_LONGEST_NAME = 100


class KeyRequest(NamedTuple):
    """What a key should be: for whom, for which banks by their names (none: for every one), how
    much it allows, and for how long it holds ("": until it is revoked)."""

    name: str
    banks: Sequence[str] = ()
    level: Level = Level.READ
    expires: str = ""
    # Whether a bank that is not there yet is made.
    make_banks: bool = False


def make_key(memory: Holdfast, wanted: KeyRequest) -> tuple[str, ApiKey]:
    """A new key, as it is shown once, and as it is kept."""
    name = " ".join(wanted.name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError(
            "A key needs a name of one to 100 characters.", "Say who or what it is for."
        )
    now = memory.now()
    expires = expiry(wanted.expires, now) if wanted.expires else ""
    id, secret, salt = (
        secrets.token_hex(4),
        secrets.token_urlsafe(_BITS // 8),
        secrets.token_hex(16),
    )
    with memory.store.transaction():
        banks = tuple(dict.fromkeys(_bank(memory, one, wanted.make_banks) for one in wanted.banks))
        key = ApiKey(
            id, name, salt, hash_secret(salt, secret), banks or None, wanted.level, now, expires
        )
        memory.store.add_key(key)
    return f"{_PREFIX}_{id}_{secret}", key


def _bank(memory: Holdfast, name: str, make: bool) -> str:
    found = find_bank_by_name(memory.store, name)
    if found is not None:
        return found.id
    if make:
        return memory.context.bank_maker.ensure_named(memory.store, name)
    raise NotFoundError(
        f"There is no bank {name!r}.",
        f"{unknown_bank_hint(memory.store, name)} --make-banks makes it, empty.",
    )


def hash_secret(salt: str, secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(f"{salt}:{secret}".encode()).hexdigest()


def split_key(shown: str) -> tuple[str, str]:
    """The id and the secret of what is shown; both "" if it does not look like a key."""
    found = _SHOWN.fullmatch(shown)
    return (found[1], found[2]) if found else ("", "")


def secret_matches(key: ApiKey, secret: str) -> bool:
    """Whether a secret is that of a key."""
    return hmac.compare_digest(hash_secret(key.salt, secret).encode(), key.hash.encode())


def revoke_key(memory: Holdfast, id: str) -> ApiKey:
    """Let a key open nothing any more; it is named by its id, or the start of it."""
    found = [key for key in memory.store.api_keys() if key.id.startswith(id)] if id else []
    if len(found) != 1:
        many = f"Several keys start with {id!r}." if found else f"There is no key {id!r}."
        raise NotFoundError(many, "`holdfast key list` names them.")
    with memory.store.transaction():
        if not memory.store.revoke_key(found[0].id, memory.now()):
            raise InputError(f"The key {found[0].id} was revoked before.", "It opens nothing.")
    return next(key for key in memory.store.api_keys() if key.id == found[0].id)


def expiry(text: str, now: str) -> str:
    """The moment that a span (`12h`, `90d`, `4w`, `1y`) or a day (`2027-01-31`) names."""
    span = _SPAN.fullmatch(text)
    try:
        begun = datetime.fromisoformat(now)
        if span:
            end = begun + timedelta(hours=int(span[1]) * _HOURS[span[2]])
        else:
            end = datetime.fromisoformat(text)
            end = end.replace(tzinfo=end.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{text!r} is no time to end at.", "Say 12h, 90d, 4w, 1y, or a day like 2027-01-31."
        ) from error
    if end <= begun:
        raise InputError(f"{text!r} is over already.", "Name a later time.")
    return end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
