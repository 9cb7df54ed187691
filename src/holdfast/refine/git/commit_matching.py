"""Finds the session that discusses a commit, by the words of its message alone.

This is the weakest evidence for linking a commit. The scores of each session's three best passages
are added up; one session must have a higher sum than every other and contain most of the words. The
caller adds further conditions, such as the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, words
from holdfast.store.index.passages import Match
from holdfast.store.protocol import Reader

# Measured on real commits and the sessions that made them: bench/archaeology.
# How many times the score of the next session the best must have, and the share of the message's
# words that its passages must contain.
MIN_LEAD = 1.05
MIN_COVERAGE = 0.7
# A shorter message ("Fix tests") matches many sessions; of a longer one the first words decide.
_MIN_WORDS = 3
_MAX_WORDS = 24
_LAYERS = ("transcripts", "observations", "summaries")
# Passages that are searched in all, and that count for each session.
_MAX_MATCHES = 80
_MATCHES_PER_SESSION = 3


class DiscussingSession(NamedTuple):
    """The session that matches a message best (by the agent's id of it), its score relative to the
    next session, the share of the words that it contains, and its best exchange or turn."""

    host: str
    lead: float
    covered: float
    best: Match

    @property
    def is_clear(self) -> bool:
        """Whether the match is good enough to link the commit."""
        return self.lead >= MIN_LEAD and self.covered >= MIN_COVERAGE


def find_discussing_session(
    reader: Reader, bank: str, message: str, hosts: Mapping[str, str]
) -> DiscussingSession | None:
    """The session that matches a message best. `hosts` maps sessions to the agent's ids of them."""
    terms = list(dict.fromkeys(w for w in words(message) if w not in STOPWORDS))[:_MAX_WORDS]
    if len(terms) < _MIN_WORDS:
        return None
    by_host: dict[str, list[Match]] = defaultdict(list)
    for match in reader.passages.search(bank, terms, _LAYERS, _MAX_MATCHES):
        host = hosts.get(match.passage.session, "")
        if host and len(by_host[host]) < _MATCHES_PER_SESSION:
            by_host[host].append(match)
    scores = {host: sum(m.score for m in found) for host, found in by_host.items() if found}
    ranked = sorted(scores, key=lambda host: (-scores[host], host))
    if not ranked:
        return None
    first = ranked[0]
    second = scores[ranked[1]] if len(ranked) > 1 else 0.0
    lead = scores[first] / second if second > 0 else float("inf")
    matches = by_host[first]
    best = next((match for match in matches if match.passage.kind != "digest"), matches[0])
    return DiscussingSession(first, lead, _coverage(terms, matches), best)


def _coverage(terms: list[str], matches: list[Match]) -> float:
    held = {stem(w) for m in matches for w in words(f"{m.passage.body} {m.passage.context}")}
    return sum(stem(term) in held for term in terms) / len(terms)
