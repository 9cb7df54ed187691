"""What was asked, as the agent says it back before it begins: "I'll help you fix the video player's
size" is "Fix the video player's size".

A request may be rambling, a question, or mostly pasted; an agent that repeats it names the matter.
An agent that answers instead ("You need to restart the server") does not say the request back.
"""

from __future__ import annotations

import re

from holdfast.language import capitalize, content_stems, sentences, without_bold
from holdfast.refine.requests.headlines import short_links
from holdfast.refine.requests.telling_words import MIN_STEMS, telling_stems
from holdfast.regex import regex

# An agent that repeats a request does so in its first words.
_READ_CHARACTERS = 2_000
_READ_SENTENCES = 2
# So many telling words must be those of the request: else the agent speaks of something else.
_SHARED_STEMS = 2
# The headline of a request that is longer than this rambles, whatever it tells.
_LONG_HEADLINE = 90

_PLEASED = (
    r"^(?:(?:perfect|great|excellent|ok(?:ay)?|sure|absolutely|certainly|of course|good)\b"
    r"[\s!,.:—–-]*)*"
)
_SAID_BACK = regex(
    _PLEASED + r"(?:"
    r"(?:i['’]?ll|i (?:will|can)|let me|(?:i['’]d|i would|i['’]?ll) be (?:happy|glad) to|"
    r"i['’]m happy to) help(?: you)?(?: to| with| by)?|"
    r"i (?:understand|see)(?: that)? you(?:['’]d like| would like| want)(?: me| us)?(?: to)?|"
    r"(?:i (?:understand|see)(?: that)? )?you(?:['’]re| are) asking(?: me| us)? (?:to|about|for)|"
    r"te ayud(?:o|aré) a|je (?:vais )?(?:vous |t['’])aider(?:ai)? à|"
    r"ti aiut(?:o|erò) a|vou (?:te )?ajudar(?: você)? a|я помогу(?: вам| тебе)?"
    r")\s+(?P<matter>\S.+)",
    re.IGNORECASE,
)
# What the agent does first, or what it lacks, is no part of the matter.
_FIRST_STEP = regex(
    r"(?:[.;,:–—]\s*(?:(?:but|so|and)\s+)?|\s+(?:but|so|and)\s+)(?:first,? )?"
    r"(?:let me|let['’]s(?! encrypt)|i['’]ll)\b.*|[,;]? but (?:first,? )?i\b.*",
    re.IGNORECASE,
)
# "Add those scripts": which ones, only the request says.
_POINTS = regex(r"\b(?:this|that|these|those|it)\b", re.IGNORECASE)
_YOUR_OR_QUOTED = regex(r"\"[^\"]*\"|`[^`]*`|“[^”]*”|\byour\b(?! own\b|[-/.])", re.IGNORECASE)
# What must not be, or must stay: an agent that leaves it out has misread the request.
_RESTRICTS = regex(r"\b(?:\w+n['’]?t|not|never|keep|without|only|except)\b", re.IGNORECASE)
_ENDS = " .:;,!"


def restated_request(request: str, headline: str, reply: str) -> str:
    """A request in the words with which the agent's first reply says it back; "" if it does not, or
    if these tell less than the headline of the request."""
    for sentence in sentences(reply[:_READ_CHARACTERS])[:_READ_SENTENCES]:
        if said := _SAID_BACK.match(sentence):
            matter = without_bold(_FIRST_STEP.sub("", said["matter"])).rstrip(_ENDS)
            matter = short_links(_YOUR_OR_QUOTED.sub(_the, matter))
            if _tells(matter, request, headline):
                return capitalize(matter)
    return ""


def _the(found: re.Match[str]) -> str:
    return "the" if found[0].lower() == "your" else found[0]


def _tells(matter: str, request: str, headline: str) -> bool:
    stems, asked = telling_stems(matter), telling_stems(headline)
    if len(stems) < MIN_STEMS or len(stems & content_stems(request)) < _SHARED_STEMS:
        return False
    if _RESTRICTS.search(headline) and not _RESTRICTS.search(matter):
        return False
    if len(headline) > _LONG_HEADLINE or headline.endswith("?"):
        return len(stems) >= len(asked) or not _POINTS.search(matter)
    return len(stems) >= len(asked) and len(stems & asked) * 2 >= len(asked)
