"""Long unbroken runs of characters, the only places where a key can be. This quick check saves
most texts from a hundred patterns."""

from __future__ import annotations

import re
from collections import defaultdict

from holdfast.capture.secret_formats import BROKEN_PREFIX_FORMATS
from holdfast.capture.secrets import KEY_RULES, MAILCHIMP_RULE, SecretRule
from holdfast.lazy_named_tuple import NamedTuple

# Every key format has a run of at least this many of these characters.
_MIN_RUN = 15
_RUN_MAP = b"a" * _MIN_RUN
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_IS_RUN = bytes(ord("a") if byte in _RUN_BYTES else ord(" ") for byte in range(256))
# What of a broken prefix stands before the run, and the same of shapes.
_BEFORE_RUN = (
    *(
        re.sub(r"[\w-]*\Z", "", prefix).encode("ascii")
        for row in BROKEN_PREFIX_FORMATS
        for prefix in row.prefixes.split()
    ),
    b".atlasv1.",
    b"Q~",
)
_BREAKS = frozenset(ending[-1] for ending in _BEFORE_RUN)
_DOT, _COLON = ord("."), ord(":")


class LongRuns(NamedTuple):
    """The long runs of a text, whether one of them follows a broken prefix, and whether two of them
    may be the outer parts of a token of Discord."""

    text: str
    broken: bool
    three_parts: bool


_NO_RUNS = LongRuns("", False, False)


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
    # The path of a webhook and the environment in a token of Doppler stand between prefix and run.
    broken = "hook" in text or "dp.st." in text
    three_parts = False
    stop = 0
    while start >= 0:
        three_parts = three_parts or (start - stop == 8 and data[start - 1] == data[stop] == _DOT)
        stop = run_map.find(b" ", start)
        stop = len(data) if stop < 0 else stop
        found.append(data[start:stop])
        broken = broken or _follows_broken_prefix(data, start)
        start = run_map.find(_RUN_MAP, stop)
    return LongRuns(b" ".join(found).decode("ascii"), broken, three_parts)


def _follows_broken_prefix(data: bytes, start: int) -> bool:
    if start == 0:
        return False
    before = data[start - 1]
    if before == _COLON:
        return data.startswith(b"AA", start)
    return before in _BREAKS and data.endswith(_BEFORE_RUN, 0, start)


def _heads(prefix: str) -> list[str]:
    """The beginnings by which a key with this prefix is looked up, of three characters or up to a
    hyphen; a prefix of two letters is followed by a hexadecimal digit."""
    first, hyphen, _ = prefix.lower().partition("-")
    if hyphen or len(first) >= 3:
        return [first[:3]]
    return [first + digit for digit in "0123456789abcdef"]


def _rules_by_head() -> dict[str, list[tuple[int, SecretRule]]]:
    by_head: defaultdict[str, list[tuple[int, SecretRule]]] = defaultdict(list)
    for at, rule in enumerate(KEY_RULES):
        for head in {head for anchor in rule.anchors for head in _heads(anchor)}:
            by_head[head].append((at, rule))
    for digit in "123456789":
        by_head[f"us{digit}"].append((len(KEY_RULES), MAILCHIMP_RULE))
    return dict(by_head)


_RULES_BY_HEAD = _rules_by_head()
# The letters of \n, \r and \t in JSON.
_ESCAPES = frozenset("nrt")


def possible_key_rules(runs: str) -> list[SecretRule]:
    """The rules of keys with which any of the long runs of a text may begin, in their order.

    A key begins at the start of a run, behind the letter of an escaped line break, or behind a
    hyphen.
    """
    pieces = runs.lower().replace("-", " ").split(" ")
    heads = {piece[:3] for piece in pieces}
    heads.update([piece[1:4] for piece in pieces if piece[:1] in _ESCAPES])
    known = heads & _RULES_BY_HEAD.keys()
    if not known:
        return []
    found = {
        pair
        for head in known
        for pair in _RULES_BY_HEAD[head]
        if any(anchor in runs for anchor in pair[1].anchors)
    }
    return [rule for _, rule in sorted(found, key=lambda pair: pair[0])]


# The body of a private key whose first line is not there.
PRIVATE_KEY_BODY = SecretRule(
    "private-key",
    (),
    r"(?m)(?:^[+-]?[ \t]{0,20}[A-Za-z0-9+/]{56,76}={0,2}[ \t]*(?:\n|\Z)){2,}",
)


def may_contain_key_body(text: str) -> bool:
    """Whether two lines of a text look like base64."""
    return sum([len(line) >= 56 and " " not in line.strip() for line in text.split("\n")]) >= 2
