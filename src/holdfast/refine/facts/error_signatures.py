"""Errors by what they have in common: a line of output without what differs from run to run."""

from __future__ import annotations

import re

_ERROR_LINE = (
    r"(?:\b[A-Za-z_][\w.]*(?:Error|Exception|Panic)\b|\bfatal(?: error)?:|\bpanic:"
    r"|\berror(?:\[\w+\])?:|\berror TS\d+|\bCannot find\b|\bundefined reference\b"
    r"|\bassertion failed\b)"
)
# What differs from run to run: addresses and hashes, paths with their lines, numbers.
_REPLACED = (
    (r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b", "H"),
    (r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]*|\b[\w-]+\.\w{1,5}:\d+(?::\d+)?", "P"),
    (r"\d+", "N"),
    (r"\s+", " "),
)
_LONGEST = 160
_SHORTEST = 18
# A hook reads these with the signatures, so that both sides spell them alike.
PATTERNS = {"says": _ERROR_LINE, "replaced": _REPLACED, "longest": _LONGEST}


def error_lines(text: str, limit: int = 5) -> list[str]:
    """The lines of an output that say what went wrong, the last first."""
    lines = [line.strip() for line in text[-20_000:].splitlines()]
    told = [line for line in lines if re.search(_ERROR_LINE, line, re.I) and signature_of(line)]
    return list(reversed(told))[:limit]


def signature_of(line: str) -> str:
    """An error line without what differs from run to run; "" if too little is left."""
    for pattern, word in _REPLACED:
        line = re.sub(pattern, word, line)
    signature = line.strip()[:_LONGEST]
    return signature if sum(c.isalpha() for c in signature) >= _SHORTEST else ""
