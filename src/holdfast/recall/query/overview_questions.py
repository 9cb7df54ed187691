"""Questions without a subject: "What is not allowed?", "What did we decide?", "What is still open?"

Their words name a kind of knowledge and nothing to look for, so no search answers them: what is
known of that kind does. One word beside these ("What is not allowed in commits?") is a subject.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.function_words import language_of
from holdfast.language import words
from holdfast.regex import regex


class Overview(StrEnum):
    """What a question without a subject asks for."""

    PROHIBITIONS = "prohibitions"
    RULES = "rules"
    DECISIONS = "decisions"
    OPEN_TASKS = "open tasks"
    FAULTS = "faults"
    EVERYTHING = "everything"


# The words that ask for each, the more particular first. Forms are given as people ask.
_ASKING = {
    Overview.PROHIBITIONS: "forbidden prohibited banned disallowed prohibitions taboo taboos avoid "
    "donts limits",
    Overview.RULES: "rule rules convention conventions guideline guidelines policy policies "
    "constraints regulations allowed permitted",
    Overview.DECISIONS: "decide decided decision decisions settle settled agree agreed agreements",
    Overview.OPEN_TASKS: "open remain remains remaining pending outstanding todo todos unfinished "
    "undone unresolved left leftover leftovers",
    Overview.FAULTS: "wrong broke broken fail failed failure failures mistakes problem problems "
    "trouble troubles bug bugs",
    Overview.EVERYTHING: "know aware important essential careful mind watch",
}
_BY_WORD = {word: wanted for wanted, said in _ASKING.items() for word in said.split()}
# Words with "not" among them that ask what is forbidden, and what is open: "What must I not do?",
# "What is not done yet?"
_FORBIDDEN_IF_NOT = frozenset("allowed permitted must may shall should do touch supposed".split())
_OPEN_IF_NOT = frozenset("done finished complete completed ready fixed solved resolved".split())
_NOT = frozenset(
    "not never no nothing dont don't mustn't shouldn't can't cannot isn't aren't".split()
)
# What else such a question may say: who asks, where, and that it asks.
_BESIDE = frozenset(
    "a about all already always am an and any anyone anything apply are as at base be been "
    "before begin begins by can changing code codebase coding complete completed contribute "
    "current currently did do does doing done ever everybody everyone everything exist existing "
    "far finished first fixed follow following for force from general get give gives go goes "
    "going gone ground had has have here hold holds house i i'm if in into is it items keep "
    "kept known last latest list made main make makes making matters may me most must my need "
    "needs new newest next of off on or our out overview people please points project project's "
    "questions ready recent recently repo repository resolved respect shall should show so "
    "solved some somebody someone start started starting stick still stuff summarise summarize "
    "summary supposed task tasks team tell that the there these they thing things this to today "
    "touch until up us valid was we went were what what's which with work working workspace "
    "would yet you your".split()
)
_ASKS = regex(
    r"\W*(?:(?:so|and|but|ok|okay|hi|hey|hello|please)\W+)*(?:what\b|which\b|is there\b|"
    r"are there\b|anything\b|any\b|list\b|show\b|give\b|tell me\b|do (?:we|you) have\b|"
    r"(?:an )?overview\b)"
)
# "The bug" is one that was spoken of, and so are "the last bug we fixed" and "it".
_ONE_MATTER = regex(
    r"\bthe (?:(?!main|biggest|worst|current|open|latest|known)\w+ ){0,2}(?:bug|problem|failure)\b"
    r"(?! (?:in|of|with) (?:this|the|our) (?:project|repo|code|app))|"
    r"\b(?:make|made|makes|making) \w+ fail\b|"
    r"\b(?:about|with) (?:it|that|them|(?:this|these)\b(?! (?:project|repo|code|work|team)))\b"
)
# A longer question has a subject.
_MAX_WORDS = 16
_MAX_CHARACTERS = 200


def may_ask_overview(question: str) -> bool:
    """Whether a question may have no subject: it asks, in few words, for a kind of knowledge."""
    said = _said(question)
    is_short = 1 < len(said) <= _MAX_WORDS
    names_kind = any(word in _BY_WORD or word in _NOT or word in _OPEN_IF_NOT for word in said)
    return is_short and names_kind and _ASKS.match(question.lower()) is not None


def asked_overview(question: str) -> Overview | None:
    """What a question without a subject asks for; None if it has one. The words of a time must be
    taken out before."""
    if not may_ask_overview(question):
        return None
    said = _said(question)
    if any(word not in _BESIDE and word not in _BY_WORD and word not in _NOT for word in said):
        return None
    if not language_of(question).is_english or _ONE_MATTER.search(question.lower()):
        return None
    return _wanted(frozenset(said))


def _said(question: str) -> list[str]:
    return words(question[:_MAX_CHARACTERS].lower().replace("’", "'"))


def _wanted(said: frozenset[str]) -> Overview | None:
    found = {_BY_WORD[word] for word in said if word in _BY_WORD}
    if said & _NOT:
        if said & _OPEN_IF_NOT:
            return Overview.OPEN_TASKS
        is_forbidden = said & _FORBIDDEN_IF_NOT and found <= {Overview.RULES}
        # "What have we not decided?" asks for nothing that is known.
        return Overview.PROHIBITIONS if is_forbidden else None
    return next((wanted for wanted in Overview if wanted in found), None)
