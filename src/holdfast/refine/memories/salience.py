"""Whether a sentence or a title is worth retaining: it says something by itself, and for long.

Every function looks at one text alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.language import STOPWORDS, is_chatter, plain, sentences, stem, words
from holdfast.refine.facts.hypotheses import states_cause, states_fix
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.regex import regex

# Length of a sentence that may be retained. Longer ones are enumerations or narration, shorter ones
# need their context.
MAX_CHARS = 280
_MIN_CHARS = 30
# Stems, without stop words, that a sentence or a title needs to say what it is about.
_MIN_SENTENCE_STEMS = 6
_MIN_TITLE_STEMS = 3
# A rule says what holds in fewer: "Only squash merges", "Tests must run with pytest -x".
_MIN_RULE_CHARS = 14
_MIN_RULE_STEMS = 2

_CAUSE = regex(
    r"\b(?:root cause|the (?:real |actual )?(?:problem|issue|bug|cause|culprit) (?:is|was)|"
    r"caused by|turns? out|(?:happens|fails?|breaks|crash(?:es|ed)?) (?:when|because)|"
    r"was due to|the reason (?:is|was))\b",
    re.IGNORECASE,
)
_RULE = regex(
    r"\b(?:always|never|must(?: not|n['’]t)?|from now on|remember that|only ever|no longer|"
    r"the (?:rule|convention|policy) is|we(?:['’]ve| have)? (?:decided?|agreed|settled)|"
    r"let['’]s (?:go|stick|stay) with|by design|going forward)\b|^(?:do not|don['’]t) ",
    re.IGNORECASE,
)
_FIX_WORDS = ("fixed", "the fix ", "solved", "solution", "now works", "now pass")
# A short sentence needs a word at its start that makes a rule of it, or a subject that must.
_SHORT_RULE = regex(
    r"^(?:only|no (?!longer\b|more\b|need\b|idea\b|problem|worr)\w+s\b|(?:i |we )?prefer|"
    r"we (?:only|no longer)|never|always)\b|"
    r"^(?:all |every |each )?(?!something\b|someone\b|there\b|i\b|we\b|you\b|they\b|he\b|she\b)"
    r"[\w-]+(?: [\w-]+){0,3} must(?: not|n['’]t| never| always)? "
    r"(?!have\b|be (?:a|an|some|wrong)\b)",
    re.IGNORECASE,
)
_PREFERENCE = regex(r"(?:i |we )?prefer\b", re.IGNORECASE)
# About this moment: a complaint, a hope, the person or the agent themselves.
_PASSING = regex(
    r"\b(?:i|me|my|mine|your|seems?|feels?|currently|could|should|sometimes|theoretically|maybe|"
    r"might|whether|there (?:is|are) a|first edit|second edit|went through|this time|just now|"
    r"earlier|one test|scratch\w*)\b",
    re.IGNORECASE,
)
# Questions, guesses, or remarks about this conversation.
_CONVERSATION = regex(
    r"^(?:it|this|that|these|those|he|she|at the|go ahead|non-goals|summary|please|can you|"
    r"could you|would you|should i|shall|maybe|perhaps|i think|i guess|i'll|i will|let me|"
    r"let['’]s|now|next|then|and |but |so |also|wait|hmm|ok|yes|no\b|sorry|thanks|"
    r"you['’]?(?:re| are)? |see |look|what|why|how)\b|\?$|:$|…$|\b(?:above|below|"
    r"this (?:file|message|session|conversation)|as (?:you|i) (?:said|asked|mentioned))\b",
    re.IGNORECASE,
)
# Titles that only hand over work or report its progress.
_PROGRESS = regex(
    r"^(?:don['’]?t|do |it |i |when|at the|verify|there|this|that|these|yes|no,|all |is |are |"
    r"looks|review|commit|go |tell|ok |pr |pick up)|"
    r"\b(?:is|are) (?:now )?(?:complete|done|ready|fixed)\b|"
    r"\bcommit (?:and|it|this|them)\b|\bas well\b|\bbefore$|https?://|, drop ",
    re.IGNORECASE,
)
_VAGUE_CHANGE = regex(
    r"^\w+(?: (?:all|everything|and|both|it (?:and|all)|to the next|a plan|a pr|the bad)\b|"
    r"\s*[,:;—–-])|\bimports?\b|\bas well\b|https?://",
    re.IGNORECASE,
)
# Paths inside the project are relative to its root; any other lies outside of it.
_OUTSIDE = regex(r"^(?:[/~]|[A-Za-z]:[\\/])|[\\/]scratchpad[\\/]|\.claude[\\/]plans")
_NOISE = regex(r"^[\W\d_]|[{}<>|]|\\n|https?://|^\S+$")


def stems(text: str) -> frozenset[str]:
    """The stems of a text, without stop words."""
    return frozenset(stem(word) for word in words(plain(text)) if word not in STOPWORDS)


def is_worth_retaining(sentence: str) -> bool:
    """Whether a sentence says something by itself: long enough, specific, no chatter."""
    sentence = plain(sentence)
    if not _MIN_CHARS <= len(sentence) <= MAX_CHARS or is_chatter(sentence):
        return False
    if _CONVERSATION.search(sentence) or _NOISE.search(sentence):
        return False
    return len(stems(sentence)) >= _MIN_SENTENCE_STEMS


def may_name_cause(text: str) -> bool:
    """Whether a whole text may say what the cause of something was: a quick test before its
    sentences are read."""
    return _CAUSE.search(text) is not None


def names_cause(sentence: str) -> bool:
    """Whether a sentence says what the cause of something was."""
    return _CAUSE.search(plain(sentence)) is not None


def is_lasting_cause(sentence: str) -> bool:
    """Whether a sentence names a cause and will still be understood later."""
    return names_cause(sentence) and is_worth_retaining(sentence) and not _is_passing(sentence)


def _is_passing(sentence: str) -> bool:
    return _PASSING.search(plain(sentence)) is not None


def is_lasting_rule(sentence: str) -> bool:
    """Whether a sentence states a rule or a decision for good, not an order for now."""
    is_rule = _RULE.search(plain(sentence)) and not (
        _is_passing(sentence) or is_for_the_moment(sentence)
    )
    return bool(is_rule) and is_worth_retaining(sentence)


def is_short_rule(sentence: str) -> bool:
    """Whether a person's short sentence states a rule or a preference: it needs no more words."""
    if not _MIN_RULE_CHARS <= len(sentence) <= MAX_CHARS or not _SHORT_RULE.search(sentence):
        return False
    sentence = plain(sentence).strip()
    if sentence.endswith(("?", ":", "…")) or _NOISE.search(sentence) or is_chatter(sentence):
        return False
    return len(stems(sentence)) >= _MIN_RULE_STEMS and not is_for_the_moment(sentence)


def states_preference(sentence: str) -> bool:
    """Whether a person says what they prefer, rather than what must be."""
    return _PREFERENCE.match(plain(sentence).strip()) is not None


def causes_with_fix(text: str) -> Iterator[str]:
    """The statements of a text that name a cause and what ended it: one sentence, or one and the
    next."""
    # Most texts name no cause, and to cut one into sentences takes longer than to search it.
    low = text.lower()
    if not any(word in low for word in _FIX_WORDS) or not may_name_cause(low):
        return
    found = sentences(text)
    for number, sentence in enumerate(found):
        if not states_cause(sentence) or sentence.rstrip().endswith(("?", ":")):
            continue
        after = found[number + 1] if number + 1 < len(found) else ""
        if states_fix(sentence):
            yield sentence
        elif states_fix(after) and len(sentence) + len(after) < MAX_CHARS:
            yield f"{sentence} {after}"


def is_informative_title(title: str) -> bool:
    """Whether a title says what was worked on."""
    title = plain(title)
    says_nothing = _CONVERSATION.search(title) or _NOISE.search(title) or _PROGRESS.search(title)
    return not says_nothing and len(stems(title)) >= _MIN_TITLE_STEMS


def is_vague(change: str) -> bool:
    """Whether the description of a change ("Fixed everything …") does not say what was changed."""
    return _VAGUE_CHANGE.search(plain(change)) is not None


def is_outside_project(path: str) -> bool:
    """Whether a file lies outside of the project: a draft, or a person's own settings."""
    return _OUTSIDE.search(path) is not None
