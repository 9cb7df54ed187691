"""Sentences that forbid something, for questions such as "What is not allowed in commits?", and
sentences that show a command, for "How do I …"."""

from __future__ import annotations

import re

from holdfast.model.knowledge import Kind
from holdfast.regex import regex

# What memory files such statements under.
KINDS_OF_RULES = (Kind.RULE, Kind.PREFERENCE, Kind.DECISION)

# What a sentence is worth as an answer: one that forbids passes what has more words of the
# question. By hand, on thirty questions to six projects (`bench/RESULTS.md`, 2026-11-18).
_FORBIDDING, _PERHAPS_FORBIDDING, _OTHER = 1.5, 1.0, 0.4
_SHOWING_COMMAND = 1.5
# How a sentence forbids something, for certain and perhaps: "that should not be in the diff". What
# "was never tested" and "is read but never used" is no rule.
_FORBIDS = regex(
    r"\b(?<!but )(?<!was )(?<!were )(?<!has )(?<!had )(?<!have )never\b|"
    r"\bbut never (?!\w+(?:ed|en)\b)|"
    r"\b(?:must(?: not|n['’]t)|(?:may|shall) not|not (?:be )?(?:allowed|permitted)|"
    r"no longer (?:allowed|permitted)|forbid\w*|forbade|prohibit\w*|ban(?:s|ned)?|disallow\w*|"
    r"off[- ]limits)\b|"
    r"(?:^|[.;:!] |\band |\bplease |\bso |, |- )(?:do not|don['’]?t|no more|stop \w+ing|avoid)\b|"
    r"\b(?:i|we) (?:do not|don['’]?t) want\b",
    re.IGNORECASE,
)
_PERHAPS_FORBIDS = regex(r"\bshould(?: not|n['’]t)|\bcan ?not be\b", re.IGNORECASE)
# Between backquotes a command, a call of a script or a setting with its value; and a command as one
# types it.
_SPAN = regex(r"`([^`]+)`")
_COMMAND = regex(
    r"\$? ?(?:[\w./~-]*/)?[a-z][\w.-]* -{0,2}[\w./:@~\"'<$-].*|\./.+|[\w.\[\] -]+ ?= ?\S.*",
    re.DOTALL,
)
_TYPED_COMMAND = regex(
    r"(?:uv|npm|npx|pnpm|yarn|bun|deno|cargo|python3?|mise|docker|brew|pip|poetry|dotnet|nix) "
    r"(?:run|test|install|build|exec|start|add|check|-)",
    re.IGNORECASE,
)


def forbids(sentence: str) -> bool:
    """Whether a sentence says that something must not be done."""
    return bool(_FORBIDS.search(sentence) or _PERHAPS_FORBIDS.search(sentence))


def prohibition_factor(sentence: str) -> float:
    """What a sentence is worth where a question asks what is forbidden."""
    if _FORBIDS.search(sentence):
        return _FORBIDDING
    return _PERHAPS_FORBIDDING if forbids(sentence) else _OTHER


def command_factor(sentence: str) -> float:
    """What a sentence is worth where a question asks for a way to do something."""
    spans = _SPAN.findall(sentence)
    shows = any(map(_COMMAND.fullmatch, spans)) or _TYPED_COMMAND.match(sentence) is not None
    return _SHOWING_COMMAND if shows else 1.0
