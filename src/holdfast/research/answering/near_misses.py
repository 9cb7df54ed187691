"""What is told of the records nearest to a question that none of them clearly answers."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.framed_text import quote
from holdfast.language import truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.research.answering.evidence import cosine_in, may_answer
from holdfast.research.answering.sentence_choice import Question, choose_part

# Put before a quote that may be the answer.
PERHAPS = "perhaps: "
PERHAPS_NOTE = "No record clearly answers this; the nearest one is quoted."
_NOT_KNOWN = "Not known: memory has no record about this."
_NOT_SURE = "Not known: nothing in memory clearly answers this; the nearest records are listed."
_NEAREST = "Nearest: "


class NearMissLimits(NamedTuple):
    """When a record below the threshold is named, and when it is quoted."""

    # From this share of the question's weight on, by so many characters.
    coverage: float = 0.2
    named_chars: int = 160
    # Quoted: up to so much below the threshold, if it is so near in meaning: then it says the same
    # in other words. Of the questions of LoCoMo and BEAM to another bank (tuning halves, 100 and
    # 39) none is quoted; with less coverage, unrelated statements about a named thing are.
    quoted_margin: float = 0.04
    quoted_cosine: float = 0.45


_LIMITS = NearMissLimits()


def not_known(caveats: Sequence[str]) -> str:
    """The text of an answer that abstains. Where its caveats name near misses, there are records
    about it, and none is sure to be the answer."""
    return _NOT_SURE if any(note.startswith(_NEAREST) for note in caveats) else _NOT_KNOWN


def nearest_notes(misses: Sequence[Hit], asked: Question) -> tuple[str, ...]:
    """One sentence about each record that is near: what it says of the question."""
    near = filter(_is_near, misses)
    said = [(hit, choose_part(hit, asked, by_person=False).sentence) for hit in near]
    return tuple(
        f"{_NEAREST}{quote(truncate(sentence, _LIMITS.named_chars))} ({hit.uri})"
        for hit, sentence in said
    )


def perhaps_answer(misses: Sequence[Hit], question: str) -> Hit | None:
    """The first record that may be the answer, though none reaches the threshold."""
    return next((hit for hit in misses if _is_close(hit) and may_answer(hit, question)), None)


def _is_near(hit: Hit) -> bool:
    return hit.why.get("coverage", 0.0) >= _LIMITS.coverage


def _is_close(hit: Hit) -> bool:
    if "needed" not in hit.why or not _is_near(hit):
        return False
    margin = hit.why["needed"] - hit.why["relevance"]
    return margin <= _LIMITS.quoted_margin and cosine_in(hit.why) >= _LIMITS.quoted_cosine
