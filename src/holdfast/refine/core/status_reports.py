"""Recognises a person's report on who does what and how far it got: "ada. taking over the double
alerts", "he ruled out the gateway; always 60 min apart". It tells the state of some work, so it is
no rule and no decision, whatever words of rules are in it.

Patterns are English.
"""

from __future__ import annotations

import re

from holdfast.language import plain
from holdfast.regex import regex

# Who speaks, before what they report: "ada.", "ben here on ada's machine:", "hi, it's ben".
_WHO = (
    r"(?:(?:hi|hey|hello|ok(?:ay)?|so)[,.! ]+)*"
    r"(?:(?:it['’]s |this is )?[^\W\d_]{2,12}(?: here)?"
    r"(?: (?:on|at) [^.,:]{2,30})?[.,:]\s+)?"
)
# What somebody is about to do with the work at hand.
_DOES = (
    r"(?:i(?:['’]m| am) )?(?:now |just )?(?:taking (?:over|this)|picking (?:up|this)|"
    r"continuing|carrying on|resuming|handing (?:over|this|it)|stepping in|filling in|"
    r"covering for|working on|looking (?:at|into)|back (?:on|at|to|with))\b"
)
# What somebody else did, found or saw so far.
_DID = (
    r"(?:he|she|they)(?:['’]s| has| have| had)? (?:already |just |also |only )?(?:ruled out|"
    r"tried|checked|looked|tested|found|saw|noticed|reported|started|worked|debugged|investigated|"
    r"suspect(?:s|ed)|thinks?|got (?:as far|stuck)|(?:is|are|was|were) (?:on|at|working|looking))"
    r"\b|"
    r"[^\W\d_]{2,12} (?:has |had |already )?(?:took over|takes over|is taking over|handed over|"
    r"is on (?:it|this|that)|(?:tried|checked|looked into|debugged|investigated) )"
)
_REPORTS = regex(f"^{_WHO}(?:{_DOES}|{_DID})", re.IGNORECASE)
# Whoever says this lays something down, whatever else they report.
_LAYS_DOWN = regex(
    r"^\W*(?:rule|convention|policy|decision)\b[^.!?\n]{0,40}:|"
    r"\b(?:from (?:now|today|here) on(?:wards?)?|going forward|we(?:['’]ve| have)? (?:decided|"
    r"agreed|settled)|must(?:n['’]t| not)?|should|needs?|requires?)\b",
    re.IGNORECASE,
)


def reports_status(sentence: str) -> bool:
    """Whether a person's sentence only reports who does what, or what somebody did so far."""
    words = plain(sentence).strip()
    return _REPORTS.match(words) is not None and not _LAYS_DOWN.search(words)
