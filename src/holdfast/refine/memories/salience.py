"""Whether words are worth retaining: what says something by itself, and lastingly.

Everything here is a judgement about a sentence or a title, without looking at anything else.
"""

from __future__ import annotations

import re

from holdfast.language import STOPWORDS, is_chatter, stem, words

LONGEST = 280
_SHORTEST = 30
_LEAST_ROOTS = 6

_CAUSE = re.compile(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|culprit) (?:is|was)|"
    r"caused by|turns? out|(?:happens|fails?|breaks|crash(?:es|ed)?) (?:when|because)|"
    r"was due to|the reason (?:is|was))\b",
    re.IGNORECASE,
)
_LAYS_DOWN = re.compile(
    r"\b(?:always|never|must(?: not|n['’]t)?|from now on|remember that|only ever|no longer|"
    r"the (?:rule|convention|policy) is|we(?:['’]ve| have)? (?:decided?|agreed|settled)|"
    r"let['’]s (?:go|stick|stay) with|by design|going forward)\b|^(?:do not|don['’]t) ",
    re.IGNORECASE,
)
# What is about this moment: a complaint, a hope, the person or the agent themselves.
_PASSING = re.compile(
    r"\b(?:i|me|my|mine|your|seems?|feels?|currently|could|should|sometimes|theoretically|maybe|"
    r"might|whether|there (?:is|are) a|first edit|second edit|went through|this time|just now|"
    r"earlier|one test|scratch\w*)\b",
    re.IGNORECASE,
)
# Asking, guessing, or speaking of this very conversation.
_IDLE = re.compile(
    r"^(?:it|this|that|these|those|he|she|at the|go ahead|non-goals|summary|please|can you|"
    r"could you|would you|should i|shall|maybe|perhaps|i think|i guess|i'll|i will|let me|"
    r"let['’]s|now|next|then|and |but |so |also|wait|hmm|ok|yes|no\b|sorry|thanks|"
    r"you['’]?(?:re| are)? |see |look|what|why|how)\b|\?$|:$|…$|\b(?:above|below|"
    r"this (?:file|message|session|conversation)|as (?:you|i) (?:said|asked|mentioned))\b",
    re.IGNORECASE,
)
# What a person says when work is handed over, and titles that tell only how it stood.
_STATE = re.compile(
    r"^(?:don['’]?t|do |it |i |when|at the|verify|there|this|that|these|yes|no,|all |is |are |"
    r"looks|review|commit|go |tell|ok |pr |pick up)|"
    r"\b(?:is|are) (?:now )?(?:complete|done|ready|fixed)\b|"
    r"\bcommit (?:and|it|this|them)\b|\bas well\b|\bbefore$|https?://|, drop ",
    re.IGNORECASE,
)
_VAGUE_DEED = re.compile(
    r"^\w+(?: (?:all|everything|and|both|it (?:and|all)|to the next|a plan|a pr|the bad)\b|"
    r"\s*[,:;—–-])|\bimports?\b|\bas well\b|https?://",
    re.IGNORECASE,
)
# Paths inside the project are told from its root; any other lies outside of it.
_OUTSIDE = re.compile(r"^(?:[/~]|[A-Za-z]:[\\/])|[\\/]scratchpad[\\/]|\.claude[\\/]plans")
_NOISE = re.compile(r"^[\W\d_]|[{}<>|]|\\n|https?://|^\S+$")


def roots(text: str) -> frozenset[str]:
    """The stems of a text's telling words."""
    return frozenset(stem(word) for word in words(text) if word not in STOPWORDS)


def is_worth(sentence: str) -> bool:
    """Whether a sentence says something by itself: long enough, about something, no chatter."""
    if not _SHORTEST <= len(sentence) <= LONGEST or is_chatter(sentence):
        return False
    if _IDLE.search(sentence) or _NOISE.search(sentence):
        return False
    return len(roots(sentence)) >= _LEAST_ROOTS


def names_cause(text: str) -> bool:
    """Whether a text says what the cause of something was."""
    return _CAUSE.search(text) is not None


def is_lasting_cause(sentence: str) -> bool:
    """Whether a sentence names a cause, and will still mean something later."""
    return names_cause(sentence) and is_worth(sentence) and not _PASSING.search(sentence)


def lays_down(sentence: str) -> bool:
    """Whether a sentence lays something down for good: a rule, a decision; not an order for now."""
    return (
        bool(_LAYS_DOWN.search(sentence)) and is_worth(sentence) and not _PASSING.search(sentence)
    )


def is_telling_title(title: str) -> bool:
    """Whether a title tells what was worked on."""
    idle = _IDLE.search(title) or _NOISE.search(title) or _STATE.search(title)
    return not idle and len(roots(title)) >= 3


def is_vague(deed: str) -> bool:
    """Whether a deed ("Fixed everything …") does not say what it was done to."""
    return _VAGUE_DEED.search(deed) is not None


def is_outside(path: str) -> bool:
    """Whether a file lies outside of the project: a draft, or settings of the person's own."""
    return _OUTSIDE.search(path) is not None
