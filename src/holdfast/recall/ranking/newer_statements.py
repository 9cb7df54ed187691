"""Puts the later of two statements on one subject first, where nothing links them.

A link says that a statement is over, so it is only made where the words show that surely
(`later_statements`). People also change their mind in other words ("phone numbers are stored as
typed", "phone numbers must be normalised"). Where a person states something later that answers the
query about as well, it goes before the earlier statement; neither is marked. Questions, orders for
once and talk about the work at hand state nothing, and move nothing; nor do reports of work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

from holdfast.language import STOPWORDS, content_stems, sentences, shared_fraction, stem, words
from holdfast.model.knowledge import Claim, ClaimKind, Fact
from holdfast.model.query import Passage
from holdfast.model.trust import ENDED_STATUSES
from holdfast.model.uris import parse_uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.statements import states
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.store.protocol import Reader

# What may be put first, and before what: a digest repeats what is stated in its session.
_LATER_KINDS = ("turn", "exchange", "fact")
_EARLIER_KINDS = (*_LATER_KINDS, "digest")
_STATING = (ClaimKind.RULING, ClaimKind.DECISION, ClaimKind.STATEMENT)
# Longer texts report work; what shall hold is said in a few sentences.
_MAX_STATEMENT = 400
# The letters of the shortest word that tells one thing from another ("exchange rates").
_MIN_QUALIFIER = 4


def put_newer_statements_first(
    reader: Reader,
    ranked: Sequence[Candidate],
    asked: Sequence[str],
    measure: Callable[[Candidate], None],
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> list[Candidate]:
    """The ranking with each later statement before an earlier one on the same subject, if it is
    about as relevant. `asked` are the words of the query in their order; `measure` notes the
    relevance of a candidate."""
    order = list(ranked[: weights.compared_for_ties])
    for candidate in order:
        measure(candidate)
    comparison = _Comparison(reader, order, asked, weights)
    place = 0
    while place < len(order):
        earlier = order[place]
        newer = next((c for c in order[place + 1 :] if comparison.is_newer(c, earlier)), None)
        if newer is None:
            place += 1
            continue
        newer.notes["newer"] = round(earlier.score - newer.score, 4)
        newer.score = earlier.score
        order.remove(newer)
        order.insert(place, newer)
    return [*order, *ranked[weights.compared_for_ties :]]


class _Comparison:
    """Compares the candidates of one search; each is read once."""

    def __init__(
        self,
        reader: Reader,
        candidates: Sequence[Candidate],
        asked: Sequence[str],
        weights: RankingWeights,
    ) -> None:
        self._reader = reader
        self._asked = [
            (stem(word), stem(noun)) for word, noun in pairwise(asked) if _may_qualify(word)
        ]
        self._weights = weights
        self._stems = cache(content_stems)
        self._session = cache(self._find_session)
        self._is_stated = cache(self._find_whether_stated)
        self._statements = cache(self._find_statements)
        # The relevance of the best record of each session.
        self._relevance: dict[tuple[str, str], float] = {}
        for candidate in candidates:
            if candidate.passage.kind in _EARLIER_KINDS:
                key = candidate.passage.bank, self._session(candidate.passage)
                best = max(candidate.notes["relevance"], self._relevance.get(key, 0.0))
                self._relevance[key] = best

    def is_newer(self, later: Candidate, earlier: Candidate) -> bool:
        """Whether the later of two candidates goes before the earlier: a person states it after the
        other, in another session, on the same subject, and what is said there is about as
        relevant."""
        new, old = later.passage, earlier.passage
        if new.kind not in _LATER_KINDS or old.kind not in _EARLIER_KINDS or new.bank != old.bank:
            return False
        if not new.time > old.time > "" or new.status in ENDED_STATUSES:
            return False
        sessions = self._session(new), self._session(old)
        ours, theirs = (self._relevance[new.bank, session] for session in sessions)
        if sessions[0] == sessions[1] or ours < self._weights.newer_relevance * theirs:
            return False
        if not (self._is_stated(new) and self._is_stated(old)):
            return False
        shared = shared_fraction(self._stems(new.body), self._stems(old.body))
        return shared >= self._weights.newer_subject and not self._is_about_another(new, old)

    def _is_about_another(self, new: Passage, old: Passage) -> bool:
        """Whether two words that the query and the earlier text have together ("exchange rates")
        name something else in the later one ("shipping rates")."""
        ours, theirs = self._stems(new.body), self._stems(old.body)
        replaced = {
            second
            for first, second in self._asked
            if {first, second} <= theirs and second in ours and first not in ours
        }
        return any(noun in replaced for noun in _qualified_nouns(new.body)) if replaced else False

    def _find_session(self, passage: Passage) -> str:
        """The session of a passage; for a fact, the one that states it."""
        if passage.session:
            return passage.session
        for record in self._reader.records.find(passage.bank, passage.kind, passage.id, 1):
            names = map(parse_uri, record.evidence) if isinstance(record, Fact) else ()
            for name in filter(None, names):
                for source in self._reader.records.find(passage.bank, *name, 1):
                    return str(getattr(source, "session", ""))
        return ""

    def _find_statements(self, bank: str, session: str) -> list[Claim]:
        """What people state in a session."""
        return [claim for claim in self._reader.facts.claims(bank, session) if _is_statement(claim)]

    def _find_whether_stated(self, passage: Passage) -> bool:
        """Whether a passage is short and a person's statement, the exchange or the session of one,
        or the reply that settles it. What an agent says on the way is about its work."""
        if passage.kind == "fact":
            return True
        if len(passage.body) > _MAX_STATEMENT or passage.role == "tool":
            return False
        stated = self._statements(passage.bank, passage.session)
        if passage.kind == "digest" or not stated:
            return bool(stated)
        if passage.kind == "turn" and passage.role == "user":
            return any(claim.turn == passage.id for claim in stated)
        at = self._reader.sessions.exchange_at(passage.bank, passage.session, passage.seq)
        if at is None or (passage.kind == "turn" and passage.seq != at.last_seq):
            return False
        return any(claim.exchange == at.id for claim in stated)


def _is_statement(claim: Claim) -> bool:
    said = claim.by_person and claim.kind in _STATING
    return said and any(states(sentence, by_person=True) for sentence in sentences(claim.text))


def _qualified_nouns(text: str) -> set[str]:
    """The stems of the words that follow a word that may qualify them."""
    said = words(text)
    return {stem(noun) for word, noun in pairwise(said) if _may_qualify(word)}


def _may_qualify(word: str) -> bool:
    # The words that only join others are short in every language, and not all are in the list.
    return len(word) >= _MIN_QUALIFIER and word.isalpha() and word not in STOPWORDS
