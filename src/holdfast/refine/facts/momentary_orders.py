"""Recognises what is said for the moment: an order that is carried out once ("write tests for
checkout"), put off ("don't create a PR just yet") or a choice among what was just shown ("option
B"). It lays nothing down, so it is no rule, no decision and no pattern.

Patterns are English. A sentence that says that it lasts ("from now on", "we decided", "never") is
never for the moment.
"""

from __future__ import annotations

import re

from holdfast.language import plain
from holdfast.regex import regex

_LASTS = regex(
    r"\b(?:always|never(?! ?mind)|from (?:now|today|here|this point) on(?:wards?)?|going forward|"
    r"(?:as of|starting|effective) (?:now|today|tomorrow)|"
    r"in (?:the )?future|every|each|whenever|as a rule|by default|by convention|no longer|"
    r"any ?more|we(?:['’]ve| have)? (?:just )?(?:decided|agreed|settled)|"
    r"(?:was|is|been) (?:decided|agreed)|remember (?:that|to)|"
    r"(?:the|our|new|house|project|team) (?:rule|convention|policy))\b|"
    r"^(?:rule|convention|policy|decision)\s*:",
    re.IGNORECASE,
)
# Not now, or only now.
_NOW = regex(
    r"(?:\bnot|n['’]?t|\bnothing|\bjust) (?:[\w'’]+ ){0,6}?(?:yet|now)\b|"
    r"(?:\bnot|n['’]?t) (?:[\w'’]+ ){1,4}?until (?:i|we|you|it|that|this)\b|"
    r"\b(?:for now|right now|just now|"
    r"this (?:time|once)|for the (?:moment|time being)|today|tonight|tomorrow|"
    r"(?:for|in|with) (?:this|that) (?:pr|pull request|mr|commit|branch|task|session|step|turn|"
    r"change|run)|before you (?:start|continue|go on))\b",
    re.IGNORECASE,
)
# A choice among what was just shown, unless the sentence also says what was chosen.
_CHOICE = regex(
    r"\b(?:option|variant|alternative|choice|approach|proposal) (?:#?\d|[b-e]|(?-i:A))\b"
    r"(?!\s*[:(–—]|\s*,\s*(?-i:[A-Z`]))|"
    r"\bthe (?:first|second|third|fourth|last|former|latter|other) "
    r"(?:one|option|variant|alternative|choice|approach|proposal|suggestion|way)\b|"
    r"\bthe (?:former|latter)\b[.!, ]*$",
    re.IGNORECASE,
)
_FORBIDS = r"\b(?:don['’]?t|do not|no need to)\s+(?:just |even |also |please )?"
_CLAUSE_END = (
    r"(?=\s*(?:$|[,.;:!?)–—])|\s+(?:for this|for that|and|but|just|only|here|please|because|since|"
    r"so)\b)"
)
# Not to do a step of the work at hand, or something with what was just spoken of.
_HELD_BACK = regex(
    _FORBIDS + r"(?:(?:commit|push|merge|deploy|release|publish|submit|start|begin|stop|continue|"
    r"proceed|implement|build|code|run|execute)|"
    r"(?:take (?:any )?actions?(?: beyond .+)?|jump (?:in)?to .{1,30}|gaslight me)|"
    r"(?:\w+ or )?\w+ (?:it|this|that|them|these|those|anything|"
    r"(?:any |the )?(?:code|files?|changes)|(?:that|this|those|these) [\w./-]+|"
    r"(?:an?|the|any|another) (?:new )?(?:pr|pull request|mr|merge request|branch|commit|release|"
    r"issue|ticket|plan)))" + _CLAUSE_END,
    re.IGNORECASE,
)
# The form of the answer at hand.
_ANSWERS = regex(
    r"(?:^|[.!?\]] )(?:please |just |only )?(?:reply|respond|answer) (?:only |just )?with "
    r"(?:only|just|exactly|the exact|a single|one word|yes or no)\b|"
    r"\b(?:do not|don['’]?t) (?:add|include|write|output|return) (?:any )?"
    r"(?:markdown|explanations?|commentary|preamble|code fences?)\b",
    re.IGNORECASE,
)
# Not to do something before the person had a look.
_LOOKS_FIRST = regex(
    _FORBIDS + r".*\b(?:i (?:want|need|have|would like)|i['’]d like|let me)(?: to)? "
    r"(?:first )?(?:have a look|look|see|check|review|test|think|read|try|verify|decide)\b",
    re.IGNORECASE,
)
# The verb of a task, and how its object goes on up to the end of the clause.
_TASK = regex(
    r"^(?:(?:ok(?:ay)?|yes|no|now|then|next|so|and|also|please|pls|hi|hey|let['’]?s|you should|"
    r"can you|could you)[,.:! ]+)*(?:write|add|create|make|build|implement|draft|prepare|generate|"
    r"set up)\s+(?P<object>[^,.;:!?]+)",
    re.IGNORECASE,
)
# Steps of the work at hand, one after the other: "run the tests", "adb install, then verify".
_STEP = regex(
    r"^\W*(?:(?:ok(?:ay)?|yes|now|next|so|also|again|please|pls|let['’]?s|i)\b[.:! ]*)*"
    r"(?:run|rerun|install|reinstall|verify|commit|push|build|rebuild|continue|retry|restart|reload|"
    r"take (?:an? )?(?:new |another )?(?:screen\w*|picture)|adb \w+|git \w+|npm (?:run |i)\w*|"
    r"(?:check|test) (?:it|this|that|again|the (?:app|build|logs?|output))|"
    r"don['’]?t see (?:a|any) (?:change|difference)|see (?:a|no) (?:change|difference))\b"
    r"(?: (?:it|this|that|them|all|the|your|my|our|tests?|suite|app|apk|build|server|changes?|code|"
    r"everything|again|first|once|more|latest|new|debug|screen\w*|locally|status|up|i see))*\W*$",
    re.IGNORECASE,
)
_OPENING = regex(
    r"\W*(?:ok(?:ay)?|yes|now|next|so|also|please|great|good|thanks)\W*$", re.IGNORECASE
)
_BETWEEN_STEPS = regex(r"[,;.]|\b(?:and|then)\b", re.IGNORECASE)
_ONE_THING = regex(r"^(?:an?|some|me|us|another|it|this|that|up|down|out)\b|\bfor\b", re.IGNORECASE)
_SEVERAL = regex(r"\b(?:all|any|new|public|only|must)\b|(?<!s)s$", re.IGNORECASE)


def is_for_the_moment(sentence: str) -> bool:
    """Whether a sentence only says what is to be done, chosen or left now."""
    words = plain(sentence).strip()
    if _LASTS.search(words):
        return False
    if any(p.search(words) for p in (_NOW, _CHOICE, _HELD_BACK, _ANSWERS, _LOOKS_FIRST)):
        return True
    return _is_task(words)


def orders_steps(sentence: str) -> bool:
    """Whether a sentence orders the next steps of the work at hand and nothing else: a number may
    be what is to hold ("install pnpm 9")."""
    words = plain(sentence).strip()
    if _LASTS.search(words) or any(map(str.isdigit, words)):
        return False
    parts = _BETWEEN_STEPS.split(words)
    steps = [part for part in parts if part.strip() and not _OPENING.match(part)]
    return bool(steps) and all(map(_STEP.match, steps))


def _is_task(words: str) -> bool:
    """Whether a sentence orders one thing to be made: "write tests for checkout", unlike "write
    tests for public functions"."""
    task = _TASK.match(words)
    if task is None:
        return False
    made = task["object"].strip()
    return _ONE_THING.search(made) is not None and _SEVERAL.search(made) is None
