"""Which session speaks of a commit, by the words of its message alone.

The weakest of the signs by which a commit is linked. The three passages of each session that
speak best of the message are weighed together; one session must outweigh every other, and hold
most of the words. Whoever asks adds what else there must be, such as the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, words
from holdfast.store.protocol import Match, Reader

# Measured on real commits and the sessions that made them: bench/archaeology.
MIN_LEAD = 1.05
MIN_COVERAGE = 0.7
_FEWEST_WORDS = 3
_MOST_WORDS = 24
_LAYERS = ("transcripts", "observations", "summaries")
_LOOKED_AT = 80
_WEIGHED = 3


class DiscussingSession(NamedTuple):
    """The session that speaks best of a message (by the host's name), by how much it outweighs the
    next, what share of the words it holds, and the exchange or turn that speaks best of it."""

    host: str
    lead: float
    covered: float
    best: Match

    @property
    def is_clear(self) -> bool:
        """Whether that tells anything."""
        return self.lead >= MIN_LEAD and self.covered >= MIN_COVERAGE


def find_discussing_session(reader: Reader, bank: str, message: str, hosts: Mapping[str, str]) -> DiscussingSession | None:
    """The session that speaks best of a message; `hosts` has the host's name of each session, so
    that a session and its subagents are one."""
    told = list(dict.fromkeys(w for w in words(message) if w not in STOPWORDS))[:_MOST_WORDS]
    if len(told) < _FEWEST_WORDS:
        return None
    by_host: dict[str, list[Match]] = defaultdict(list)
    for match in reader.search(bank, told, _LAYERS, _LOOKED_AT):
        host = hosts.get(match.passage.session, "")
        if host and len(by_host[host]) < _WEIGHED:
            by_host[host].append(match)
    weights = {host: sum(m.score for m in some) for host, some in by_host.items() if some}
    ranked = sorted(weights, key=lambda host: (-weights[host], host))
    if not ranked:
        return None
    first = ranked[0]
    second = weights[ranked[1]] if len(ranked) > 1 else 0.0
    lead = weights[first] / second if second > 0 else float("inf")
    some = by_host[first]
    nearest = next((match for match in some if match.passage.kind != "digest"), some[0])
    return DiscussingSession(first, lead, _covered(told, some), nearest)


def _covered(told: list[str], matches: list[Match]) -> float:
    held = {stem(w) for m in matches for w in words(f"{m.passage.body} {m.passage.context}")}
    return sum(stem(word) in held for word in told) / len(told)
