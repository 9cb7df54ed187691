"""Decides which of a person's statements are worth keeping as rules, and why the others are not.

A statement that nobody could act on later is dropped with a reason: too few words, words that only
refer to something ("do it like that"), an order for the moment, small talk, pasted text.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from holdfast.language import is_data, plain
from holdfast.model.knowledge import Claim, ClaimKind
from holdfast.refine.core.statement_similarity import statement_features, tokens
from holdfast.refine.facts.momentary_orders import is_for_the_moment
from holdfast.refine.facts.typed_text import typed_text
from holdfast.regex import regex


class JunkReason(StrEnum):
    """Why a claim does not become a fact. The values are shown by `holdfast facts --json`."""

    SHORT = "short"
    VAGUE = "vague"
    ONE_OFF = "one_off"
    TALK = "talk"
    PASTED = "pasted"
    DUPLICATE = "duplicate"
    UNPROVEN = "unproven"


class JunkLimits(NamedTuple):
    """What a statement needs to be kept. Stricter limits lose rules, looser ones let junk in."""

    max_chars: int = 320  # longer statements are pasted text
    min_chars: int = 14
    min_chars_non_ascii: int = 6  # a Chinese or Japanese sentence says more in fewer characters
    min_stems: int = 2
    min_telling_stems: int = 2  # stems that say something by themselves
    min_telling_words: int = 3
    # With fewer telling stems than this, an "it" or "that way" leaves nothing to act on.
    min_stems_beside_pronoun: int = 4
    command_bonus: int = 2  # a quoted command counts as so many telling words
    # A decision that is a smaller part of its message than this is an aside in pasted text.
    min_share_of_turn: float = 0.2


_LIMITS = JunkLimits()
# What says by itself that it lasts needs no more than a name: "Never push.", "Always use pnpm."
_RULING_LIMITS = JunkLimits(min_chars=11, min_stems=1, min_telling_stems=1, min_telling_words=2)
_ONE_OFF = regex(
    r"\b(?:right now|for now|just now|again now|(?:just|not|only) yet|this (?:time|once|session|"
    r"task|pr|change|turn)|in this (?:step|session|task|turn|pr|commit)|for (?:this|the) (?:moment|"
    r"task|session)|today|tonight|tomorrow|once more(?![,:])|one more time|try again|"
    r"run it again|until i|before you "
    r"(?:start|continue|go on)|first,? (?:let|do|read|look)|then (?:commit|push|stop|tell)|wait "
    r"for|just (?:a|do|the|commit|write|answer|tell|give)|jetzt gleich|diesmal|pour l['’]instant|"
    r"por ahora|"
    r"per ora|por enquanto|voorlopig|пока что)\b|\b(?:now|again|jetzt|nochmal)[.! ]*$|今回|这次|"
    r"이번",
    re.IGNORECASE,
)
_SMALL_TALK = regex(
    r"^(?:i['’]m|i am|i was|i think|i guess|i['’]ve been|i had|i feel|i hope|i wonder|thanks|thank "
    r"you|sorry|hm+|haha)\b|"
    r"\b(?:can|could|would) you (?:help|please|tell|explain|give)|\bhelp me\b|\bi['’]?m (?:kinda|"
    r"not sure|curious|wondering|trying|worried|unsure|hoping)|\bwhat do you think\b|\bi wanna\b|"
    r"\bwas that a good\b|\bdon['’]t worry\b",
    re.IGNORECASE,
)
# Words that say nothing without what they refer to.
_VAGUE_WORDS = frozenset(
    "it that this them those these thing things stuff way like same here there one ones do did "
    "done make made use used using work works working keep way fine good better best ok sure well "
    "go run try put get check look see think say tell read write change fix add please yes "
    "no".split()
)
_PRONOUN = regex(
    r"\bit\b|\b(?:that way|like (?:that|this))\b|"
    r"\b(?:there|them|those|these|this)\b(?=\s*(?:[.,;!]|$))",
    re.IGNORECASE,
)
_GENERAL_STATEMENT = regex(
    r"\b(?:we|always|never|every|all|each|any|should|must|shall|convention|rule|policy|by default|"
    r"everywhere|prefer|no longer|do not|don['’]t|wir|nous|on|hemos|abbiamo)\b",
    re.IGNORECASE,
)
# A command says something, though its words ("make", "run", "check") are vague.
_COMMAND = regex(
    r"`[^`\s]+(?: [^`]+)?`|"
    r"\b(?:make|just|task|npm|pnpm|yarn|bun|npx|cargo|go|uv|poetry|tox|nox|rake|gradle|mvn|dotnet|"
    r"composer|bundle|docker) (?:run |exec )?(?:check|tests?|lint|build|fmt|format|vet|verify|ci|"
    r"typecheck|clean|install|generate|pytest|ruff|clippy)\b"
    r"(?! (?:pass|green|work|run)(?:s|es)?\b)",
    re.IGNORECASE,
)


def junk_reason(claim: Claim) -> JunkReason | None:
    """Why a person's statement does not become a rule; None if it does."""
    text = plain(claim.text)
    limits = _RULING_LIMITS if claim.kind is ClaimKind.RULING else _LIMITS
    stems = statement_features(text).content
    min_chars = limits.min_chars if text.isascii() else limits.min_chars_non_ascii
    if len(text) < min_chars or len(stems) < limits.min_stems:
        return JunkReason.SHORT
    if _ONE_OFF.search(text) or is_for_the_moment(text):
        return JunkReason.ONE_OFF
    if _SMALL_TALK.search(text) or text.rstrip().endswith(("?", "？")):
        return JunkReason.TALK
    if len(text) > limits.max_chars or typed_text(text) != text or is_data(text):
        return JunkReason.PASTED
    if _is_vague(text, stems, limits):
        return JunkReason.VAGUE
    if claim.kind is ClaimKind.DECISION:
        if claim.share < limits.min_share_of_turn:
            return JunkReason.PASTED
        if not _GENERAL_STATEMENT.search(text):
            return JunkReason.VAGUE
    return None


def _is_vague(text: str, stems: frozenset[str], limits: JunkLimits) -> bool:
    """Whether too little is left without the words that only refer to something."""
    bonus = limits.command_bonus if _COMMAND.search(text) else 0
    telling_words = len(set(tokens(text)) - _VAGUE_WORDS) + bonus
    telling_stems = len(stems - _VAGUE_WORDS) + bonus
    if telling_stems < limits.min_telling_stems or telling_words < limits.min_telling_words:
        return True
    return telling_stems < limits.min_stems_beside_pronoun and bool(_PRONOUN.search(text))
