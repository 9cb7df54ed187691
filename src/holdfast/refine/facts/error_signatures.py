"""Error signatures: an error line without the parts that differ from run to run."""

from __future__ import annotations

import re

_ERROR_LINE = (
    r"(?:\b[A-Za-z_][\w.]*(?:Error|Exception|Panic)\b|\bfatal(?: error)?:|\bpanic:"
    r"|\berror(?:\[\w+\])?:|\berror TS\d+|\bCannot find\b|\bundefined reference\b"
    r"|\bassertion failed\b)"
)
# Replacements for what differs from run to run: addresses and hashes, paths with line numbers,
# numbers, runs of blanks.
_REPLACEMENTS = (
    (r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b", "H"),
    (r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@+-]*|\b[\w-]+\.\w{1,5}:\d+(?::\d+)?", "P"),
    (r"\d+", "N"),
    (r"\s+", " "),
)
# Signatures are compared exactly, so the cut only bounds what is stored for each error.
_MAX_SIGNATURE_CHARS = 160
# A signature with fewer letters ("error: N") would match unrelated errors.
_MIN_LETTERS = 18
# Only the end of an output is searched: that is where commands report what went wrong.
_MAX_OUTPUT_CHARS = 20_000
# The hook reads these from a file, so that it makes the same signatures. The keys are its format.
PATTERNS = {"says": _ERROR_LINE, "replaced": _REPLACEMENTS, "longest": _MAX_SIGNATURE_CHARS}


def error_lines(text: str, limit: int = 5) -> list[str]:
    """The lines of an output that say what went wrong, the last one first."""
    lines = [line.strip() for line in text[-_MAX_OUTPUT_CHARS:].splitlines()]
    errors = [line for line in lines if re.search(_ERROR_LINE, line, re.I) and signature_of(line)]
    return list(reversed(errors))[:limit]


def signature_of(line: str) -> str:
    """The signature of an error line; "" if too little is left of it."""
    for pattern, word in _REPLACEMENTS:
        line = re.sub(pattern, word, line)
    signature = line.strip()[:_MAX_SIGNATURE_CHARS]
    return signature if sum(c.isalpha() for c in signature) >= _MIN_LETTERS else ""
