"""What a question digs for: who, when, what changed, was it reverted, why; and of what.

A form that is not surely one of these is none: an ordinary answer is always there.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from holdfast.language import squeeze
from holdfast.regex import regex

_ASKS = regex(
    r"^(?:so |and |please,? )*(?:who (?:knows|understands|is familiar with|wrote|built|owns|"
    r"maintains|made|implemented|touched|changed|(?:has )?work(?:ed|s) on|"
    r"(?:should|can|could) I ask)|"
    r"who(?:'s| is| are)(?: the)? (?:experts?|owners?|maintainers?|authors?)|"
    r"whom? (?:should|can|do|could) (?:I|we) (?:ask|talk to))"
    r"(?: (?:most|best|more|anything|something|a lot))*(?: (?:about|of|on|for|in|with))?"
    r" (?P<topic>.+)$",
    re.IGNORECASE,
)
_LONG = 400
_FLAGS = re.IGNORECASE


class QuestionKind(StrEnum):
    """The ways to an answer that history has."""

    REVERTED = "reverted"
    KNOWS = "knows"
    REVIEWED = "reviewed"
    DECIDED = "decided"
    FIRST = "first"
    LAST = "last"
    CHANGES = "changes"
    WHY = "why"


class HistoryQuestion(NamedTuple):
    """What is dug for: the kind, the matter, and the deed that was named, if any."""

    kind: QuestionKind
    topic: str
    action: str = ""


_BACK = r"(?:reverted|rolled back|undone|backed out|taken back|put back)"
_BACK_NOW = r"(?:revert|roll back|undo|back out|take back)"
_BEGIN = (
    r"(?:introduced?|add(?:ed)?|creat(?:ed?)|start(?:ed)?(?: (?:using|with|on))?|begun|began|"
    r"begin(?: using)?|adopt(?:ed)?|built|build|wr(?:itten|ite|ote)|appear(?:ed)?|born|made|"
    r"implement(?:ed)?|set up)"
)
_LATER = (
    r"(?:chang(?:ed?)|updat(?:ed?)|touch(?:ed)?|modif(?:ied|y)|edit(?:ed)?|fix(?:ed)?|"
    r"remov(?:ed?)|delet(?:ed?)|drop(?:ped)?|renam(?:ed?)|mov(?:ed?)|replac(?:ed?)|refactor(?:ed)?)"
)
_WE = r"(?:we|you|they|I|anyone|anybody|someone|somebody|the team)"
# What each kind of question may begin with, so that few forms are looked at, and its form.
_FORMS: tuple[tuple[QuestionKind, str, re.Pattern[str]], ...] = (
    (
        QuestionKind.REVERTED,
        "was were has have had is when why by",
        regex(
            rf"^(?:was|were|has|have|had|is|when was|why was|by whom was) (?P<topic>.+?)"
            rf"(?: (?:ever|later|again|since|been|once))* (?P<deed>{_BACK})\b",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.REVERTED,
        "who did have has why when",
        regex(
            rf"^(?:who|(?:did|have|has|why did|when did) {_WE})(?: ever)? "
            rf"(?P<deed>{_BACK}|{_BACK_NOW}) (?P<topic>.+)$",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.REVIEWED,
        "who",
        regex(r"^who (?:has )?(?P<deed>reviewed|approved|acked|tested) (?P<topic>.+)$", _FLAGS),
    ),
    (
        QuestionKind.DECIDED,
        "who",
        regex(
            r"^who (?:has )?(?P<deed>decided|chose|picked|agreed|settled|insisted|ruled)"
            r"(?: (?:on|to|that|for|against|upon))*(?: (?:we|use))* (?P<topic>.+)$",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.FIRST,
        "who",
        regex(rf"^who (?:has )?(?:first )?(?P<deed>{_BEGIN}) (?P<topic>.+)$", _FLAGS),
    ),
    (
        QuestionKind.LAST,
        "who",
        regex(rf"^who (?:has )?(?:last )?(?P<deed>{_LATER}) (?P<topic>.+)$", _FLAGS),
    ),
    (
        QuestionKind.FIRST,
        "since when",
        regex(
            r"^(?:since )?when (?:was|were|is|did(?! (?:we|you|they|I)\b)) (?P<topic>.+?)"
            r"(?: first| originally)?"
            rf" (?P<deed>{_BEGIN})\b",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.FIRST,
        "when",
        regex(
            rf"^when (?:did|have) {_WE}(?: first)? (?P<deed>{_BEGIN})(?: to| using| with)? "
            r"(?P<topic>.+)$",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.FIRST,
        "since how",
        regex(
            rf"^(?:since when|how long)(?: do| have| has| had)? {_WE} "
            r"(?:use|used|had|have|got) (?P<topic>.+)$",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.LAST,
        "when",
        regex(
            r"^when (?:was|were|did(?! (?:we|you|they|I)\b)) (?P<topic>.+?)"
            r"(?: last| most recently)?"
            rf" (?P<deed>{_LATER})\b",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.LAST,
        "when",
        regex(rf"^when (?:did|have) {_WE}(?: last)? (?P<deed>{_LATER}) (?P<topic>.+)$", _FLAGS),
    ),
    (
        QuestionKind.CHANGES,
        "what",
        regex(
            rf"^what(?:'s| is| has| have| was| were| did {_WE})?(?: been)? "
            r"(?:chang(?:ed?|es)|happened|done|new|modified|touched)(?: \w+)??"
            r" (?:in|to|with|on|about|around) (?P<topic>.+)$",
            _FLAGS,
        ),
    ),
    (
        QuestionKind.CHANGES,
        "the history changes",
        regex(r"^(?:the )?(?:history|changes) (?:of|to|in) (?P<topic>.+)$", _FLAGS),
    ),
    (QuestionKind.WHY, "why how for", regex(r"^(?:why|how come|for what reason)\b(?P<topic>.+)$", _FLAGS)),
)
# Forms that are more exact than a question for who knows.
_BEFORE_KNOWS = 4
_OPENING = regex(r"^(?:so|and|but|please|hey|ok|okay|then|also)[, ]+", _FLAGS)
_EDGES = " ?.!\"'`“”"
_ARTICLE = regex(r"^(?:the|a|an|our|this|that|my)\s+", _FLAGS)


def read_history_question(question: str) -> HistoryQuestion | None:
    """What a question digs for; None for one that only memory as a whole can answer."""
    asked = squeeze(question[:_LONG]).strip(_EDGES)
    while (shorter := _OPENING.sub("", asked)) != asked:
        asked = shorter
    first = asked.partition(" ")[0].lower()
    for number, (kind, openings, form) in enumerate(_FORMS):
        if number == _BEFORE_KNOWS and first.startswith("who") and (topic := expert_topic(asked)):
            return HistoryQuestion(QuestionKind.KNOWS, without_article(topic))
        dig = _read(kind, form, asked) if first in openings.split() else None
        if dig is not None:
            return dig
    return None


def _read(kind: QuestionKind, form: re.Pattern[str], asked: str) -> HistoryQuestion | None:
    met = form.search(asked)
    if met is None:
        return None
    topic = without_article(met["topic"])
    return HistoryQuestion(kind, topic, (met.groupdict().get("deed") or "").lower()) if topic else None


def without_article(topic: str) -> str:
    """A matter without its article and its signs."""
    return _ARTICLE.sub("", topic.strip(_EDGES)).strip(_EDGES)


def expert_topic(question: str) -> str:
    """What a question for people asks about; "" if it is none."""
    found = _ASKS.search(" ".join(question.split()))
    return found["topic"].strip(" ?.!\"'`") if found else ""
