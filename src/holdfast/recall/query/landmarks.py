"""Landmarks: times that a project has names for, such as a version, the last release, session or
commit. Only the name is read here; `query` looks up its time.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from holdfast.regex import regex

_VERSION = regex(r"v?(\d+(?:\.\d+)*(?:-?(?:rc|alpha|beta|a|b)\.?\d*)?)", re.IGNORECASE)
_HASH = regex(r"(?=[a-f]*\d)[0-9a-f]{7,40}", re.IGNORECASE)
_LATEST = frozenset("last latest previous newest recent most".split())


class LandmarkKind(StrEnum):
    """What a landmark is."""

    RELEASE = "release"
    SESSION = "session"
    COMMIT = "commit"


_KIND = {
    word: kind
    for kind, said in {
        LandmarkKind.RELEASE: "release version tag deploy deployment",
        LandmarkKind.SESSION: "session conversation chat",
        LandmarkKind.COMMIT: "commit",
    }.items()
    for word in said.split()
}


class Landmark(NamedTuple):
    """A release by its version without "v", or a commit by the start of its hash; the latest of its
    kind if `name` is ""."""

    kind: LandmarkKind
    name: str = ""


def read_landmark(said: str) -> Landmark | None:
    """The landmark that words such as "last release", "v1.4.0", "release 2" or "commit 3f2a91c"
    name; None if they name none."""
    words = [word for word in said.lower().split() if word not in _LATEST]
    if not 1 <= len(words) <= 2:
        return None
    kinds = [_KIND[word] for word in words if word in _KIND]
    named = [word for word in words if word not in _KIND]
    if len(kinds) > 1 or len(named) > 1:
        return None
    if not named:
        return Landmark(kinds[0])
    version = _VERSION.fullmatch(named[0])
    if version and kinds in ([], [LandmarkKind.RELEASE]) and (kinds or not named[0].isdigit()):
        return Landmark(LandmarkKind.RELEASE, version[1])
    if _HASH.fullmatch(named[0]) and kinds in ([], [LandmarkKind.COMMIT]):
        return Landmark(LandmarkKind.COMMIT, named[0])
    return None


def is_version(tag: str, version: str) -> bool:
    """Whether a tag, with any prefix, names a version: `v2` is `v2.0.0`, but not `v2.1`."""
    start = next((at for at, sign in enumerate(tag) if sign.isdigit()), len(tag))
    return bool(version) and _core(tag[start:]) == _core(version)


def _core(version: str) -> str:
    core = version.lower()
    while core.endswith(".0"):
        core = core[:-2]
    return core
