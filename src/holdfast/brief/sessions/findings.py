"""Faults that agents found and tasks that they left open, as a session brief tells them.

A cause is told with what it is the cause of, and a mended one with the change that mended it. What
was said on the way to a cause, and the state of a run that is over, are left out; so are tasks that
the session or a later one went on with.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.brief.informative import informative_part
from holdfast.brief.known_statements import KnownStatement
from holdfast.brief.statement_ranking import StatementRanking, is_same_matter
from holdfast.framed_text import quote
from holdfast.language import content_stems, plain, sentences, truncate
from holdfast.model.records import Exchange
from holdfast.refine.core.statement_similarity import own_words
from holdfast.refine.requests.telling_words import says_something
from holdfast.regex import regex

CAUSE, FIXED, WORKED_ON = "cause", "fixed", "worked on since"


class FindingLimits(NamedTuple):
    """How findings are told."""

    subject_characters: int = 100
    # What is left of a statement without what was so at the time; less says nothing.
    rest_characters: int = 60


_LIMITS = FindingLimits()
# Said on the way, or aside.
_ON_THE_WAY = regex(
    r"^\W*(?:sidebar|aside|so|i(?:['’]ve| have)? (?:confirmed|caught|narrowed|noticed|reproduced|"
    r"checked)|(?:one|another|the strongest) clue)\b",
    re.IGNORECASE,
)
# A run or a branch that was broken when it was said.
_OF_A_RUN = regex(
    r"\b(?:is|are) (?:still |now |currently )?failing\b|"
    r"\bfailing (?:ci |pr )?(?:jobs?|checks?|runs?|builds?)\b|\bnew actionable\b",
    re.IGNORECASE,
)
# A connection or a commit of that day.
_OF_THE_DAY = regex(
    r"\bgit (?:push|pull|fetch)\b[^.]*\b(?:fail\w*|timed out|rejected|refused)\b|"
    r"\b(?:push|remote sync|network|connection|ssh)\b[^.]*\b(?:timed out|unreachable|40[13])\b|"
    r"^\W*(?:blockers?|(?:push|sync|pr|ci) status)\b[^.]{0,3}:|\bremote (?:sync|connectivity)\b|"
    r"\bthe (?:latest|newest|last|new) commit\b",
    re.IGNORECASE,
)
_AT_THE_TIME = regex(
    r"\b(?:today|currently|right now|at the moment|still|for now)\b", re.IGNORECASE
)
# Names a fault without saying which one.
_VAGUE = regex(
    r"\b(?:the|this|that) (?:real |actual |root |underlying )?(?:message|bug|issue|problem|error|"
    r"failure|failing|fix|report|discussion|test|cause|warning|symptom|crash)\b|^\W*root cause\b",
    re.IGNORECASE,
)
# A request that tells of a fault, or of what is wanted instead.
_TELLS_FAULT = regex(
    r"\b(?:why|cannot|can['’]?t|not|fail\w*|errors?|wrong|missing|should|broken|bugs?|issues?|"
    r"crash\w*|slow|discussion)\b|n['’]t\b",
    re.IGNORECASE,
)
# A condition, and not what is to be done; a list that was being made.
_NO_TASK = regex(
    r"\b(?:if|when|while|until|whenever)\b[^.;:]*\bpending\b|\btodo list\b", re.IGNORECASE
)


class Findings:
    """The faults and open tasks of a bank."""

    def __init__(self, ranking: StatementRanking) -> None:
        self._ranking = ranking

    def is_left_open(self, one: KnownStatement) -> bool:
        """Whether a task was left open at the end of its session, and nothing later took it up."""
        if _NO_TASK.search(plain(own_words(one.memory.what))):
            return False
        exchanges = self._ranking.exchanges_of(one.turn.session)
        goes_on = any(x.first_seq > one.turn.seq and _did_something(x) for x in exchanges)
        turn, text = one.turn, own_words(one.memory.what)
        did = self._ranking.later.did(text, turn.session, turn.seq, turn.time)
        return not goes_on and not did

    def is_cause(self, one: KnownStatement) -> bool:
        """Whether a fault is worth telling: it was not said on the way, and is not that of a run
        which was mended, or of a day."""
        text = plain(informative_part(one.text) or one.text)
        if _OF_THE_DAY.search(text):
            return False
        if _ON_THE_WAY.search(text) or _ON_THE_WAY.search(plain(self.text(one, text))):
            return False
        return not (self.is_fixed(one) and _OF_A_RUN.search(text))

    def is_fixed(self, one: KnownStatement) -> bool:
        """Whether something was changed after a fault was found, or its matter dealt with again."""
        later = self._ranking.later
        return later.is_mended(one) or later.deals_again_with(one)

    def label(self, one: KnownStatement) -> str:
        """What a fault is called: a cause that stands, one that was mended, or one whose matter was
        dealt with again."""
        if not self.is_fixed(one):
            return CAUSE
        return FIXED if self._ranking.later.is_mended(one) else WORKED_ON

    def text(self, one: KnownStatement, text: str) -> str:
        """The words of a fault; of one that was mended, without what was so at the time."""
        if not self.is_fixed(one):
            return text
        kept = " ".join(part for part in sentences(text) if not _AT_THE_TIME.search(plain(part)))
        return kept if len(kept) >= _LIMITS.rest_characters else text

    def subject(self, one: KnownStatement) -> str:
        """What a fault was found for, behind words that do not name it; else ""."""
        text = own_words(one.memory.what)
        exchange = next(iter(self._exchanges_from(one)), None)
        if exchange is None or not _VAGUE.search(plain(text)):
            return ""
        if not (_TELLS_FAULT.search(exchange.title) and says_something(exchange.title)):
            return ""
        if is_same_matter(content_stems(text), content_stems(exchange.title)):
            return ""
        return f" (of {quote(truncate(exchange.title, _LIMITS.subject_characters))})"

    def _exchanges_from(self, one: KnownStatement) -> list[Exchange]:
        """The exchange that states it and those after it."""
        found = self._ranking.exchanges_of(one.turn.session)
        return [x for x in found if x.last_seq >= one.turn.seq]


def _did_something(x: Exchange) -> bool:
    return bool(x.files_modified or x.summary)
