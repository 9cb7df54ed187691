"""Recognises that an agent says something is not done yet."""

from __future__ import annotations

import re

from holdfast.language import plain
from holdfast.regex import regex

_FOR_LATER = (
    r"\b(?:todo|for later|(?:in|as) a (?:later|future|separate|follow-?up) \w+|follow-?ups?)\b"
)
_OPEN = regex(
    r"\b(?:todo|still (?:needs?|to (?:do|be)|open|missing|fails?)|remaining (?:work|tasks?|steps?|"
    r"issues?|gaps?|items?|failures?|blockers?)|remains? (?:to|open|un\w+)|follow-?ups?|"
    r"not (?:yet|done|implemented|included)|left (?:to do|for later|open|as a)|next steps?|"
    r"deferred (?:for|to|until|from)|(?:is|are|still) pending|(?:still|also) needs? to be|"
    r"future (?:work|pr|release))\b|" + _FOR_LATER,
    re.IGNORECASE,
)
# "0 remaining", "nothing is left to do": there is no task.
_NONE_LEFT = regex(
    r"\b(?:no|0|zero|nothing|none)\b[^.;]{0,40}\b(?:remain|left|open|pending|outstanding|todo|"
    r"follow-?ups?|needs? to be)",
    re.IGNORECASE,
)
_OPEN_LEAD = regex(
    r"^\W*(?:next steps?|remain(?:s|ing)|to-?dos?|follow-?ups?|later|open|future|left|deferred|"
    r"not (?:yet )?(?:done|included))\b",
    re.IGNORECASE,
)
_DONE = regex(
    r"^\W*(?:i(?:['’]ve| have)? )?(?:successfully )?(?:added|implemented|created|updated|removed|"
    r"replaced|renamed|merged|pushed|committed|opened|completed|fixed|moved|switched|refactored|"
    r"wrote|built|extended|migrated|cleaned|changed|converted|modified|simplified|enabled|disabled|"
    r"published|deleted|deprecated|dropped|extracted|documented|wired|upgraded|restored|improved|"
    r"aligned|all )|"
    r"^\W*i(?:['’]ve| have) (?:successfully |now |also )?\w+ed\b|"
    r"\b(?:is|are|has been|have been) (?:now )?(?:complete|done|merged|pushed|green|passing|ready|"
    r"live|published|committed|open|fixed|resolved)\b|\btests? pass|\bPR #?\d+|\bcommitted\b",
    re.IGNORECASE,
)


def is_left_open(lead: str, text: str) -> bool:
    """Whether a text below a lead says that something is not done yet."""
    text = plain(text)
    if _OPEN_LEAD.match(lead) is None and _OPEN.search(text) is None:
        return False
    return _DONE.search(text) is None and _NONE_LEFT.search(text) is None
