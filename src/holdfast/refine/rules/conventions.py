"""Finds sentences of people that say how things are done: candidates for rules.

People state conventions in ordinary words ("use table-driven tests"), so single sentences are
accepted easily; only what is said in several places becomes a pattern that may be proposed as a
rule. Sentences about the moment ("not yet", "for now", "option B") and pasted text are left out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import collapse_spaces, content_stems, is_chatter, plain, sentences
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.typed_text import MAX_TYPED_CHARS
from holdfast.regex import regex

_MIN_CHARS = 12
_MAX_CHARS = 300
# An order for the moment may be longer: only the means that it names are used.
_MAX_ORDER_CHARS = 2 * _MAX_CHARS
# Stems that a convention, or the means in an order, must have to be about something.
_MIN_STEMS = 2

# Words that may come before an order.
_LEAD_IN = (
    r"^(?:(?:ok(?:ay)?|yes|yeah|no|nope|right|good|great|perfect|thanks|well|also|and|but|so|btw|"
    r"important|note|remember|please|again|hey|actually|as i said|i (?:said|told you)|"
    r"continue|go ahead|i want you to|you (?:should|must|need to|have to)|make sure (?:to|that "
    r"you)|don['’]t forget to|remember to|we (?:should|must|need to|have to)|let['’]?s)"
    r"[,.:;!–—-]*\s+)*"
)
_GENERAL = regex(
    r"\bfrom (?:now|here|today) on\b|\bgoing forward\b|\bas a rule\b|\bby convention\b|"
    r"\bmake it a (?:rule|habit)\b|\b(?:the|our|house|project|team) (?:rule|"
    r"convention|policy) is\b|^(?:rule|convention|policy)\s*:|\bwe (?:always|never|don['’]t|do not|"
    r"no longer|only|use|prefer|avoid|write|name|put|keep)\b|\b(?:always|never)\b|\bmust(?:n['’]t| "
    r"not)?\b|\bshould(?:n['’]t| not| always| never| only)?\b|\bno exceptions?\b|\bat all times\b|"
    r"\b(?:i|we) (?:always |really |would )?prefer\b|\bis (?:not )?allowed\b|"
    r"\bwherever possible\b|"
    r"\bwhere possible\b",
    re.IGNORECASE,
)
_ORDERS = regex(
    _LEAD_IN
    + r"(?:always|never|do not|don['’]t|stop|avoid|only|use|prefer|stick (?:to|with)|follow|"
    r"keep|write|name|put|no [a-z-]+|use)\b",
    re.IGNORECASE,
)
_DECIDES = regex(
    r"\bwe(?:['’]ve| have)? (?:decided|agreed|settled|chose)\b|\bit (?:was|"
    r"is) (?:decided|agreed)\b|^decision\s*:|\bwe (?:go|went|are going|stick|stay) with\b|"
    r"\blet['’]?s (?:go|stick|stay) with\b",
    re.IGNORECASE,
)
_WHY_NOT = regex(
    r"^why (?:are|is|do|does|did)n['’]?t (?:we|you|it|this) (?:be )?(?:using?|writ(?:e|ing)|"
    r"follow(?:ing)?|run(?:ning)?)\b",
    re.IGNORECASE,
)
_MOMENTARY = regex(
    r"\b(?:yet|for now|right now|just now|this time|for the moment|in this case|today|tomorrow|"
    r"option [a-d1-9]|step \d|phase \d|task \d|this (?:pr|issue|branch|commit|file|"
    r"page|button|error|bug|plan)|the (?:plan|screenshot)|above|below|currently|i (?:think|guess|"
    r"wonder|see|get|can)|maybe|perhaps|seems?|same here|until|after (?:that|this)|next (?:step|"
    r"phase)|instead of that)\b|"
    r"https?://|^(?:it|this|that|there|he|she|they)\b",
    re.IGNORECASE,
)
_QUESTION = regex(
    r"^(?:what|how|when|who|where|which|is|are|does|did|can|could|would|should|will|have|has)\b",
    re.IGNORECASE,
)
_DESCRIBES = regex(
    r"\b(?:always|never) (?:been|seen|had|was|were|works?|worked|fails?|failed|returns?|happens?|"
    r"gets?|got|shows?|set|called|reached|empty|null|true|false)\b|"
    r"\bshould (?:be )?(?:fixed|fine|ok|"
    r"good|work|working|done|enough|now|have)\b|\bi (?:always|never)\b",
    re.IGNORECASE,
)
_DROPPED_LEAD = regex(
    r"^(?:(?:ok(?:ay)?|yes|yeah|no|nope|right|also|and|but|so|please|again|actually|remember(?: "
    r"that| to)?|continue|go ahead|btw|note(?: that)?|important|from now on|"
    r"going forward|as i said|i (?:said|told you)(?: to)?|i want you to|don['’]t forget to|make "
    r"sure (?:to|that you)|(?:the|our) (?:rule|convention|policy) is(?: that)?|we(?:['’]ve| have)? "
    r"(?:decided|agreed)(?: to| that| on)?|rule|convention|policy|decision)[,.:;!–—-]*\s+)+",
    re.IGNORECASE,
)
_MEANS = regex(r"\b(?:us(?:e|ing)|with|via|following)\s+((?:[\w/.'-]+[ ]?){1,6})", re.IGNORECASE)
_LINK_OR_TAIL = regex(r"\S*https?://\S*|\b(?:to|and|so|for|in|on|at|because)\b.*", re.IGNORECASE)
_DANGLING = regex(
    r"\b(?:it|this|that|these|those|them|here|there|above|below|i|my|me|mine)\b", re.IGNORECASE
)
# A person describes their own work, which is no order and no convention.
_OWN_WORK = regex(
    r"^(?:(?:and|but|so|also|however|well|currently|now|yes|no|ok)[, ]+)*"
    r"(?:i['’](?:m|ve|d|ll)|i (?:am|have|had|was|will|tried|use|used|want to|need to|would like|"
    r"understand|know|noticed|found)|we['’]re|we (?:are|were) \w+ing)\b",
    re.IGNORECASE,
)
# A cheap test: a text without any of these has no explicit convention. Few commits have.
_EXPLICIT_HINT = regex(
    r"from (?:now|here|today)|going forward|rule|convention|policy|habit|always|never|must|"
    r"exception|at all times|prefer|allowed|possible|decided|agreed|settled|chose|decision|"
    r"\bwe\b|let['’]?s|should",
    re.IGNORECASE,
)


# An identifier or a quotation at the start keeps its lower case.
_NAME = regex(r"[a-z]+(?:[A-Z_./-]|\d)|`")


class Convention(NamedTuple):
    """A sentence that says how things are done. `decides`: it settled one thing. `explicit`: it
    says that it holds from now on or for all. `quotable`: it is understood by itself. `about`: in
    an order for the moment, the means it names ("using the shared fixtures")."""

    text: str
    decides: bool = False
    explicit: bool = False
    quotable: bool = True
    about: str = ""


def find_conventions(text: str, explicit_only: bool = False) -> list[Convention]:
    """The sentences of a person's message that say how things are done. With `explicit_only`, only
    explicit ones, for prose that is mostly about other things."""
    if len(text) > MAX_TYPED_CHARS or (explicit_only and not _EXPLICIT_HINT.search(text)):
        return []
    found: list[Convention] = []
    for sentence in sentences(text):
        convention = _convention(sentence)
        if convention is not None and (convention.explicit or not explicit_only):
            found.append(convention)
        elif not explicit_only:
            found += _means_in_order(sentence)
    return found


def _means_in_order(sentence: str) -> list[Convention]:
    """The means that an order for the moment names; they may be the same every time."""
    words = plain(sentence)
    if not _MIN_CHARS <= len(words) <= _MAX_ORDER_CHARS or words.rstrip().endswith("?"):
        return []
    if _OWN_WORK.match(words):
        return []
    means = [_LINK_OR_TAIL.sub(" ", found) for found in _MEANS.findall(words)]
    return [
        Convention(sentence[:_MAX_CHARS], quotable=False, about=one)
        for one in means
        if len(content_stems(one)) >= _MIN_STEMS
    ]


def _convention(sentence: str) -> Convention | None:
    words = plain(sentence)
    if not _MIN_CHARS <= len(words) <= _MAX_CHARS or len(content_stems(words)) < _MIN_STEMS:
        return None
    if words.rstrip().endswith(":") or is_chatter(words):
        return None
    if words.rstrip().endswith("?") or _QUESTION.match(words):
        return Convention(sentence, quotable=False) if _WHY_NOT.match(words) else None
    if _MOMENTARY.search(words) or is_for_the_moment(words):
        return None
    if _DESCRIBES.search(words) or _OWN_WORK.match(words):
        return None
    decides = _DECIDES.search(words) is not None
    general, orders = _GENERAL.search(words), _ORDERS.match(words)
    if not (decides or general or orders):
        return None
    explicit = decides or (general is not None and "should" not in general.group(0).lower())
    return Convention(sentence, decides, explicit, not _DANGLING.search(words))


def as_rule(sentence: str) -> str:
    """A sentence as in a rule file: without its lead-in, with a capital letter and a full stop."""
    bare = _DROPPED_LEAD.sub("", collapse_spaces(sentence)).strip()
    bare = bare if len(bare) >= _MIN_CHARS else collapse_spaces(sentence)
    bare = bare[:1].upper() + bare[1:] if not _NAME.match(bare) else bare
    return bare if bare[-1:] in ".!。！)`" else f"{bare.rstrip(' ,;:')}."
