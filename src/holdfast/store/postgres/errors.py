"""PostgreSQL's errors as ours."""

from __future__ import annotations

import re

import psycopg

from holdfast.errors import (
    HoldfastError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from holdfast.store.sql.connection import number_too_large

# A lock that was not granted in time, and transactions that were in the way of each other.
_LOCKED = ("55P03", "40001", "40P01")
# Lost or refused connections, servers that stop or start, too many clients, too little memory.
_UNAVAILABLE = ("08", "57P", "53300", "53200")
# Why a server refuses a login. It sends no code before that.
_REFUSED = re.compile(
    r"authentication failed|does not exist|no pg_hba\.conf entry|no password supplied"
    r"|not permitted to log in|permission denied for database|password was not|invalid connection"
)


def reason(error: psycopg.Error) -> str:
    """What the server said, in one line."""
    return error.diag.message_primary or str(error).strip().split("\n")[0] or "the connection ended"


def store_error(error: psycopg.Error, place: str) -> HoldfastError:
    """The error as one that a person can act on. None contains a password."""
    code = error.sqlstate or ""
    why = reason(error)
    if code == "22003":
        return number_too_large()
    if code.startswith("53100"):
        return StoreFullError(
            f"Disk full. No room left on the disk of {place}.",
            "Free some space there and run the same command again; it resumes where it stopped.",
        )
    if code.startswith("XX00"):
        return StoreCorruptError(
            f"{place} is damaged: {why}.", "Restore it from a backup, then run `holdfast ingest`."
        )
    if code == "25006":
        return StoreUnavailableError(
            f"The memory at {place} can only be read: {why}.",
            "Nothing was written. If this is a standby, name the server that leads, or all of "
            "them with target_session_attrs=read-write: docs/postgres.md.",
        )
    unusable = f"The memory at {place} cannot be used right now: {why}."
    if code in _LOCKED:
        return StoreBusyError(unusable, "Try again; nothing of this was written.")
    refused = not code and _REFUSED.search(str(error))
    if code.startswith(_UNAVAILABLE) or (
        not code and not refused and isinstance(error, psycopg.OperationalError)
    ):
        return StoreUnavailableError(
            unusable,
            "Try again once the server answers. What was being written is there completely or not "
            "at all.",
        )
    if code == "42501" or refused:
        return StoreError(
            f"The role that opens {place} may not do that: {why}.",
            "Check the role, its password and the database's name, and grant it the rights that "
            "docs/postgres.md lists.",
        )
    return StoreError(f"The memory at {place} failed: {why}.", "Run `holdfast status`.")
