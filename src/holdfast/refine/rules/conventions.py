"""Sentences of people that say how things are done: what may become a rule if it is said again.

A habit shows in ordinary words ("use table-driven tests"), so single sentences are taken easily;
that the same is said in three different places is what makes one of them a rule. What is about
this moment alone ("not yet", "for now", "option B") is left out, and so is what was pasted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import is_chatter, plain, sentences, squeeze, telling

# A longer message is pasted: a plan, a log, orders for an agent.
TYPED = 1500
_SHORTEST = 12
_LONGEST = 300
_LEAST_STEMS = 2

_POLITE = (
    r"^(?:(?:ok(?:ay)?|yes|yeah|no|nope|right|good|great|perfect|thanks|well|also|and|but|so|btw|"
    r"important|note|remember|please|again|hey|actually|as i said|i (?:said|told you)|"
    r"continue|go ahead|i want you to|you (?:should|must|need to|have to)|make sure (?:to|that "
    r"you)|don['’]t forget to|remember to|we (?:should|must|need to|have to)|let['’]?s)"
    r"[,.:;!–—-]*\s+)*"
)
_STANDS = re.compile(
    r"\bfrom (?:now|here|today) on\b|\bgoing forward\b|\bas a rule\b|\bby convention\b|"
    r"\bmake it a (?:rule|habit)\b|\b(?:the|our|house|project|team) (?:rule|"
    r"convention|policy) is\b|"
    r"^(?:rule|convention|policy)\s*:|\bwe (?:always|never|don['’]t|do not|no longer|only|use|"
    r"prefer|avoid|write|name|put|keep)\b|\b(?:always|never)\b|\bmust(?:n['’]t| not)?\b|"
    r"\bshould(?:n['’]t| not| always| never| only)?\b|\bno exceptions?\b|\bat all times\b|"
    r"\b(?:i|we) (?:always |really |would )?prefer\b|\bis (?:not )?allowed\b|"
    r"\bwherever possible\b|"
    r"\bwhere possible\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    _POLITE
    + r"(?:always|never|do not|don['’]t|stop|avoid|only|use|prefer|stick (?:to|with)|follow|"
    r"keep|write|name|put|no [a-z-]+|use)\b",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"\bwe(?:['’]ve| have)? (?:decided|agreed|settled|chose)\b|\bit (?:was|"
    r"is) (?:decided|agreed)\b|"
    r"^decision\s*:|\bwe (?:go|went|are going|stick|stay) with\b|\blet['’]?s (?:go|"
    r"stick|stay) with\b",
    re.IGNORECASE,
)
_WHY_NOT = re.compile(
    r"^why (?:are|is|do|does|did)n['’]?t (?:we|you|it|this) (?:be )?(?:using?|writ(?:e|ing)|"
    r"follow(?:ing)?|run(?:ning)?)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:yet|for now|right now|just now|this time|for the moment|in this case|today|tomorrow|"
    r"option [a-d1-9]|step \d|phase \d|task \d|this (?:pr|issue|branch|commit|file|"
    r"page|button|error|"
    r"bug|plan)|the (?:plan|screenshot)|above|below|currently|i (?:think|guess|wonder|see|get|can)|"
    r"maybe|perhaps|seems?|same here|until|after (?:that|this)|next (?:step|phase)|"
    r"instead of that)\b|"
    r"https?://|^(?:it|this|that|there|he|she|they)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:what|how|when|who|where|which|is|are|does|did|can|could|would|should|will|have|has)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:always|never) (?:been|seen|had|was|were|works?|worked|fails?|failed|returns?|happens?|"
    r"gets?|got|shows?|set|called|reached|empty|null|true|false)\b|"
    r"\bshould (?:be )?(?:fixed|fine|ok|"
    r"good|work|working|done|enough|now|have)\b|\bi (?:always|never)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|no|nope|right|also|and|but|so|please|again|actually|remember(?: "
    r"that| to)?|continue|go ahead|btw|note(?: that)?|important|from now on|"
    r"going forward|as i said|"
    r"i (?:said|told you)(?: to)?|i want you to|don['’]t forget to|make sure (?:to|that you)|"
    r"(?:the|our) (?:rule|convention|policy) is(?: that)?|we(?:['’]ve| have)? (?:decided|agreed)"
    r"(?: to| that| on)?|rule|convention|policy|decision)[,.:;!–—-]*\s+)+",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\b(?:us(?:e|ing)|with|via|following)\s+((?:[\w/.'-]+[ ]?){1,6})", re.IGNORECASE
)
_LINK = re.compile(r"\S*https?://\S*|\b(?:to|and|so|for|in|on|at|because)\b.*", re.IGNORECASE)
_DANGLING = re.compile(
    r"\b(?:it|this|that|these|those|them|here|there|above|below|i|my|me|mine)\b", re.IGNORECASE
)
# Somebody tells of their own work, which is no order and no custom.
_REPORTS = re.compile(
    r"^(?:(?:and|but|so|also|however|well|currently|now|yes|no|ok)[, ]+)*"
    r"(?:i['’](?:m|ve|d|ll)|i (?:am|have|had|was|will|tried|use|used|want to|need to|would like|"
    r"understand|know|noticed|found)|we['’]re|we (?:are|were) \w+ing)\b",
    re.IGNORECASE,
)


# What a text must hold somewhere for a sentence of it to say so outright; nearly no commit does.
_FIRM = re.compile(
    r"from (?:now|here|today)|going forward|rule|convention|policy|habit|always|never|must|"
    r"exception|at all times|prefer|allowed|possible|decided|agreed|settled|chose|decision|"
    r"\bwe\b|let['’]?s|should",
    re.IGNORECASE,
)


class Convention(NamedTuple):
    """A sentence that says how things are done; `decides` if it settled one thing, `firm` if it
    says that it holds from now on or for all, `quotable` if it can stand by itself. Of one that
    is only told by the way, `about` is what to do it with."""

    text: str
    decides: bool = False
    explicit: bool = False
    quotable: bool = True
    about: str = ""


def find_conventions(text: str, explicit_only: bool = False) -> list[Convention]:
    """The sentences of a person's message that say how things are done; `firmly` takes only those
    that say so outright, as for prose that tells of much else."""
    if len(text) > TYPED or (explicit_only and not _FIRM.search(text)):
        return []
    found: list[Convention] = []
    for sentence in sentences(text):
        said = squeeze(plain(sentence))
        convention = _convention(said)
        if convention is not None and (convention.explicit or not explicit_only):
            found.append(convention)
        elif not explicit_only:
            found += _by_the_way(said)
    return found


def _by_the_way(said: str) -> list[Convention]:
    """What an order for this moment says of the means, which may be the same every time."""
    if not _SHORTEST <= len(said) <= 2 * _LONGEST or said.rstrip().endswith("?"):
        return []
    if _REPORTS.match(said):
        return []
    means = [_LINK.sub(" ", found) for found in _MEANS.findall(said)]
    return [
        Convention(said[:_LONGEST], quotable=False, about=one)
        for one in means
        if len(telling(one)) >= _LEAST_STEMS
    ]


def _convention(said: str) -> Convention | None:
    if not _SHORTEST <= len(said) <= _LONGEST or len(telling(said)) < _LEAST_STEMS:
        return None
    if said.rstrip().endswith(":") or is_chatter(said):
        return None
    if said.rstrip().endswith("?") or _ASKS.match(said):
        return Convention(said, quotable=False) if _WHY_NOT.match(said) else None
    if _MOMENT.search(said) or _TELLS.search(said) or _REPORTS.match(said):
        return None
    decides = _SETTLES.search(said) is not None
    stands, orders = _STANDS.search(said), _ORDERS.match(said)
    if not (decides or stands or orders):
        return None
    firm = decides or (stands is not None and "should" not in stands.group(0).lower())
    return Convention(said, decides, firm, not _DANGLING.search(said))


def as_rule(said: str) -> str:
    """A sentence as it would stand in a file of rules: without what only led up to it, with a
    capital and a full stop."""
    bare = _LEAD.sub("", squeeze(said)).strip()
    bare = bare if len(bare) >= _SHORTEST else squeeze(said)
    bare = bare[:1].upper() + bare[1:] if not _NAME.match(bare) else bare
    return bare if bare[-1:] in ".!。！)`" else f"{bare.rstrip(' ,;:')}."


_NAME = re.compile(r"[a-z]+(?:[A-Z_./-]|\d)|`")
