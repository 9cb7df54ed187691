"""Which of the records that a search found are evidence, and whether they answer the question.

Everything that answers (`ask`, `research`, `reflect`, and every server and page through them) takes
its evidence from here. A question, a request or a search is found by the words of a question and
says nothing about it; what an agent repeats from memory is no second source of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast.language import content_stems, shared_fraction
from holdfast.lazy_dataclass import replace
from holdfast.model.query import Hit, RecallResult
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.uris import parse_uri
from holdfast.recall.core.relevance import answers, combine, coverage, weigh_terms
from holdfast.recall.core.statements import is_output, is_typed, statements, states
from holdfast.recall.query.terms import names_something, read_terms
from holdfast.refine.core.memory_calls import without_retold
from holdfast.regex import regex
from holdfast.store.protocol import Reader

# Coverage and relevance are noted with three and four digits.
_ROUNDED = 0.001
# Of two records that share this much of the shorter one's words, one may repeat the other.
_SAME_WORDS = 0.6
# Letters and digits in one word: a code, a hash, a version.
_CODES = regex(r"\b(?=\w*\d)(?=\w*[A-Za-z])\w{4,}\b")
# What only the output of tools tells.
_ASKS_FOR_OUTPUT = regex(
    r"\b(?:outputs?|print(?:s|ed|out)?|logs?|logged|errors?|exceptions?|warnings?|stack ?traces?|"
    r"tracebacks?|exit (?:codes?|status)|return codes?|commands?(?![ -]lines?)|invocations?|"
    r"invoked?|ran|runs?|executed?|fail(?:s|ed|ures?|ing)?|pass(?:es|ed)?|results?|timings?|benchmarks?|measured)\b",
    re.IGNORECASE,
)


def evidence_in(reader: Reader, bank: str | None, found: RecallResult) -> RecallResult:
    """A result with only the hits that are evidence. Where none of them answers, it abstains, and
    they are weak; where the question names nothing that could be answered, it has none."""
    wants_time = found.only_time or any("recent" in hit.why for hit in found.hits)
    if not wants_time and not names_something(found.query):
        return replace(found, abstained=True, hits=())
    asked = [hit for hit in found.hits if _is_asked(hit, found.query)]
    by_time = {hit.uri for hit in asked if _is_by_time(hit, found.only_time)}
    stating = [(hit, statements(hit)) for hit in asked]
    kept = [
        (hit, said)
        for hit, said in stating
        if said or hit.provider or (hit.kind == "digest" and hit.uri in by_time)
    ]
    typed = any(is_typed(hit) for hit, _ in kept)
    weights = weigh_terms(reader, bank, read_terms(found.query).words).by_stem if typed else {}
    hits = [_measured(hit, said, weights) for hit, said in _without_repeats(reader, kept)]
    strong = [hit for hit in hits if not hit.weak]
    if any(hit.uri in by_time or _answers(hit) for hit in strong):
        return replace(found, hits=tuple(strong))
    return replace(found, abstained=True, hits=tuple(replace(hit, weak=True) for hit in hits))


def may_answer(hit: Hit, question: str) -> bool:
    """Whether a hit states something, and is of a kind that a question may be answered with."""
    return bool(statements(hit)) and _is_asked(hit, question)


def _is_asked(hit: Hit, question: str) -> bool:
    """Whether a hit is no output of a tool, or a question is about what tools were called with and
    what they printed, or names something that stands there as it is written."""
    if not is_output(hit) or _ASKS_FOR_OUTPUT.search(question):
        return True
    names = (*read_terms(question).phrases, *_CODES.findall(question))
    return any(name.lower() in hit.text.lower() for name in names)


def _is_by_time(hit: Hit, only_time: bool) -> bool:
    """Whether a hit answers because of its time: it is a session and the question asks for the
    latest work, or the question asks for whatever happened then. Of a question that names
    something, a time is only a part."""
    if only_time:
        return "temporal" in hit.why
    return hit.kind == "digest" and "recent" in hit.why


def _answers(hit: Hit) -> bool:
    """Whether a hit answers by itself. One without a measure was found by an exact name or by
    somebody else's server, which decided that, as did whoever found a recap; a session of a time
    that was named is none."""
    if hit.why.get("recap"):
        return True
    if "needed" in hit.why:
        return answers(hit.why)
    return "recent_sessions" not in hit.why


def _measured(hit: Hit, said: Sequence[str], weights: Mapping[str, float]) -> Hit:
    """A hit whose coverage is that of its statements, if a person typed it: the words of a question
    beside them are not their subject."""
    if not is_typed(hit) or "coverage" not in hit.why:
        return hit
    covered = round(coverage(weights, " ".join(said)), 3)
    before, relevance = hit.why["coverage"], hit.why.get("relevance", 0.0)
    lower = min(relevance, combine(min(before, covered), cosine_in(hit.why)))
    why = {"coverage_alone": covered, "relevance": round(lower, 4)}
    return replace(hit, why={**hit.why, **why})


def cosine_in(measures: Mapping[str, float]) -> float:
    """The cosine that the relevance of a hit was combined from; 0 where none is known."""
    covered, relevance = measures["coverage"], measures.get("relevance", 0.0)
    is_by_words = abs(relevance - covered) < _ROUNDED
    return max(0.0, (3 * relevance - covered) / 2) if not is_by_words else 0.0


def _without_repeats(
    reader: Reader, kept: Sequence[tuple[Hit, list[str]]]
) -> Iterator[tuple[Hit, list[str]]]:
    """The hits without those in which an agent repeats another hit after asking memory."""
    stems = {hit.uri: content_stems(" ".join(said)) for hit, said in kept}
    for hit, said in kept:
        alike = [
            other
            for other, _ in kept
            if other.uri != hit.uri
            and (other.session != hit.session or not hit.session)
            and shared_fraction(stems[hit.uri], stems[other.uri]) >= _SAME_WORDS
            and (not other.time or other.time <= hit.time)
        ]
        if not alike or not _is_retold(reader, hit):
            yield hit, said


def _is_retold(reader: Reader, hit: Hit) -> bool:
    """Whether an agent said it right after asking memory."""
    named = parse_uri(hit.uri)
    if named is None or hit.kind not in ("turn", "exchange"):
        return False
    for record in reader.records.find(hit.bank, hit.kind, named.id, 1):
        if isinstance(record, Exchange):
            replied = any(t.role is Role.ASSISTANT for t in _own_turns(reader, record))
            return not replied and not states(record.title, by_person=True)
        if isinstance(record, Turn):
            around = reader.sessions.exchanges(record.bank, record.session)
            within = [x for x in around if x.first_seq <= record.seq <= x.last_seq]
            return any(record.id not in {t.id for t in _own_turns(reader, x)} for x in within)
    return False


def _own_turns(reader: Reader, exchange: Exchange) -> list[Turn]:
    turns = reader.turns.of_session(
        exchange.bank, exchange.session, exchange.first_seq, exchange.last_seq
    )
    return without_retold(turns)
