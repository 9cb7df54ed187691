"""An extractive answer: the sentences that bear on a question, each with its citation.

Nothing is made up, because nothing is made: every sentence was said or recorded. Confidence
says how much of the question the evidence covers, not whether the evidence is true:

- high: one record covers at least 80% of the question's weight, and a second, from another
  exchange, at least 60%.
- medium: one record covers at least 60%.
- low: something clears the relevance floor.
- none: nothing does. Then we abstain, and name the nearest misses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from holdfast.language import cut, plain, sentences, squeeze, stem
from holdfast.model.query import Answer, Citation, Confidence, Hit, Layer, Recalled
from holdfast.model.trust import Trust
from holdfast.recall.engine import recall
from holdfast.recall.relevance import coverage, weigh
from holdfast.recall.terms import read_terms
from holdfast.store.protocol import Reader

MOST_CITATIONS = 4
SENTENCE_LIMIT = 340
EXCERPT_LIMIT = 240
OLD_DAYS = 90
_NEAR = 0.85
_LABEL = re.compile(r"^(?:Request|Completed|Learned|Investigated|Next|Committed): ")


class _Evidence(NamedTuple):
    hit: Hit
    sentence: str
    covered: float
    score: float


def ask(
    reader: Reader,
    bank: str | None,
    question: str,
    now: Callable[[], str],
    layers: Sequence[Layer] = (),
) -> Answer:
    """Answer a question from a bank; `None` asks them all."""
    found = recall(reader, bank, question, layers, limit=25)
    searched = tuple(layers) or _searchable(reader, bank)
    session = f"mem-{os.urandom(6).hex()}"
    if found.abstained:
        return _abstain(question, found, searched, session)
    weight = weigh(reader, bank, read_terms(question).words)
    chosen = _choose(found.hits, weight)
    citations = tuple(
        _citation(reader, number, item) for number, item in enumerate(chosen, start=1)
    )
    layers_used = {citation.layer for citation in citations}
    return Answer(
        question=question,
        answer="\n".join(_line(item, number) for number, item in enumerate(chosen, start=1)),
        confidence=_confidence(found),
        abstained=False,
        source=layers_used.pop().value if len(layers_used) == 1 else "combined",
        citations=citations,
        layers_searched=searched,
        caveats=_caveats(chosen, now()),
        session_id=session,
    )


def _searchable(reader: Reader, bank: str | None) -> tuple[Layer, ...]:
    counts = reader.counts(bank)
    held = (
        (Layer.SUMMARIES, counts.digests),
        (Layer.OBSERVATIONS, counts.exchanges),
        (Layer.TRANSCRIPTS, counts.turns),
        (Layer.TEAM, counts.commits),
    )
    return tuple(layer for layer, number in held if number)


def _abstain(question: str, found: Recalled, searched: tuple[Layer, ...], session: str) -> Answer:
    nearest = [f"{cut(hit.text, 90)} ({hit.uri})" for hit in found.misses]
    caveats = tuple(f"Nearest, but not about this: {miss}" for miss in nearest)
    return Answer(
        question=question,
        answer="Not known: nothing in memory speaks of this.",
        confidence=Confidence.NONE,
        abstained=True,
        source="",
        layers_searched=searched,
        caveats=caveats,
        session_id=session,
    )


def _choose(hits: Sequence[Hit], weight: Mapping[str, float]) -> list[_Evidence]:
    """The best sentences of the best records, without saying the same thing twice."""
    # A tool call is evidence that something was done, seldom an answer.
    said = [hit for hit in hits if "\n→ " not in hit.text] or hits
    ranked = sorted((_best_sentence(hit, weight) for hit in said), key=lambda item: -item.score)
    chosen: list[_Evidence] = []
    for item in ranked:
        if len(chosen) == MOST_CITATIONS or item.score < 0.5 * ranked[0].score:
            break
        if not any(_same(item.sentence, other.sentence) for other in chosen):
            chosen.append(item)
    return _later_first(chosen)


def _best_sentence(hit: Hit, weight: Mapping[str, float]) -> _Evidence:
    """The sentence of a record that covers most of the question, with its neighbour if short."""
    told = [_LABEL.sub("", sentence) for sentence in sentences(hit.text)]
    said = [s for s in told if len(s) >= 8] or [squeeze(plain(hit.text))]
    covers = [coverage(weight, sentence) for sentence in said]
    best = max(range(len(said)), key=lambda n: (covers[n], -n))
    sentence = said[best]
    if len(sentence) < 90 and best + 1 < len(said):
        sentence = f"{sentence} {said[best + 1]}"
    covered = coverage(weight, sentence)
    trusted = 1.1 if hit.trust is Trust.USER else 1.0
    return _Evidence(
        hit, cut(sentence, SENTENCE_LIMIT), covered, (0.6 * covered + 0.4 * hit.score) * trusted
    )


def _same(one: str, other: str) -> bool:
    ours, theirs = ({stem(w) for w in s.lower().split()} for s in (one, other))
    return len(ours & theirs) >= 0.6 * min(len(ours), len(theirs))


def _later_first(chosen: list[_Evidence]) -> list[_Evidence]:
    """Among evidence of about the same worth the later stands first: it may revise the other."""
    if not chosen:
        return chosen
    best = max(item.score for item in chosen)
    near = [item for item in chosen if item.score >= _NEAR * best]
    rest = [item for item in chosen if item.score < _NEAR * best]
    return sorted(near, key=lambda item: item.hit.time, reverse=True) + rest


def _line(item: _Evidence, number: int) -> str:
    day = f"{datetime.fromisoformat(item.hit.time):%-d %b %Y}: " if item.hit.time else ""
    return f"{day}{item.sentence} [{number}]"


def _confidence(found: Recalled) -> Confidence:
    covered = sorted((hit.why.get("coverage", 0.0), hit.uri) for hit in found.hits)[::-1]
    best = covered[0][0]
    second = covered[1][0] if len(covered) > 1 else 0.0
    if best >= 0.8 and second >= 0.6:
        return Confidence.HIGH
    return Confidence.MEDIUM if best >= 0.6 else Confidence.LOW


def _caveats(chosen: Sequence[_Evidence], now: str) -> tuple[str, ...]:
    notes: list[str] = []
    times = [item.hit.time for item in chosen if item.hit.time]
    if times and _days(max(times), now) > OLD_DAYS:
        notes.append(f"The latest evidence is {_days(max(times), now)} days old.")
    if len(chosen) == 1:
        notes.append("One source only.")
    if all(item.hit.trust is Trust.EXTERNAL for item in chosen):
        notes.append("All of it involves text from outside the project.")
    days = {time[:10] for time in times}
    if len(days) > 1:
        notes.append("Several dates speak of this; where they differ, the later one may hold.")
    return tuple(notes)


def _days(earlier: str, later: str) -> int:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).days


def _citation(reader: Reader, number: int, item: _Evidence) -> Citation:
    hit = item.hit
    return Citation(
        number=number,
        uri=hit.uri,
        layer=hit.layer,
        excerpt=cut(plain(hit.text), EXCERPT_LIMIT),
        browse_url=_browse_url(reader, hit),
        time=hit.time,
    )


def _browse_url(reader: Reader, hit: Hit) -> str:
    word, _, id = hit.uri.removeprefix("holdfast://").partition("/")
    if word == "commit":
        return f"/repos?commit={id}"
    if word == "digest":
        return f"/sessions/{hit.session}"
    found = reader.find(hit.bank, word, id, limit=1)
    place: object = getattr(found[0], "first_seq" if word == "exchange" else "seq", 1)
    return f"/sessions/{hit.session}#msg-{place}"
