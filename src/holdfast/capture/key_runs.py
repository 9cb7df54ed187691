"""Long unbroken runs of characters, the only places where a key can be. This quick check saves
most texts from two dozen patterns."""

from __future__ import annotations

import re

from holdfast.capture.secrets import KEY_FORMATS, SecretRule
from holdfast.lazy_named_tuple import NamedTuple

# Every key format has a run of at least this many of these characters.
_MIN_RUN = 15
_RUN_MAP = b"a" * _MIN_RUN
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_IS_RUN = bytes(ord("a") if byte in _RUN_BYTES else ord(" ") for byte in range(256))
_DOTTED_PREFIXES = (b"ya29.", b"SG.", b"hvs.", b"hvb.", b":")


class LongRuns(NamedTuple):
    """The long runs of a text, and whether one of them follows the prefix of a dotted format."""

    text: str
    dotted: bool


_NO_RUNS = LongRuns("", False)


def long_runs(text: str) -> LongRuns:
    """Find the long runs of a text; most texts have none."""
    if len(text) < _MIN_RUN:
        return _NO_RUNS
    data = text.encode("ascii", "replace")
    # Laid out as "a" for every character of a run, the text is searched at memory speed.
    run_map = data.translate(_IS_RUN)
    start = run_map.find(_RUN_MAP)
    if start < 0:
        return _NO_RUNS
    found: list[bytes] = []
    dotted = "hooks.slack.com" in text
    while start >= 0:
        stop = run_map.find(b" ", start)
        stop = len(data) if stop < 0 else stop
        found.append(data[start:stop])
        dotted = dotted or data.endswith(_DOTTED_PREFIXES, 0, start)
        start = run_map.find(_RUN_MAP, stop)
    return LongRuns(b" ".join(found).decode("ascii"), dotted)


# A key begins at the start of a run, behind the letter of an escaped line break, or behind a
# hyphen. Its first three characters are looked up in a set; the two-letter heads are followed
# by a hexadecimal digit.
_KEY_PREFIXES = frozenset(
    (anchor + end)[:3].lower()
    for rule in KEY_FORMATS
    for anchor in rule.anchors
    for end in "0123456789abcdef"
)


# The letters of \n, \r and \t in JSON.
_ESCAPES = frozenset("nrt")


def may_contain_key(runs: str) -> bool:
    """Whether any of the long runs of a text begins like a key."""
    pieces = runs.lower().replace("-", " ").split(" ")
    heads = {piece[:3] for piece in pieces}
    heads.update([piece[1:4] for piece in pieces if piece[:1] in _ESCAPES])
    # "sk-…" lost its hyphen above.
    return not _KEY_PREFIXES.isdisjoint(heads) or "sk" in heads


# The body of a private key whose first line is not there.
PRIVATE_KEY_BODY = SecretRule(
    "private-key",
    (),
    re.compile(r"(?m)(?:^[+-]?[ \t]{0,20}[A-Za-z0-9+/]{56,76}={0,2}[ \t]*(?:\n|\Z)){2,}"),
)


def may_contain_key_body(text: str) -> bool:
    """Whether two lines of a text look like base64."""
    return sum([len(line) >= 56 and " " not in line.strip() for line in text.split("\n")]) >= 2
