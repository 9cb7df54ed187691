"""Faults that agents found and tasks that they left open, as a session brief tells them: whether a
cause stands, was mended or dealt with again since, and whether a task is still open."""

from __future__ import annotations

from holdfast.brief.known_statements import KnownStatement
from holdfast.brief.statement_ranking import StatementRanking
from holdfast.refine.core.statement_similarity import own_words

CAUSE, FIXED, WORKED_ON = "cause", "fixed", "worked on since"


class Findings:
    """The faults and open tasks of a bank."""

    def __init__(self, ranking: StatementRanking) -> None:
        self._ranking = ranking

    def is_left_open(self, one: KnownStatement) -> bool:
        """Whether a task was left open at the end of its session, and nothing later took it up."""
        turn, text = one.turn, own_words(one.memory.what)
        exchanges = self._ranking.exchanges_of(turn.session)
        if any(x.first_seq > turn.seq and (x.files_modified or x.summary) for x in exchanges):
            return False
        return not self._ranking.later.did(text, turn.session, turn.seq, turn.time)

    def label(self, one: KnownStatement) -> str:
        """What a fault is called: a cause that stands, one after which something was changed, or
        one whose matter was dealt with again."""
        later = self._ranking.later
        if later.is_mended(one):
            return FIXED
        return WORKED_ON if later.deals_again_with(one) else CAUSE
