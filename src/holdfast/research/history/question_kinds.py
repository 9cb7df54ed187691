"""Recognise questions that git history can answer: who, when, what changed, was it reverted, why.

Recognition is by patterns and strict: a question that is not clearly one of these kinds is answered
from memory like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from holdfast.language import collapse_spaces
from holdfast.regex import regex

_ASKS_FOR_EXPERTS = regex(
    r"^(?:so |and |please,? )*(?:who (?:knows|understands|is familiar with|wrote|built|owns|"
    r"maintains|made|implemented|touched|changed|(?:has )?work(?:ed|s) on|"
    r"(?:should|can|could) I ask)|"
    r"who(?:'s| is| are)(?: the)? (?:experts?|owners?|maintainers?|authors?)|"
    r"whom? (?:should|can|do|could) (?:I|we) (?:ask|talk to))"
    r"(?: (?:most|best|more|anything|something|a lot))*(?: (?:about|of|on|for|in|with))?"
    r" (?P<topic>.+)$",
    re.IGNORECASE,
)
# Longer questions are stories; also bounds the time of the patterns.
_MAX_CHARS = 400
_FLAGS = re.IGNORECASE


class QuestionKind(StrEnum):
    """What history is asked for. The values are shown to people."""

    REVERTED = "reverted"
    KNOWS = "knows"
    REVIEWED = "reviewed"
    DECIDED = "decided"
    FIRST = "first"
    LAST = "last"
    CHANGES = "changes"
    WHY = "why"


class HistoryQuestion(NamedTuple):
    """A question for history: its kind, its topic, and the action it names ("reviewed"), if any."""

    kind: QuestionKind
    topic: str
    action: str = ""


_REVERTED = r"(?:reverted|rolled back|undone|backed out|taken back|put back)"
_REVERT = r"(?:revert|roll back|undo|back out|take back)"
_INTRODUCED = (
    r"(?:introduced?|add(?:ed)?|creat(?:ed?)|start(?:ed)?(?: (?:using|with|on))?|begun|began|"
    r"begin(?: using)?|adopt(?:ed)?|built|build|wr(?:itten|ite|ote)|appear(?:ed)?|born|made|"
    r"implement(?:ed)?|set up)"
)
_CHANGED = (
    r"(?:chang(?:ed?)|updat(?:ed?)|touch(?:ed)?|modif(?:ied|y)|edit(?:ed)?|fix(?:ed)?|"
    r"remov(?:ed?)|delet(?:ed?)|drop(?:ped)?|renam(?:ed?)|mov(?:ed?)|replac(?:ed?)|refactor(?:ed)?)"
)
_WE = r"(?:we|you|they|I|anyone|anybody|someone|somebody|the team)"


class _Form(NamedTuple):
    """A form of question. `first_words` are those it may begin with: a question is matched only
    against the few patterns that its first word allows."""

    kind: QuestionKind
    first_words: frozenset[str]
    pattern: re.Pattern[str]


def _form(kind: QuestionKind, first_words: str, pattern: str) -> _Form:
    return _Form(kind, frozenset(first_words.split()), regex(pattern, _FLAGS))


# These are more exact than a question for experts, so they are tried before it.
_EXACT_FORMS = (
    _form(
        QuestionKind.REVERTED,
        "was were has have had is when why by",
        rf"^(?:was|were|has|have|had|is|when was|why was|by whom was) (?P<topic>.+?)"
        rf"(?: (?:ever|later|again|since|been|once))* (?P<action>{_REVERTED})\b",
    ),
    _form(
        QuestionKind.REVERTED,
        "who did have has why when",
        rf"^(?:who|(?:did|have|has|why did|when did) {_WE})(?: ever)? "
        rf"(?P<action>{_REVERTED}|{_REVERT}) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.REVIEWED,
        "who",
        r"^who (?:has )?(?P<action>reviewed|approved|acked|tested) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.DECIDED,
        "who",
        r"^who (?:has )?(?P<action>decided|chose|picked|agreed|settled|insisted|ruled)"
        r"(?: (?:on|to|that|for|against|upon))*(?: (?:we|use))* (?P<topic>.+)$",
    ),
)
_OTHER_FORMS = (
    _form(
        QuestionKind.FIRST,
        "who",
        rf"^who (?:has )?(?:first )?(?P<action>{_INTRODUCED}) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.LAST,
        "who",
        rf"^who (?:has )?(?:last )?(?P<action>{_CHANGED}) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.FIRST,
        "since when",
        r"^(?:since )?when (?:was|were|is|did(?! (?:we|you|they|I)\b)) (?P<topic>.+?)"
        rf"(?: first| originally)? (?P<action>{_INTRODUCED})\b",
    ),
    _form(
        QuestionKind.FIRST,
        "when",
        rf"^when (?:did|have) {_WE}(?: first)? (?P<action>{_INTRODUCED})(?: to| using| with)? "
        r"(?P<topic>.+)$",
    ),
    _form(
        QuestionKind.FIRST,
        "since how",
        rf"^(?:since when|how long)(?: do| have| has| had)? {_WE} "
        r"(?:use|used|had|have|got) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.LAST,
        "when",
        r"^when (?:was|were|did(?! (?:we|you|they|I)\b)) (?P<topic>.+?)"
        rf"(?: last| most recently)? (?P<action>{_CHANGED})\b",
    ),
    _form(
        QuestionKind.LAST,
        "when",
        rf"^when (?:did|have) {_WE}(?: last)? (?P<action>{_CHANGED}) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.CHANGES,
        "what",
        rf"^what(?:'s| is| has| have| was| were| did {_WE})?(?: been)? "
        r"(?:chang(?:ed?|es)|happened|done|new|modified|touched)(?: \w+)??"
        r" (?:in|to|with|on|about|around) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.CHANGES,
        "the history changes",
        r"^(?:the )?(?:history|changes) (?:of|to|in) (?P<topic>.+)$",
    ),
    _form(
        QuestionKind.WHY,
        "why how for",
        r"^(?:why|how come|for what reason)\b(?P<topic>.+)$",
    ),
)
_OPENING = regex(r"^(?:so|and|but|please|hey|ok|okay|then|also)[, ]+", _FLAGS)
_EDGES = " ?.!\"'`“”"
_ARTICLE = regex(r"^(?:the|a|an|our|this|that|my)\s+", _FLAGS)


def read_history_question(question: str) -> HistoryQuestion | None:
    """The question as one for history; None if it is of no such kind."""
    asked = collapse_spaces(question[:_MAX_CHARS]).strip(_EDGES)
    while (shorter := _OPENING.sub("", asked)) != asked:
        asked = shorter
    exact = _match(_EXACT_FORMS, asked)
    if exact is None and asked.lower().startswith("who") and (topic := expert_topic(asked)):
        return HistoryQuestion(QuestionKind.KNOWS, without_article(topic))
    return exact or _match(_OTHER_FORMS, asked)


def _match(forms: Iterable[_Form], asked: str) -> HistoryQuestion | None:
    first = asked.partition(" ")[0].lower()
    for form in forms:
        found = form.pattern.search(asked) if first in form.first_words else None
        if found is not None and (topic := without_article(found["topic"])):
            action = found.groupdict().get("action") or ""
            return HistoryQuestion(form.kind, topic, action.lower())
    return None


def without_article(topic: str) -> str:
    """A topic without its article and the punctuation around it."""
    return _ARTICLE.sub("", topic.strip(_EDGES)).strip(_EDGES)


def expert_topic(question: str) -> str:
    """What a question for experts is about; "" if it is no such question."""
    found = _ASKS_FOR_EXPERTS.search(" ".join(question.split()))
    return found["topic"].strip(" ?.!\"'`") if found else ""
