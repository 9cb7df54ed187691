"""Kinds of statements that some questions want, and how a sentence of such a kind is recognised.

"How do I …" wants a way, "What went wrong with …" what was found to be wrong, "What is not allowed"
a rule that forbids something. Sentences of that kind answer, though others have more words of the
question.
"""

from __future__ import annotations

import re
from enum import StrEnum

from holdfast.language import causal_relations, describes_failure
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Kind
from holdfast.recall.query.terms import (
    asks_for_way,
    asks_what_is_forbidden,
    asks_what_went_wrong,
)
from holdfast.regex import regex


class WantedKind(StrEnum):
    """What kind of statement answers a question."""

    WAY = "way"
    FAULT = "fault"
    PROHIBITION = "prohibition"


# What memory files such statements under. Ways are found among all of them.
KNOWLEDGE_OF = {
    WantedKind.FAULT: (Kind.LESSON,),
    WantedKind.PROHIBITION: (Kind.RULE, Kind.PREFERENCE, Kind.DECISION),
}


class KindWeights(NamedTuple):
    """What a sentence is worth where a kind is wanted, by hand, on thirty questions to six projects
    (`bench/RESULTS.md`, 2026-11-18): what is of that kind passes what has more words."""

    forbids: float = 1.5
    perhaps_forbids: float = 1.0
    forbids_nothing: float = 0.4
    finds_cause: float = 1.3
    names_fault: float = 1.1
    no_fault: float = 0.7
    shows_command: float = 1.5
    instructs: float = 1.2
    gives_none: float = 0.8


_WEIGHTS = KindWeights()
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
# How a sentence says what was found to be the cause.
_FINDS_CAUSE = regex(
    r"\broot cause|\b(?:cause|culprit|trigger|breakage|failure|error|bug|problem|issue|leak)"
    r" (?:is|was|were|came|comes|isn['’]t)\b|\b(?:came|comes) from\b|\bcaused by\b|"
    r"\bwhat (?:happened|was wrong|went wrong)\b|"
    r"\bfound the (?:bug|cause|mismatch|problem|issue)\b|"
    r"\bthat['’]s (?:why|the leak|the bug)\b|\b(?:path|value|order|type) is wrong\b",
    re.IGNORECASE,
)
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
# What a sentence tells somebody to do.
_INSTRUCTS = regex(
    r"(?:^|[.;:!] |\bthen |\bjust |\byou can |\bcan be |\bby )(?:run(?:ning)?|us(?:e|ing)|"
    r"set(?:ting)?|add(?:ing)?|put(?:ting)?|call(?:ing)?|type|execute|install(?:ing)?|"
    r"pass(?:ing)?|enabl(?:e|ing)|configur(?:e|ing)|open(?:ing)?|disabl(?:e|ing)|append|"
    r"export|copy|pull|edit)\b",
    re.IGNORECASE,
)
# What an agent tells of itself while it works.
_NARRATES_WORK = regex(
    r"\bi(?:['’]m| am| have|['’]ve) (?:\w+ )?(?:now )?\w+(?:ing|ed)\b", re.IGNORECASE
)


def wanted_kind(question: str) -> WantedKind | None:
    """The kind of statement that a question wants; None if any may answer it."""
    if asks_what_is_forbidden(question):
        return WantedKind.PROHIBITION
    if asks_what_went_wrong(question):
        return WantedKind.FAULT
    return WantedKind.WAY if asks_for_way(question) else None


def forbids(sentence: str) -> bool:
    """Whether a sentence says that something must not be done."""
    return bool(_FORBIDS.search(sentence) or _PERHAPS_FORBIDS.search(sentence))


def kind_factor(wanted: WantedKind | None, sentence: str, by_person: bool) -> float:
    """What a sentence is worth where a question wants a kind of statement."""
    if wanted is None:
        return 1.0
    if wanted is WantedKind.PROHIBITION:
        if _FORBIDS.search(sentence):
            return _WEIGHTS.forbids
        return _WEIGHTS.perhaps_forbids if forbids(sentence) else _WEIGHTS.forbids_nothing
    if wanted is WantedKind.FAULT:
        return _fault_factor(sentence)
    return _way_factor(sentence, by_person)


def _fault_factor(sentence: str) -> float:
    """People give reasons for what they want, too: a reason counts beside a fault."""
    fails = describes_failure(sentence)
    if _FINDS_CAUSE.search(sentence) or (fails and causal_relations(sentence)):
        return _WEIGHTS.finds_cause
    return _WEIGHTS.names_fault if fails else _WEIGHTS.no_fault


def _way_factor(sentence: str, by_person: bool) -> float:
    """What a person tells an agent to do, and what an agent says it is doing, is no way."""
    if _NARRATES_WORK.search(sentence):
        return _WEIGHTS.gives_none
    if _shows_command(sentence):
        return _WEIGHTS.shows_command
    tells = not by_person and _INSTRUCTS.search(sentence)
    return _WEIGHTS.instructs if tells else _WEIGHTS.gives_none


def _shows_command(sentence: str) -> bool:
    spans = _SPAN.findall(sentence)
    return any(map(_COMMAND.fullmatch, spans)) or _TYPED_COMMAND.match(sentence) is not None
