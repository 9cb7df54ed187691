"""How sure an answer is. Everything that states a confidence takes it from here.

The levels are promises about answers (measured by `python -m bench.confidence`, see
`bench/RESULTS.md`): of the answers of *high* confidence at least 90% contain what was asked for, of
*medium* at least 65%. What was said once is at most medium, however well it fits, and so is what
comes from outside or from others alone; *low* means that something speaks of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.language import STOPWORDS, causal_relations, stem
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Memory
from holdfast.model.query import Confidence, Hit
from holdfast.model.records import Turn
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.relevance import coverage
from holdfast.recall.core.statements import statements
from holdfast.recall.core.tuning import DEFAULT_THRESHOLDS
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.terms import proper_names, read_terms
from holdfast.regex import regex
from holdfast.research.answering.sentence_choice import asks_for_reason
from holdfast.store.protocol import Reader

# Records that sum others up are no sources of their own.
SUMMARY_KINDS = frozenset(("digest", "concept"))
_BEYOND_QUOTES = regex(
    r"\bthe order in which\b|\bin (?:what|which) order\b|\bwalk me through the\b|"
    r"\b(?:summar(?:y|i[sz]e|ies)|overview) (?:of )?(?:how|all|everything)\b|"
    r"\b(?:comprehensive|complete|full) (?:summary|list|overview|timeline)\b|"
    r"\b(?:throughout|across|in all) (?:of )?(?:our|my|all|these|the) "
    r"(?:\w+ )?(?:conversations?|sessions?|chats?|projects?)\b|"
    r"\bhow many (?:different|distinct) |"
    r"\b(?:can|could|would|do) you (?:suggest|recommend)\b|"
    r"\b(?:can|could|would|will) you (?:please )?(?:show|teach|tell|explain|walk|guide)\b"
    r"[^.?!]{0,30}\bhow (?:to|i (?:can|could|should))\b|\b(?:do|would) you (?:think|advise)\b|"
    r"\bany (?:suggestions|advice|tips)\b",
    re.IGNORECASE,
)
_ABBREVIATION = regex(r"[b-df-hj-np-tv-xz]{3,}|[a-z]+\d\w*")


class ConfidenceThresholds(NamedTuple):
    """When an answer is of high or medium confidence. Chosen on the tuning halves of LoCoMo, BEAM
    and archaeology, so that not only the share keeps the promise, but the lower end of its interval
    (Wilson, 90% to one side): of high 22 of 22 answers contained what was asked for (from
    0.93), of medium 89 of 103 (from 0.82; BEAM alone 9 of 12)."""

    # High: the relevance of the best record, the share of the question that the words of one record
    # cover, the relevance of a record of another exchange, and words of the question that can be
    # looked for. Of fewer words, all are soon found together by chance.
    high_relevance: float = 0.7
    high_coverage: float = 0.95
    high_second: float = 0.5
    high_words: int = 5
    # Medium: how much more relevant the best record is than an answer needs to be. Besides, one
    # record has nearly all of the question, or it stands out: in a large bank much is about the
    # same, and the best of it is often beside the question. A question of two or three words is
    # mentioned by much that does not answer it (of three words 6 of 14 answers were right), unless
    # one record stands out a little, or it asks for a reason and a sentence with all words gives
    # one.
    medium_margin: float = 0.2
    medium_coverage: float = 0.85
    standing_out: float = 0.3
    medium_words: int = 4
    outstanding: float = 0.1
    # The share of a question's weight from which one word is what it is about. Chosen on 34
    # questions to one project: no quoted record has that word in 5 of 9 answers of low confidence
    # to what was never discussed, and in 1 of 13 to what was. Of the longer questions of BEAM (80)
    # hardly any has such a word: 0 of 13 and 2 of 40.
    main_word: float = 0.4


_LIMITS = ConfidenceThresholds()


class Evidence(NamedTuple):
    """The best that some records offer: their highest relevance and by how much that is more than
    needed, the best coverage of the question by words, and the relevance of a second exchange."""

    relevance: float = 0.0
    margin: float = 0.0
    coverage: float = 0.0
    second: float = 0.0


def confidence_in(
    reader: Reader, bank: str | None, question: str, hits: Sequence[Hit]
) -> Confidence:
    """The confidence in an answer to a question that rests on these hits of a bank. Where a name in
    the question is mentioned nowhere, they are about something else."""
    if not hits:
        return Confidence.NONE
    # What a conversation came to may answer a prompt of other words. How well it fits does not tell
    # right from wrong: of 22 such answers to questions of BEAM 2 were right, at 0.77 and 0.68, and
    # others wrong at 0.87.
    by_recap = any(hit.why.get("recap") for hit in hits)
    if by_recap or unknown_names(reader, bank, question) or asks_beyond_quotes(question):
        return Confidence.LOW
    found, words = measure_evidence(reader, hits), len(read_terms(question).words)
    if (
        found.relevance >= _LIMITS.high_relevance
        and found.coverage >= _LIMITS.high_coverage
        and found.second >= _LIMITS.high_second
        and words >= _LIMITS.high_words
        and _is_known_here(hits)
    ):
        return Confidence.HIGH
    ahead = found.relevance - found.second
    is_explained = _is_explained(question, hits)
    stands_out = words > 1 and ahead >= _LIMITS.outstanding
    is_specific = words >= _LIMITS.medium_words or stands_out or is_explained
    is_alone = ahead >= _LIMITS.standing_out or found.coverage >= _LIMITS.medium_coverage
    is_sure = found.margin >= _LIMITS.medium_margin and is_specific
    return Confidence.MEDIUM if is_sure and (is_alone or is_explained) else Confidence.LOW


def asks_beyond_quotes(question: str) -> bool:
    """Whether a question asks for what a few quotes cannot show: an order of events, a count or a
    summary over many conversations, or advice."""
    return _BEYOND_QUOTES.search(question) is not None


def _is_known_here(hits: Sequence[Hit]) -> bool:
    """Whether a record of this project would do as the second source. What others share, and text
    from outside, is never believed for agreeing with itself."""
    return any(
        _relevance_of(hit) >= _LIMITS.high_second
        for hit in hits
        if hit.status not in ENDED_STATUSES and not hit.is_from_outside
    )


def _is_explained(question: str, hits: Sequence[Hit]) -> bool:
    """Whether a question asks for a reason, and a sentence that has all of its words, of which
    there are several, gives one."""
    weights = {stem(word): 1.0 for word in read_terms(question).words}
    if len(weights) < 2 or not asks_for_reason(question):
        return False
    return any(
        coverage(weights, sentence) == 1.0
        and any(relation.how == "causes" for relation in causal_relations(sentence))
        for hit in hits
        if hit.status not in ENDED_STATUSES and hit.kind not in SUMMARY_KINDS
        for sentence in statements(hit)
    )


def unknown_names(reader: Reader, bank: str | None, question: str) -> list[str]:
    """The names in a question that no record of a bank has: words with a capital, and abbreviations
    (`tcsh`, `s3`), for which no other words can stand."""
    wanted = {*proper_names(question)}
    wanted |= {word for word in read_terms(question).words if _ABBREVIATION.fullmatch(word)}
    named = sorted(wanted - STOPWORDS)
    counts = reader.passages.term_frequencies(bank, named, 1) if named else []
    spelled = {word.lower(): word for word in re.findall(r"\w+", question)}
    known = zip(named, counts, strict=True)
    return [spelled.get(name, name) for name, count in known if not count]


def unsaid_word(question: str, weights: Mapping[str, float], texts: Sequence[str]) -> str:
    """The word that a question is mostly about, if no text has it or a synonym; otherwise ""."""
    total = sum(weights.values())
    for word in read_terms(question).words:
        if weights.get(stem(word), 0.0) < _LIMITS.main_word * total:
            continue
        terms = {word, *expand([word], Expansion.FULL)}
        own = {stem(part): 1.0 for term in terms for part in term.split()}
        if not any(coverage(own, text) for text in texts):
            spelled = {one.lower(): one for one in re.findall(r"\w+", question)}
            return spelled.get(word, word)
    return ""


def confidence_in_checked(cited: Sequence[Hit], kept: int, dropped: int) -> Confidence:
    """The confidence in what a model wrote, of which each sentence was compared with the records
    it cites: so many sentences were kept and dropped."""
    if dropped > kept:
        return Confidence.LOW
    sources = {hit.session or hit.uri for hit in cited}
    is_known_here = any(not hit.is_from_outside for hit in cited)
    is_sure = len(sources) > 1 and is_known_here and not dropped
    return Confidence.HIGH if is_sure else Confidence.MEDIUM


def measure_evidence(reader: Reader, hits: Sequence[Hit]) -> Evidence:
    """What hits offer. What has ended offers nothing: it is known that it was said, not that it
    holds."""
    holding = [hit for hit in hits if hit.status not in ENDED_STATUSES]
    sources = [hit for hit in holding if hit.kind not in SUMMARY_KINDS] or holding
    ranked = sorted(sources, key=_relevance_of, reverse=True)
    if not ranked:
        return Evidence()
    first = exchange_of(reader, ranked[0])
    others = (hit for hit in ranked[1:] if exchange_of(reader, hit) not in (first, ""))
    second = next(others, None)
    best = _relevance_of(ranked[0])
    needed = ranked[0].why.get("needed", DEFAULT_THRESHOLDS.by_words)
    covered = max(hit.why.get("coverage_alone", 0.0) for hit in ranked)
    return Evidence(best, best - needed, covered, _relevance_of(second) if second else 0.0)


def _relevance_of(hit: Hit) -> float:
    """How well a hit answers: by its words alone where nothing else was measured. Synonyms of the
    question's words tell what it may be about, not that it answers."""
    measured = hit.why.get("relevance", hit.why.get("coverage_alone", 0.0))
    return hit.why.get("own_words", measured)


def exchange_of(reader: Reader, hit: Hit) -> str:
    """The exchange of a turn or of a retained memory, any other record itself; "" for a summary of
    other records."""
    if hit.kind in SUMMARY_KINDS:
        return ""
    if hit.kind == "memory" and (of := _exchange_of_memory(reader, hit)):
        return of
    turn = turn_of(reader, hit)
    inside = [
        exchange.id
        for exchange in (reader.sessions.exchanges(turn.bank, turn.session) if turn else ())
        if turn and exchange.first_seq <= turn.seq <= exchange.last_seq
    ]
    return inside[0] if inside else hit.uri.rsplit("/", 1)[-1]


def _exchange_of_memory(reader: Reader, hit: Hit) -> str:
    """The exchange that a memory was retained from; "" for what was asked to be remembered."""
    found = reader.records.find(hit.bank, "memory", hit.uri.rsplit("/", 1)[-1], limit=1)
    sources = found[0].evidence_for if found and isinstance(found[0], Memory) else ()
    exchanges = [one.rsplit("/", 1)[-1] for one in sources if "://exchange/" in one]
    return exchanges[0] if exchanges else ""


def turn_of(reader: Reader, hit: Hit) -> Turn | None:
    """The turn that a hit is; None for another record."""
    if hit.kind != "turn":
        return None
    found = reader.records.find(hit.bank, "turn", hit.uri.rsplit("/", 1)[-1], limit=1)
    return found[0] if found and isinstance(found[0], Turn) else None
