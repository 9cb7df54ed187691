"""What an answer quotes: a sentence of a record; and those that are chosen by other things than the
words of the question, by the time it asks about or along causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.language import cut, is_trouble, relations, sentences, squeeze
from holdfast.model.query import Hit
from holdfast.recall.core.relevance import coverage
from holdfast.regex import regex

MAX_CITATIONS = 4
MAX_SENTENCE_CHARS = 340
DIGEST_LABEL = regex(r"^(?:Request|Completed|Learned|Investigated|Next|Committed): ")
_LEADS = {"caused_by": "because: ", "causes": "which led to: "}


class Quote(NamedTuple):
    """A sentence of a record that is quoted: how much of the question it covers, how good it is,
    and words to put before it."""

    hit: Hit
    sentence: str
    covered: float
    score: float
    lead: str = ""


def quote_digests_by_time(hits: Sequence[Hit]) -> list[Quote]:
    """Digests that were found by their time, for a question about the latest work or a day: what
    was asked, what came of it and what is left, not which words it shares with the question."""
    named = [hit for hit in hits if hit.kind == "digest" and "recent" in hit.why]
    named = named or [hit for hit in hits if hit.kind == "digest" and _by_time(hit)]
    return [Quote(hit, _gist(hit.text), 0.0, hit.score) for hit in named[:MAX_CITATIONS]]


def quote_causal_chain(hits: Sequence[Hit], weight: Mapping[str, float]) -> list[Quote]:
    """What was asked about and, step by step, what it is put down to or what came of it."""
    for way, lead in _LEADS.items():
        on_way = sorted((hit for hit in hits if way in hit.why), key=lambda hit: hit.why[way])
        if len(on_way) > 1 and on_way[0].why[way] == 0:
            first = _cause(on_way[0], weight)
            rest = [_cause(hit, {})._replace(lead=lead) for hit in on_way[1:MAX_CITATIONS]]
            return [first, *rest]
    return []


def _cause(hit: Hit, weight: Mapping[str, float]) -> Quote:
    """The sentence of a record that says what came of what, else what went wrong; where the words
    of a question have a weight, one that speaks of it."""
    said = [DIGEST_LABEL.sub("", s) for s in sentences(hit.text) if len(s) >= 8] or [squeeze(hit.text)]
    worth = [
        2 * any(r.how == "causes" for r in relations(s)) + is_trouble(s) + 4 * coverage(weight, s)
        for s in said
    ]
    best = max(range(len(said)), key=lambda n: (worth[n], -n))
    return Quote(hit, cut(said[best], MAX_SENTENCE_CHARS), 0.0, hit.score)


def _by_time(hit: Hit) -> bool:
    """Whether nothing but its time speaks for a hit."""
    by_words = {"direct_fts", "summaries", "semantic"}
    return bool({"temporal", "recent_sessions"} & hit.why.keys()) and not by_words & hit.why.keys()


def _gist(digest: str) -> str:
    """The request of a digest, what came of it, and what is next."""
    parts = digest.split("\n\n")
    request = parts[0].removeprefix("Request: ")
    title = request.partition(" (and ")[0]
    done = next((part for part in parts if part.startswith("Completed: ")), "")
    came = done.removeprefix("Completed: ").removeprefix(title).lstrip(": ")
    left = next((part for part in parts if part.startswith("Next: ")), "")
    if left.removeprefix("Next: ").lower().startswith(("next", "still")):
        left = left.removeprefix("Next: ")
    shown = [cut(request, 120), cut(came, 150), cut(left, 150)]
    return " ".join(part if part[-1] in ".!?…" else f"{part}." for part in shown if part)
