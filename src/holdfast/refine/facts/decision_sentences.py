"""Finds sentences that settle something (a decision, a rule, a rejection) and scores them.

Words like "instead of" occur in every second reply, so a weak hint alone is not enough: explicit
decisions count, and the words of a person or of a commit count more than those of an agent.
"""

from __future__ import annotations

import re

from holdfast.language import is_chatter, plain, sentences
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.refine.core.status_reports import reports_status
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS
from holdfast.regex import regex

# The strength from which a sentence counts as a decision: one explicit phrase, or an order that
# also rejects something.
MIN_STRENGTH = 1.0
# The strength from which a person's sentence is a decision of the project and not an aside: an
# explicit phrase or order, and one more hint.
FIRM_STRENGTH = 1.4


class DecisionWeights(NamedTuple):
    """What each hint adds to the strength of a sentence."""

    settles: float = 1.0  # an explicit phrase: "we decided", "from now on"
    binds: float = 0.6  # "always", "must", "only for"
    rejects: float = 0.4  # "instead of", "reverted"
    by_person: float = 0.5  # a person or a commit says it, not an agent
    gives_reason: float = 0.2


_WEIGHTS = DecisionWeights()
_MIN_SENTENCE_CHARS = 12
_MAX_SENTENCE_CHARS = 420
# A text up to this length that settles something is quoted whole: its other sentences say why.
_MAX_QUOTED_WHOLE_CHARS = 500
# Only this much of a text is read; it bounds the time spent on a long reply.
_MAX_TEXT_CHARS = 4000

_SETTLES = regex(
    r"\b(?:we(?:['’]ve| have)? (?:decided?|agreed|settled|chose|go with|stick with|stay with)|"
    r"we(?:['’]ll| will| are going to| should) (?:always|never|not|go with|stick with|stay with|"
    r"keep)|(?:was |is |been |has |legal |team )?decided (?:to|on|that|against|by)|"
    r"settled (?:on|that|for)|agreed(?:,| to| on| that|:)|from now on|going forward|"
    r"let['’]?s (?:go with|keep|stick with|drop|not)|by design|on purpose|deliberate(?:ly)?|"
    r"intentional(?:ly)?|the (?:rule|policy) (?:is|was)|for good|"
    r"non-negotiable|that way|no exceptions?|reject(?:ed|s)?|ruled out|supersed\w+|"
    r"tried and (?:reverted|dropped)|stays? (?:at|as|the same))\b|\b(?:decision|rule|policy)\s*:",
    re.IGNORECASE,
)
_BINDS = regex(
    r"\b(?:always|never|must(?:n['’]t| not)?|(?<!\bI )(?:do not|don['’]t)|may not|"
    r"has to|have to stay|remember(?: that| to)?|only (?:for|when|at|by|if|ever)|refuse[sd]?)\b",
    re.IGNORECASE,
)
_REJECTS = regex(
    r"\b(?:reject\w*|ruled? out|(?:is|are|was) out\b|against|not an option|never|must(?:n['’]t| "
    r"not)|(?<!\bI )(?:do not|don['’]t)|revert\w*|rolled back|(?:was|were|is) wrong|abandon\w*|"
    r"instead of|rather than|no longer|tried)\b|^no\b(?! (?:problem|worries|idea|change))",
    re.IGNORECASE,
)
_REASON = regex(
    r"\b(?:because|since|so that|otherwise|due to|which is why|the reason)\b|: ", re.IGNORECASE
)
_ORDERS = regex(
    r"(?:yes|no|ok|right|good)?[,.: ]*(?:and |but |please )?"
    r"(?:always|never|do not|don['’]t|remember|only|no [a-z]+s\b)",
    re.IGNORECASE,
)
_REPORT = regex(
    r"^(?:updated|replaced|changed|removed|added|renamed|fixed|switched|moved|created|implemented|"
    r"refactored|verified|confirmed|tests?\b|all \d+|✅|task\b)",
    re.IGNORECASE,
)


class DecisionSentence(NamedTuple):
    """A sentence that settles something; `explicit` if it has an explicit phrase or is an order.
    `position` is its number in the text."""

    sentence: str
    strength: float
    rejects: bool
    position: int
    explicit: bool = False


def find_decision_sentences(text: str, by_person: bool) -> list[DecisionSentence]:
    """The sentences of a text with any strength, in order. A short text with a decision in it is
    returned as one sentence, since its other sentences give the reasons."""
    typed = by_person and len(text) <= MAX_TYPED_CHARS
    text = text[:_MAX_TEXT_CHARS]
    found: list[DecisionSentence] = []
    if not _may_settle(text, typed):
        return found
    written = sentences(text)
    for position, sentence in enumerate(written):
        words = plain(sentence)
        strength = _strength(words, typed)
        if strength:
            rejects = _REJECTS.search(words) is not None
            explicit = bool(_SETTLES.search(words) or _ORDERS.match(words))
            found.append(DecisionSentence(sentence, strength, rejects, position, explicit))
    best = max((s.strength for s in found), default=0.0)
    if len(text) <= _MAX_QUOTED_WHOLE_CHARS and best >= MIN_STRENGTH:
        whole = " ".join(s for s in written if not (typed and reports_status(s)))
        rejects, explicit = any(s.rejects for s in found), any(s.explicit for s in found)
        return [DecisionSentence(whole, best, rejects, 0, explicit)]
    return found


def _may_settle(text: str, by_person: bool) -> bool:
    """A cheap test of the whole text, since most texts settle nothing."""
    if _SETTLES.search(text):
        return True
    binds, rejects = _BINDS.search(text), _REJECTS.search(text)
    return bool(binds or rejects) if by_person else bool(binds and rejects)


def _strength(sentence: str, by_person: bool) -> float:
    """The strength of a sentence; 0 if it settles nothing, as questions, reports of work and of
    who does it, and orders for the moment."""
    if not _MIN_SENTENCE_CHARS <= len(sentence) <= _MAX_SENTENCE_CHARS:
        return 0.0
    if sentence.rstrip().endswith(("?", ":")):
        return 0.0
    if not by_person and (is_chatter(sentence) or _REPORT.match(sentence)):
        return 0.0
    hints = (
        (_WEIGHTS.settles, _SETTLES.search(sentence)),
        (_WEIGHTS.binds, _BINDS.search(sentence)),
        (_WEIGHTS.rejects, _REJECTS.search(sentence)),
    )
    strength = sum(points for points, found in hints if found)
    if strength and (is_for_the_moment(sentence) or (by_person and reports_status(sentence))):
        return 0.0
    if not strength or (not by_person and not hints[0][1] and strength < MIN_STRENGTH):
        return 0.0
    strength += _WEIGHTS.by_person if by_person else 0.0
    return strength + (_WEIGHTS.gives_reason if _REASON.search(sentence) else 0.0)
