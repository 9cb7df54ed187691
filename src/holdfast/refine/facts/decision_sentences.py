"""Sentences that settle something: a decision, a rule, a rejection; and how much they do.

A word like "instead of" stands in every second reply, so no single hint is enough: what was
settled in so many words counts, and a person's words or a commit's count more than an agent's.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import is_chatter, plain, sentences, squeeze

# What a sentence must reach to count as a ruling.
MIN_STRENGTH = 1.0
# What one of a person must reach to be a decision of the project, and not an aside.
FIRM_STRENGTH = 1.4
_LONGEST = 420
_SHORT = 500
_READ = 4000
# A longer message of a person is pasted: a plan, a log, orders for an agent.
_TYPED = 1500

_SETTLES = re.compile(
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
_BINDS = re.compile(
    r"\b(?:always|never|must(?:n['’]t| not)?|(?<!\bI )(?:do not|don['’]t)|may not|"
    r"has to|have to stay|remember(?: that| to)?|only (?:for|when|at|by|if|ever)|refuse[sd]?)\b",
    re.IGNORECASE,
)
_REJECTS = re.compile(
    r"\b(?:reject\w*|ruled? out|(?:is|are|was) out\b|against|not an option|never|must(?:n['’]t| "
    r"not)|(?<!\bI )(?:do not|don['’]t)|revert\w*|rolled back|(?:was|were|is) wrong|abandon\w*|"
    r"instead of|rather than|no longer|tried)\b|^no\b(?! (?:problem|worries|idea|change))",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|otherwise|due to|which is why|the reason)\b|: ", re.IGNORECASE
)
_ORDERS = re.compile(
    r"(?:yes|no|ok|right|good)?[,.: ]*(?:and |but |please )?"
    r"(?:always|never|do not|don['’]t|remember|only|no [a-z]+s\b)",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"^(?:updated|replaced|changed|removed|added|renamed|fixed|switched|moved|created|implemented|"
    r"refactored|verified|confirmed|tests?\b|all \d+|✅|task\b)",
    re.IGNORECASE,
)


class DecisionSentence(NamedTuple):
    """A sentence that settles something: `outright` in so many words, or as an order. `place`
    is where in its text it stands."""

    sentence: str
    strength: float
    rejects: bool
    position: int
    explicit: bool = False


def find_decision_sentences(text: str, by_person: bool) -> list[DecisionSentence]:
    """The sentences of a text that settle something, or come near to it, in their order. A short
    text in which something is settled is one ruling: its other sentences say why."""
    typed = by_person and len(text) <= _TYPED
    text = text[:_READ]
    found: list[DecisionSentence] = []
    if not _may_settle(text, typed):
        return found
    for place, sentence in enumerate(sentences(text)):
        strength = _strength(sentence, typed)
        if strength:
            rejects = _REJECTS.search(sentence) is not None
            outright = bool(_SETTLES.search(sentence) or _ORDERS.match(sentence))
            found.append(DecisionSentence(sentence, strength, rejects, place, outright))
    best = max((ruling.strength for ruling in found), default=0.0)
    if len(text) <= _SHORT and best >= MIN_STRENGTH:
        whole = squeeze(plain(text))
        rejects, outright = any(r.rejects for r in found), any(r.explicit for r in found)
        return [DecisionSentence(whole, best, rejects, 0, outright)]
    return found


def _may_settle(text: str, by_person: bool) -> bool:
    """Whether it is worth taking a text apart: most say nothing of the kind."""
    if _SETTLES.search(text):
        return True
    binds, rejects = _BINDS.search(text), _REJECTS.search(text)
    return bool(binds or rejects) if by_person else bool(binds and rejects)


def _strength(sentence: str, by_person: bool) -> float:
    """0 for what settles nothing; a question or a report of work never does."""
    if not 12 <= len(sentence) <= _LONGEST or sentence.rstrip().endswith(("?", ":")):
        return 0.0
    if not by_person and (is_chatter(sentence) or _REPORT.match(sentence)):
        return 0.0
    hints = (
        (1.0, _SETTLES.search(sentence)),
        (0.6, _BINDS.search(sentence)),
        (0.4, _REJECTS.search(sentence)),
    )
    strength = sum(points for points, found in hints if found)
    if not strength or (not by_person and not hints[0][1] and strength < MIN_STRENGTH):
        return 0.0
    return strength + (0.5 if by_person else 0.0) + (0.2 if _REASON.search(sentence) else 0.0)
