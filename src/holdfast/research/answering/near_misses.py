"""What is told of the records nearest to a question that none of them clearly answers."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.framed_text import quote
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.recall.core.statements import statements
from holdfast.research.answering.evidence import cosine_in, may_answer
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS
from holdfast.research.answering.sentence_choice import Cosines, Question, choose_part

_NOT_KNOWN = "Not known: memory has no record about this."
_NOT_SURE = "Not known: nothing in memory clearly answers this; the nearest records are listed."
_NEAREST = "Nearest: "
_PERHAPS = "Perhaps: "


class NearMissLimits(NamedTuple):
    """When a record below the threshold is named, and when it may be the answer."""

    # From this share of the question's weight on, by so many characters.
    coverage: float = 0.2
    named_chars: int = 160
    # More than a reader looks at tell nothing more: a question of which many records have a word,
    # and none the answer, named twenty.
    named: int = 3
    # It may be the answer up to so much below the threshold, if it is so near in meaning: then it
    # probably says the same in other words. Questions of LoCoMo and BEAM to another bank have no
    # such record on the tuning halves (100 and 39), one of 120 on the held-back halves.
    close_margin: float = 0.04
    close_cosine: float = 0.45


_LIMITS = NearMissLimits()


def not_known(caveats: Sequence[str]) -> str:
    """The text of an answer that abstains. Where its caveats name near misses, there are records
    about it, and none is sure to be the answer."""
    is_near = any(note.startswith((_NEAREST, _PERHAPS)) for note in caveats)
    return _NOT_SURE if is_near else _NOT_KNOWN


def nearest_notes(
    misses: Sequence[Hit], close: Hit | None, asked: Question, cosines: Cosines
) -> tuple[str, ...]:
    """One sentence about each record that is near, with what it says of the question; first the
    `close` one that may be the answer, if there is one, with all that a quote would have."""
    notes: list[str] = []
    if close is not None:
        said = choose_part(close, asked, by_person=False, cosines=cosines).quoted
        notes.append(f"{_PERHAPS}{quote(truncate(said, MAX_SENTENCE_CHARS))} ({close.uri})")
    near = [hit for hit in misses if _is_near(hit)]
    # What an agent was about to do says nothing, if anything else does.
    told: set[str] = set()
    for hit in [hit for hit in near if statements(hit)] or near:
        if hit is close or len(told) == _LIMITS.named:
            continue
        sentence = truncate(choose_part(hit, asked, by_person=False).sentence, _LIMITS.named_chars)
        if sentence not in told:
            told.add(sentence)
            notes.append(f"{_NEAREST}{quote(sentence)} ({hit.uri})")
    return tuple(notes)


def perhaps_answer(misses: Sequence[Hit], question: str) -> Hit | None:
    """The first record that may be the answer, though none reaches the threshold."""
    return next((hit for hit in misses if _is_close(hit) and may_answer(hit, question)), None)


def _is_near(hit: Hit) -> bool:
    return hit.why.get("coverage", 0.0) >= _LIMITS.coverage


def _is_close(hit: Hit) -> bool:
    if "needed" not in hit.why or not _is_near(hit) or hit.is_from_outside:
        return False
    margin = hit.why["needed"] - hit.why["relevance"]
    return margin <= _LIMITS.close_margin and cosine_in(hit.why) >= _LIMITS.close_cosine
