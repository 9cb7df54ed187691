"""The junk gate: what is worth to be a fact, and why the rest is not.

What nobody could act on later is dropped, with its reason: too few words, words that only point
("do it like that"), an order for the moment, talk about oneself, pasted text.
"""

from __future__ import annotations

import re
from enum import StrEnum

from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.refine.core.statement_similarity import statement_features, tokens
from holdfast.refine.facts.directives import typed_text


class JunkReason(StrEnum):
    """Why a claim is no fact."""

    SHORT = "short"
    VAGUE = "vague"
    ONE_OFF = "one_off"
    TALK = "talk"
    PASTED = "pasted"
    DUPLICATE = "duplicate"
    UNPROVEN = "unproven"


LONGEST = 320
_SHORTEST = 14
_OWN_SHARE = 0.2
_ONE_OFF = re.compile(
    r"\b(?:right now|for now|just now|again now|(?:just|not|only) yet|this (?:time|once|session|"
    r"task|pr|"
    r"change|turn)|in this (?:step|session|task|turn|pr|commit)|for (?:this|the) (?:moment|task|"
    r"session)|"
    r"today|tonight|tomorrow|once more|one more time|try again|run it again|until i|before you "
    r"(?:start|"
    r"continue|go on)|first,? (?:let|do|read|look)|then (?:commit|push|stop|tell)|wait for|"
    r"just (?:a|do|the|commit|write|answer|tell|give)|jetzt gleich|diesmal|pour l['’]instant|por "
    r"ahora|"
    r"per ora|por enquanto|voorlopig|пока что)\b|\b(?:now|again|jetzt|nochmal)[.! ]*$|今回|这次|"
    r"이번",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^(?:i['’]m|i am|i was|i think|i guess|i['’]ve been|i had|i feel|i hope|i wonder|thanks|thank "
    r"you|"
    r"sorry|hm+|haha)\b|"
    r"\b(?:can|could|would) you (?:help|please|tell|explain|give)|\bhelp me\b|\bi['’]?m (?:kinda|"
    r"not sure|"
    r"curious|wondering|trying|worried|unsure|hoping)|\bwhat do you think\b|\bi wanna\b|\bwas that "
    r"a good\b",
    re.IGNORECASE,
)
_POINTS = frozenset(
    "it that this them those these thing things stuff way like same here there one ones do did "
    "done make "
    "made use used using work works working keep way fine good better best ok sure well go run try "
    "put "
    "get check look see think say tell read write change fix add please yes no".split()
)
_ANAPHORA = re.compile(
    r"\bit\b|\b(?:that way|like (?:that|this))\b|"
    r"\b(?:there|them|those|these|this)\b(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:we|always|never|every|all|each|any|should|must|shall|convention|rule|policy|by default|"
    r"everywhere|prefer|no longer|do not|don['’]t|wir|nous|on|hemos|abbiamo)\b",
    re.IGNORECASE,
)
# A command tells something, though its words ("make", "run", "check") would not.
_COMMAND = re.compile(
    r"`[^`\s]+(?: [^`]+)?`|"
    r"\b(?:make|just|task|npm|pnpm|yarn|bun|npx|cargo|go|uv|poetry|tox|nox|rake|gradle|mvn|dotnet|"
    r"composer|bundle|docker) (?:run |exec )?(?:check|tests?|lint|build|fmt|format|vet|verify|ci|"
    r"typecheck|clean|install|generate|pytest|ruff|clippy)\b"
    r"(?! (?:pass|green|work|run)(?:s|es)?\b)",
    re.IGNORECASE,
)


def junk_reason(claim: Claim) -> JunkReason | None:
    """Why a person's statement is no rule; None where it is one."""
    text = claim.text
    shape = statement_features(text)
    telling = [t for t in dict.fromkeys(tokens(text)) if t not in _POINTS]
    if len(text) < (6 if not text.isascii() else _SHORTEST) or len(shape.content) < 2:
        return JunkReason.SHORT
    if _ONE_OFF.search(text):
        return JunkReason.ONE_OFF
    if _TALK.search(text) or text.rstrip().endswith(("?", "？")):
        return JunkReason.TALK
    if len(text) > LONGEST or typed_text(text) != text:
        return JunkReason.PASTED
    named = 2 if _COMMAND.search(text) else 0
    left = len(shape.content - _POINTS) + named
    if left < 2 or len(telling) + named < 3 or (left < 4 and _ANAPHORA.search(text)):
        return JunkReason.VAGUE
    if claim.kind is ClaimKind.DECISION:
        if claim.share < _OWN_SHARE:
            return JunkReason.PASTED
        if not _GENERAL.search(text):
            return JunkReason.VAGUE
    return None
