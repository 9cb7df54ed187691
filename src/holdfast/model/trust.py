"""Where a text came from, and how far a claim may be believed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Trust(StrEnum):
    """Provenance, stamped when text enters; listed from the most to the least trusted."""

    USER = "user"
    TEAM = "team"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORT = "import"
    EXTERNAL = "external"


_RANK = {trust: rank for rank, trust in enumerate(Trust)}


def least_trusted(origins: Iterable[Trust]) -> Trust:
    """The trust of something derived from `origins`; nothing known counts as external."""
    return max(origins, key=_RANK.__getitem__, default=Trust.EXTERNAL)


class Status(StrEnum):
    """The life of a claim."""

    HYPOTHESIS = "hypothesis"
    OBSERVED = "observed"
    VERIFIED = "verified"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


ENDED_STATUSES = (Status.SUPERSEDED, Status.RETRACTED)


class Freshness(StrEnum):
    """What became of the code that a record speaks about."""

    FRESH = "fresh"
    CHANGED = "changed"
    RENAMED = "renamed"
    GONE = "gone"
    UNKNOWN = "unknown"
