"""API keys of a server: creating, checking and revoking them.

A key is `hf_`, eight hexadecimal digits that identify it, and a secret of 256 random bits. The
secret is shown once and not stored; the store has a salted hash of it. A fast hash is enough,
because so many random bits cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError, NotFoundError
from holdfast.model.keys import ApiKey
from holdfast.principal import Level
from holdfast.refine.core.banks import find_bank_by_name, unknown_bank_hint
from holdfast.regex import regex
from holdfast.times import format_time

_KEY = regex(r"hf_([0-9a-f]{8})_([A-Za-z0-9_-]{32,128})")
_SPAN = regex(r"(\d{1,5})([hdwy])")
_HOURS_PER_UNIT = {"h": 1, "d": 24, "w": 24 * 7, "y": 24 * 365}
_MAX_NAME_LENGTH = 100


class KeyRequest(NamedTuple):
    """The key to create: the name of its user or use, the names of its banks (none for all), what
    it allows, when it expires as `expiry` reads it ("" for never), and whether banks that do not
    exist are created."""

    name: str
    banks: Sequence[str] = ()
    level: Level = Level.READ
    expires: str = ""
    make_banks: bool = False


def make_key(memory: Holdfast, request: KeyRequest) -> tuple[str, ApiKey]:
    """Create a key; returns the text to show once, and the stored record."""
    name = " ".join(request.name.split())
    if not name or len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise InputError(
            "A key needs a name of one to 100 characters.", "Say who or what it is for."
        )
    now = memory.now()
    expires = expiry(request.expires, now) if request.expires else ""
    id, secret, salt = secrets.token_hex(4), secrets.token_urlsafe(32), secrets.token_hex(16)
    hashed = _hash_secret(salt, secret)
    with memory.store.transaction():
        found = [_bank_id(memory, one, request.make_banks) for one in request.banks]
        banks = tuple(dict.fromkeys(found)) or None
        key = ApiKey(id, name, salt, hashed, banks, request.level, now, expires)
        memory.store.api_keys.add(key)
    return f"hf_{id}_{secret}", key


def _bank_id(memory: Holdfast, name: str, create: bool) -> str:
    found = find_bank_by_name(memory.store, name)
    if found is not None:
        return found.id
    if create:
        return memory.context.bank_maker.ensure_named(memory.store, name)
    hint = unknown_bank_hint(memory.store, name)
    raise NotFoundError(f"There is no bank {name!r}.", f"{hint} --make-banks makes it, empty.")


def _hash_secret(salt: str, secret: str) -> str:
    return hashlib.sha256(f"{salt}:{secret}".encode()).hexdigest()


def split_key(text: str) -> tuple[str, str]:
    """The id and the secret of a key; both "" if the text is not a key."""
    found = _KEY.fullmatch(text)
    return (found[1], found[2]) if found else ("", "")


def secret_matches(key: ApiKey, secret: str) -> bool:
    """Whether this is the secret of the key; takes the same time for any secret."""
    return hmac.compare_digest(_hash_secret(key.salt, secret).encode(), key.hash.encode())


def revoke_key(memory: Holdfast, id: str) -> ApiKey:
    """Revoke the key whose id starts with `id`; an error if there is not exactly one."""
    found = [key for key in memory.store.api_keys.all() if key.id.startswith(id)] if id else []
    if len(found) != 1:
        problem = f"Several keys start with {id!r}." if found else f"There is no key {id!r}."
        raise NotFoundError(problem, "`holdfast key list` lists them.")
    now, (key,) = memory.now(), found
    with memory.store.transaction():
        if not memory.store.api_keys.revoke(key.id, now):
            raise InputError(f"The key {key.id} is revoked already.", "It no longer gives access.")
    return key._replace(revoked=now)


def expiry(text: str, now: str) -> str:
    """When a key expires: after a span (`12h`, `90d`, `4w`, `1y`), or on a day (`2027-01-31`)."""
    try:
        if span := _SPAN.fullmatch(text):
            hours = int(span[1]) * _HOURS_PER_UNIT[span[2]]
            end = datetime.fromisoformat(now) + timedelta(hours=hours)
        else:
            end = datetime.fromisoformat(text)
            end = end.replace(tzinfo=end.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{text!r} is not a valid time to expire.",
            "Write 12h, 90d, 4w, 1y, or a day like 2027-01-31.",
        ) from error
    if end <= datetime.fromisoformat(now):
        raise InputError(f"{text!r} is in the past.", "Give a later time.")
    return format_time(end)
