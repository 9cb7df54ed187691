"""Quotes for an answer: a sentence of a record, and the quotes that are chosen by time or along
causes; and what an answer says of the age and origin of its quotes. Quotes chosen by the words of
the question are in `answer`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from holdfast.language import (
    causal_relations,
    collapse_spaces,
    describes_failure,
    sentences,
    states_decision,
    truncate,
)
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.model.trust import Status
from holdfast.recall.core.relevance import coverage
from holdfast.recall.core.statements import reports_progress, statements
from holdfast.regex import regex

# An answer is read at a glance: a few quotes, each as long as a retained statement may be.
MAX_CITATIONS = 4
MAX_SENTENCE_CHARS = 420
# The recap of a conversation is quoted whole: a rule without its exceptions is another rule.
MAX_RECAP_CHARS = 1300
# Characters of a record that a citation shows: enough to recognise it in a list.
MAX_EXCERPT_CHARS = 240
# Evidence older than this gets a caveat.
OLD_DAYS = 90
# The labels of the sections of a digest's text.
DIGEST_LABEL = regex(r"^(?:Request|Completed|Learned|Investigated|Next|Committed): ", re.MULTILINE)
_CAUSE_LEADS = {"caused_by": "because: ", "causes": "which led to: "}
_RETRIEVED_BY_TIME = {"temporal", "recent_sessions"}
_RETRIEVED_BY_WORDS = {"direct_fts", "summaries", "semantic"}
# Looks like the number of a citation; after a name or a bracket it is an index (`rows[0]`).
_BRACKETED_NUMBER = regex(r"(?<![\w\])])\[(\d+)\]")
# The end of a sentence after which something should follow.
_ANNOUNCING = regex(r":[^\w`]*$")
# A shorter sentence says nothing by itself.
_MIN_SENTENCE_CHARS = 8


class CauseWeights(NamedTuple):
    """What makes a sentence the cause: covering the question outweighs stating a cause, which
    outweighs naming a problem."""

    coverage: int = 4
    states_cause: int = 2
    names_problem: int = 1


class GistLimits(NamedTuple):
    """Characters of a digest's gist, which must fit in one quoted sentence."""

    request: int = 120
    completed: int = 150
    next_step: int = 150


_CAUSE = CauseWeights()
_GIST = GistLimits()


class Quote(NamedTuple):
    """A sentence of a record: how much of the question it covers, its score, the words to put
    before it, whether it states something, and the exchange that changed what it says."""

    hit: Hit
    sentence: str
    covered: float
    score: float
    lead: str = ""
    states: bool = True
    changed_in: str = ""
    # Whether it has no word of the question, though its record has some.
    is_beside: bool = False


def whole_statements(quotes: Sequence[Quote]) -> list[Quote]:
    """Quotes without what they announce at their end and do not say ("Two changes:"). One that
    only announces is left out where there are others."""
    cut = [item._replace(sentence=_without_announcement(item.sentence)) for item in quotes]
    return [item for item in cut if not announces_more(item.sentence)] or cut


def announces_more(text: str) -> bool:
    """Whether a text ends by announcing what does not follow."""
    return _ANNOUNCING.search(text) is not None


def _without_announcement(text: str) -> str:
    """A text up to the last sentence, or item of a list, that announces nothing; the whole text
    where there is none."""
    end = len(text)
    while announces_more(text[:end]):
        last = (sentences(text[:end]) or [""])[-1].rpartition("; ")[2]
        end = text.rfind(last, 0, end) if last else 0
        if not any(map(str.isalnum, text[:end])):
            return text
        end = len(text[:end].rstrip(" ;"))
    return text[:end]


def joined(run: Sequence[str]) -> str:
    """Sentences one after the other, without what is said already."""
    text = run[0]
    for sentence in run[1:]:
        if sentence not in text:
            text = f"{text}{' ' if text[-1] in '.!?…:' else '; '}{sentence}"
    return text


def without_citation_marks(text: str) -> str:
    """A text in which no number in brackets looks like one of our citations."""
    return _BRACKETED_NUMBER.sub(r"(\1)", text)


def day_in_words(time: str) -> str:
    """The day of a time, as an answer writes it: `3 Mar 2026`."""
    day = datetime.fromisoformat(time)
    return f"{day.day} {day:%b %Y}"


def quote_by_time(hits: Sequence[Hit], only_time: bool) -> list[Quote]:
    """What was found by its time, for a question about the latest work or a day: the gist of
    digests (request, result and next step), whichever words they share with the question. A
    question that asks for nothing but a time is answered by other records where there are none."""
    digests = [hit for hit in hits if hit.kind == "digest"]
    found = [hit for hit in digests if "recent" in hit.why]
    found = found or [hit for hit in digests if only_time or _is_by_time_only(hit)]
    if found or not only_time:
        return [Quote(hit, _gist(hit.text), 0.0, hit.score) for hit in found[:MAX_CITATIONS]]
    latest = sorted(hits, key=lambda hit: hit.time, reverse=True)[:MAX_CITATIONS]
    return [Quote(hit, _first_statement(hit), 0.0, hit.score) for hit in latest]


def _first_statement(hit: Hit) -> str:
    stated = statements(hit) or [collapse_spaces(hit.text)]
    best = next((s for s in stated if not reports_progress(s)), stated[0])
    return truncate(best, MAX_SENTENCE_CHARS)


def quote_causal_chain(hits: Sequence[Hit], weights: Mapping[str, float]) -> list[Quote]:
    """What was asked about and, step by step, its causes or its effects; empty if none is known."""
    for direction, lead in _CAUSE_LEADS.items():
        steps = sorted(
            (hit for hit in hits if direction in hit.why), key=lambda hit: hit.why[direction]
        )
        if len(steps) > 1 and steps[0].why[direction] == 0:
            rest = [_quote_cause(hit, {})._replace(lead=lead) for hit in steps[1:MAX_CITATIONS]]
            return [_quote_cause(steps[0], weights), *rest]
    return []


def _quote_cause(hit: Hit, weights: Mapping[str, float]) -> Quote:
    """The sentence of a record that states a cause, or else a problem; with weights of a question's
    words, one that covers the question before either."""
    long_enough = [s for s in sentences(hit.text) if len(s) >= _MIN_SENTENCE_CHARS]
    texts = [DIGEST_LABEL.sub("", s) for s in long_enough] or [collapse_spaces(hit.text)]
    scores = [
        _CAUSE.states_cause * any(r.how == "causes" for r in causal_relations(text))
        + _CAUSE.names_problem * describes_failure(text)
        + _CAUSE.coverage * coverage(weights, text)
        for text in texts
    ]
    best = texts[scores.index(max(scores))]
    return Quote(hit, truncate(best, MAX_SENTENCE_CHARS), 0.0, hit.score)


def _is_by_time_only(hit: Hit) -> bool:
    """Whether a hit was found by its time and not by its words."""
    why = hit.why.keys()
    return bool(_RETRIEVED_BY_TIME & why) and not _RETRIEVED_BY_WORDS & why


def _gist(digest: str) -> str:
    """The request of a digest, its result, and what is next."""
    parts = digest.split("\n\n")
    request = parts[0].removeprefix("Request: ")
    title = request.partition(" (and ")[0]
    completed = next((part for part in parts if part.startswith("Completed: ")), "")
    result = completed.removeprefix("Completed: ").removeprefix(title).lstrip(": ")
    left = next((part for part in parts if part.startswith("Next: ")), "")
    if left.removeprefix("Next: ").lower().startswith(("next", "still")):
        left = left.removeprefix("Next: ")
    shown = (
        truncate(request, _GIST.request),
        truncate(result, _GIST.completed),
        truncate(left, _GIST.next_step),
    )
    return " ".join(part if part[-1] in ".!?…" else f"{part}." for part in shown if part)


def is_from_memory_file(hit: Hit) -> bool:
    """Whether a record is a line of the memory file that a person keeps."""
    return hit.kind == "rule" and hit.status is Status.VERIFIED


def time_caveats(quotes: Sequence[Quote], now: str) -> list[str]:
    """What a reader should know of how old quotes are, and whether they could differ."""
    notes: list[str] = []
    times = [_last_touched(item.hit) for item in quotes if item.hit.time]
    if times and _days(max(times), now) > OLD_DAYS:
        notes.append(f"The latest evidence is {_days(max(times), now)} days old.")
    if len(quotes) == 1:
        notes.append("One source only.")
    elif is_from_memory_file(quotes[0].hit):
        notes.append("Where others differ from memory.md [1], memory.md holds.")
    decided = {item.hit.time[:10] for item in quotes if states_decision(item.sentence)}
    if len(decided - {""}) > 1:
        notes.append("Several dates have statements; where they differ, the later may apply.")
    return notes


def _last_touched(hit: Hit) -> str:
    """When a record was made, or the day on which it was last corrected, if that was later."""
    return max(hit.time, hit.corrected[-len("2026-11-17") :])


def trust_caveats(quotes: Sequence[Quote]) -> list[str]:
    """Which quotes have text from outside the project."""
    external = [n for n, item in enumerate(quotes, 1) if item.hit.is_from_outside]
    if external and len(external) == len(quotes):
        return ["All of it involves text from outside the project."]
    numbers = ", ".join(f"[{n}]" for n in external)
    return [f"Text from outside the project: {numbers}."] if external else []


def _days(earlier: str, later: str) -> int:
    return (_parse_time(later) - _parse_time(earlier)).days


def _parse_time(time: str) -> datetime:
    """A time as records write it; a day alone begins in UTC."""
    parsed = datetime.fromisoformat(time)
    return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
