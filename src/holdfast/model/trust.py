"""Provenance of a text, the status of a claim, and the freshness of its code."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Trust(StrEnum):
    """Provenance, set when a text is read; listed from the most to the least trusted."""

    USER = "user"
    TEAM = "team"
    ASSISTANT = "assistant"
    TOOL = "tool"
    IMPORT = "import"
    EXTERNAL = "external"


# The words of people: of the user, and of those who work on the project.
PEOPLE = (Trust.USER, Trust.TEAM)
_RANK = {trust: rank for rank, trust in enumerate(Trust)}


def least_trusted(origins: Iterable[Trust]) -> Trust:
    """The trust of a record derived from `origins`; without any, external."""
    return max(origins, key=_RANK.__getitem__, default=Trust.EXTERNAL)


class Status(StrEnum):
    """The status of a claim or a fact. What is amended holds in part: a later one made an exception
    or added something."""

    HYPOTHESIS = "hypothesis"
    OBSERVED = "observed"
    VERIFIED = "verified"
    AMENDED = "amended"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


ENDED_STATUSES = (Status.SUPERSEDED, Status.RETRACTED)
# What another record replaced, or changed in part.
REPLACED_STATUSES = (Status.SUPERSEDED, Status.AMENDED)


class Freshness(StrEnum):
    """What happened to the code that a record is about."""

    FRESH = "fresh"
    CHANGED = "changed"
    RENAMED = "renamed"
    GONE = "gone"
    UNKNOWN = "unknown"
