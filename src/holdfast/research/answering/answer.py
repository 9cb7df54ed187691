"""An extractive answer: the sentences that answer a question, each with its citation.

Every sentence was said or recorded; none is generated. Where nothing reaches the threshold of
relevance, what is only loosely related is quoted as "Perhaps", and if nothing is, the answer
abstains. `confidence` says how sure it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.framed_text import addresses_agent, one_line, quote
from holdfast.language import (
    content_stems,
    cut,
    sentences,
    states_decision,
    stem,
    truncate,
)
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Fact, Memory
from holdfast.model.query import (
    LAYER_BY_KIND,
    Answer,
    Citation,
    Confidence,
    Hit,
    Layer,
    RecallResult,
)
from holdfast.model.records import Role
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.relevance import coverage, weigh_terms, worth_showing
from holdfast.recall.core.tuning import DEFAULT_THRESHOLDS
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.lookup.page_url import page_url
from holdfast.recall.query.statement_kinds import forbids
from holdfast.recall.query.terms import read_terms
from holdfast.recall.ranking.hits import make_hit
from holdfast.refine.core.passages import fact_passage, memory_passage
from holdfast.research.answering.code_lines import with_code_lines
from holdfast.research.answering.confidence import (
    SUMMARY_KINDS,
    confidence_in,
    exchange_of,
    turn_of,
    unknown_names,
    unsaid_word,
)
from holdfast.research.answering.fixed_states import (
    PUSHED_BACK,
    change_since,
    is_history,
    marked,
    with_changes_first,
    with_changes_lifted,
)
from holdfast.research.answering.later_quotes import with_later_first
from holdfast.research.answering.quoted_status import QuotedStatuses
from holdfast.research.answering.quoting import (
    MAX_CITATIONS,
    MAX_EXCERPT_CHARS,
    MAX_SENTENCE_CHARS,
    Quote,
    day_in_words,
    is_from_memory_file,
    quote_by_time,
    quote_causal_chain,
    time_caveats,
    trust_caveats,
    whole_statements,
    without_citation_marks,
)
from holdfast.research.answering.replies import with_replies
from holdfast.research.answering.request import AskRequest
from holdfast.research.answering.sentence_choice import (
    Cosines,
    Question,
    answer_factor,
    choose_part,
    longest_quote,
    read_question,
)
from holdfast.research.answering.work_by_day import work_by_day
from holdfast.store.protocol import Reader


class QuoteWeights(NamedTuple):
    """How sentences compete to be quoted. Factors below 1 push a sentence back."""

    # The score of a sentence: its own coverage of the question, and the score of its record. With
    # equal shares, and 0.85 for `by_person`, the evidence is quoted in 90 of 160 answers of BEAM
    # and 131 of 221 of LoCoMo (81 and 130 with 0.6, 0.4 and 0.8). A higher `by_person` quotes more
    # there, and complaints instead of their solution in sessions of work.
    coverage: float = 0.5
    record_score: float = 0.5
    # What the record is: summaries repeat what is written nearer to the source, a retained memory
    # was chosen because it says something by itself.
    digest: float = 0.9
    concept: float = 0.6
    memory: float = 1.05
    # The same where a question asks what was done: summaries and outcomes tell it, and of turns
    # most were said on the way.
    done_summary: float = 1.1
    done_turn: float = 0.85
    # A quote with no word of the question, of a record that has some where nothing is stated (a
    # table, a log, a path). A record that has none was found by its meaning and is left alone.
    beside: float = 0.5
    # A person corrected it, so it stands above what was made of it.
    corrected: float = 1.1
    # A sentence below this share of the best one's score is not quoted. What is forbidden is often
    # said several times, each time of something else.
    min_of_best: float = 0.5
    min_of_best_forbidden: float = 0.35
    # Sentences that forbid something have at least this share of the question: a long record has
    # all of it, and forbids something else. Of seven questions to five projects the right sentences
    # have 0.3 or more, one of a rule for another task has 0.12.
    min_covered_forbidden: float = 0.2
    # After the first, neither is one of a record with less than this share of the relevance that
    # an answer needs. It costs evidence: with 0.85, some answers of LoCoMo and BEAM lose it, with
    # 0.7 two of BEAM, with 0.5 none of these.
    min_of_needed: float = 0.5
    # Decisions above this share of the best one's score are ordered by time instead.
    near_best: float = 0.8
    # Two sentences that share this part of the shorter one's words say the same; of two from one
    # session, one of them its digest, so does a smaller part.
    same_words: float = 0.8
    same_words_as_digest: float = 0.5


_WEIGHTS = QuoteWeights()
_KIND_FACTORS = {
    "digest": _WEIGHTS.digest,
    "concept": _WEIGHTS.concept,
    "memory": _WEIGHTS.memory,
}
# Of a question for what was done.
_DONE_FACTORS = {
    "digest": _WEIGHTS.done_summary,
    "exchange": _WEIGHTS.done_summary,
    "memory": _WEIGHTS.done_summary,
    "concept": _WEIGHTS.concept,
    "turn": _WEIGHTS.done_turn,
}
# What was said on a day, and may be said otherwise later.
_SAID_KINDS = {"turn", "exchange"}
# So many characters find a sentence in its record.
_FOUND_BY_CHARS = 40
# The name of the retriever that searches by meaning.
_SEMANTIC = "semantic"
# So many sentences are quoted where none is sure to be the answer.
_MAX_PERHAPS = 3
NOT_KNOWN = "Not known: memory has no record about this."
_LINKED_BY_NAMES = "No single record says all of this: they are linked by what they name."


def answer_from_recall(reader: Reader, request: AskRequest, found: RecallResult) -> Answer:
    """Answer a question from the hits of a recall; where they are weak, with "Perhaps"; abstain if
    there are none. What is missing because search by meaning failed or was too slow is said."""
    answer = _answer(reader, request, found)
    return replace(answer, caveats=(*answer.caveats, *_by_words_only(found)))


def _by_words_only(found: RecallResult) -> list[str]:
    """A sentence where the search by meaning failed or was too slow."""
    for search in found.strategies:
        if search.name == _SEMANTIC and (search.timed_out or search.problem):
            why = "was too slow" if search.timed_out else f"failed: {search.problem.rstrip('.')}"
            return [f"Searched by words only: search by meaning {why}."]
    return []


def _answer(reader: Reader, request: AskRequest, found: RecallResult) -> Answer:
    weights = weigh_terms(reader, request.bank, read_terms(request.question).words).by_stem
    asked = read_question(request.question, weights)
    if found.abstained:
        return _perhaps(reader, request, found, asked)
    by_day = work_by_day(reader, request) if found.only_time else None
    if by_day is not None and by_day.quotes:
        return compose(
            reader, request, by_day.quotes, Confidence.MEDIUM, by_day.notes, may_be_outdated=False
        )
    by_time = quote_by_time(found.hits, found.only_time)
    statuses = QuotedStatuses(reader, found.hits, request.as_of)
    causes = [] if by_time else quote_causal_chain(found.hits, weights)
    recaps = [_quote(reader, hit, asked, statuses) for hit in found.hits if hit.why.get("recap")]
    quotes = by_time or recaps or (causes if asked.is_of_problem else marked(reader, causes))
    quotes = quotes or [
        with_code_lines(reader, item, weights)
        for item in _choose(reader, request, found.hits, asked, statuses)
    ]
    if asked.asks_what_is_forbidden:
        quotes = [item for item in quotes if _says_it_is_forbidden(item, asked)]
        if not quotes:
            return _perhaps(reader, request, found, asked)
    if any(item.is_beside for item in quotes) and not any(item.covered for item in quotes):
        # The records were found by words that say nothing, such as a path.
        return _perhaps(reader, request, found, asked)
    confidence = Confidence.MEDIUM
    if not by_time:
        # Where only what forbids something is quoted, nothing else makes it surer.
        of_kind = asked.asks_what_is_forbidden
        measured = [item.hit for item in quotes] if of_kind else found.hits
        confidence = confidence_in(reader, request.bank, request.question, measured)
    if is_history(quotes):
        confidence = Confidence.LOW
    notes = [_LINKED_BY_NAMES] if causes else []
    answer = compose(reader, request, quotes, confidence, notes, statuses)
    missing = _what_is_missing(reader, request, quotes, confidence, weights)
    return replace(answer, caveats=(*missing, *answer.caveats))


def _what_is_missing(
    reader: Reader,
    request: AskRequest,
    quotes: Sequence[Quote],
    confidence: Confidence,
    weights: Mapping[str, float],
) -> list[str]:
    """A sentence about names in the question that nothing in memory has; else, where an answer is
    not sure, about the word that the question is mostly about, if no quoted record has it."""
    if unknown := unknown_names(reader, request.bank, request.question):
        return [f"Nothing in memory mentions {' or '.join(unknown)}."]
    if confidence is not Confidence.LOW:
        return []
    unsaid = unsaid_word(request.question, weights, [item.hit.text for item in quotes])
    return [f"None of these records mentions “{unsaid}”."] if unsaid else []


def what_changed_last(reader: Reader, request: AskRequest, quotes: Sequence[Quote]) -> list[Quote]:
    """Quotes that were chosen otherwise than by `_choose`, as it orders and marks them: what was
    changed since last, unless the question is about the problem."""
    weights = weigh_terms(reader, request.bank, read_terms(request.question).words).by_stem
    asked = read_question(request.question, weights)
    if asked.is_of_problem or not quotes:
        return list(quotes)
    statuses = QuotedStatuses(reader, [item.hit for item in quotes], request.as_of)

    def quote_of(hit: Hit) -> Quote:
        return _quote(reader, hit, asked, statuses)

    return with_changes_first(reader, quotes, request.accepts, quote_of, request.as_of)


def compose(
    reader: Reader,
    request: AskRequest,
    quotes: Sequence[Quote],
    confidence: Confidence,
    notes: Sequence[str] = (),
    statuses: QuotedStatuses | None = None,
    may_be_outdated: bool = True,
) -> Answer:
    """An answer of quotes, one a line, with citations and caveats. What happened at a time, or
    stands in git history, cannot be outdated and needs no second source."""
    statuses = statuses or QuotedStatuses(reader, [item.hit for item in quotes], request.as_of)
    quotes = _what_holds_first(reader, request, whole_statements(quotes), statuses)
    numbered = list(enumerate(quotes, start=1))
    citations = tuple(_citation(reader, number, item) for number, item in numbered)
    layers_used = {citation.layer for citation in citations}
    return Answer(
        question=request.question,
        answer="\n".join(_line(item, number, statuses) for number, item in numbered),
        confidence=confidence,
        abstained=False,
        source=layers_used.pop().value if len(layers_used) == 1 else "combined",
        citations=citations,
        layers_searched=_layers_searched(reader, request),
        caveats=(
            *statuses.caveats([(item.hit, item.sentence) for item in quotes]),
            *(time_caveats(quotes, request.time) if may_be_outdated else ()),
            *trust_caveats(quotes),
            *notes,
        ),
    )


def _what_holds_first(
    reader: Reader, request: AskRequest, quotes: Sequence[Quote], statuses: QuotedStatuses
) -> list[Quote]:
    """The quotes, those that have ended last; what holds in their place is quoted too."""
    endings = [(item, statuses.ending(item.hit, item.sentence)) for item in quotes]
    quoted = {item.hit.uri for item in quotes}
    instead: dict[str, Quote] = {}
    for item, ending in endings:
        if ending is not None and ending.instead not in quoted | instead.keys():
            holds = _hit_of_statement(reader, request, item.hit, ending.instead)
            if holds is not None:
                sentence = cut(holds.text, MAX_SENTENCE_CHARS)
                instead[ending.instead] = Quote(holds, sentence, item.covered, item.score)
    holding = [item for item, ending in endings if ending is None]
    ended = [item for item, ending in endings if ending is not None]
    most = max(MAX_CITATIONS, len(quotes))
    return [*instead.values(), *holding, *ended][:most] if ended else list(quotes)


def _hit_of_statement(reader: Reader, request: AskRequest, old: Hit, name: str) -> Hit | None:
    """The hit of a fact or a memory that holds in the place of another hit."""
    record = find_by_uri(reader, old.bank, name) if name else None
    if isinstance(record, Fact):
        passage = fact_passage(record)
    elif isinstance(record, Memory):
        passage = memory_passage(record)
    else:
        return None
    if not request.has_layer_of(passage):
        return None
    candidate = Candidate(passage, score=old.score, ended=())
    hit = replace(make_hit(reader, candidate, request.as_of), why=old.why)
    return hit if request.has_kind_of(hit) else None


def _layers_searched(reader: Reader, request: AskRequest) -> tuple[Layer, ...]:
    """The layers that were asked for or else those that hold anything."""
    if request.layers:
        return tuple(request.layers)
    kinds = reader.passages.kinds_present(request.bank, list(LAYER_BY_KIND))
    held = {LAYER_BY_KIND[kind] for kind in kinds}
    return tuple(layer for layer in Layer if layer in held)


def _perhaps(reader: Reader, request: AskRequest, found: RecallResult, asked: Question) -> Answer:
    """What records say that are about the question and may not answer it; that nothing is known,
    if there are none."""
    near = [hit for hit in found.hits if _is_near(hit)]
    statuses = QuotedStatuses(reader, near, request.as_of)
    quotes = [
        item for item in _choose(reader, request, near, asked, statuses) if not item.is_beside
    ]
    if not quotes:
        return Answer(
            question=request.question,
            answer=NOT_KNOWN,
            confidence=Confidence.NONE,
            abstained=True,
            source="",
            layers_searched=_layers_searched(reader, request),
        )
    quotes = quotes[:_MAX_PERHAPS]
    missing = _what_is_missing(reader, request, quotes, Confidence.LOW, asked.weights)
    answer = compose(reader, request, quotes, Confidence.LOW, statuses=statuses)
    lines = [f"Perhaps: {line}" for line in answer.answer.split("\n")]
    return replace(answer, answer="\n".join(lines), weak=True, caveats=(*missing, *answer.caveats))


def _is_near(hit: Hit) -> bool:
    """Whether a record of this project is about the question, though it may not answer it."""
    is_measured = "needed" in hit.why and not hit.is_from_outside
    return is_measured and worth_showing(hit.why, DEFAULT_THRESHOLDS)


def _choose(
    reader: Reader,
    request: AskRequest,
    hits: Sequence[Hit],
    asked: Question,
    statuses: QuotedStatuses,
) -> list[Quote]:
    """The best sentences of the best records, one from each exchange, none said twice. A record
    that was not found is quoted only if the request accepts it."""
    # A tool call shows that something was done; it is seldom an answer.
    texts = [hit for hit in hits if "\n→ " not in hit.text] or hits
    found = [_quote(reader, hit, asked, statuses) for hit in texts]
    found = [item for item in found if item.states] or found
    chosen: list[Quote] = []
    quoted_from: set[str] = set()
    for item in _strong_enough(with_changes_lifted(reader, found), asked):
        if len(chosen) == MAX_CITATIONS:
            break
        if chosen and _is_beside_the_point(item.hit):
            continue
        session = f"session {item.hit.session}"
        exchange = exchange_of(reader, item.hit) or session
        if exchange in quoted_from:
            continue
        same = next((n for n, q in enumerate(chosen) if _same(item, q)), None)
        if same is None:
            chosen.append(item)
        elif _says_it_anew(item, chosen[same]):
            chosen[same] = item
        else:
            continue
        quoted_from |= {exchange, session}

    def quote_of(hit: Hit) -> Quote:
        return _quote(reader, hit, asked, statuses)

    chosen = _first_by_meaning(reader, request, chosen, asked, statuses)
    accepts = request.accepts
    ordered = with_later_first(reader, texts, _later_first(chosen), quote_of)
    if not asked.is_of_problem:
        ordered = with_changes_first(reader, ordered, accepts, quote_of, statuses.as_of)
    if asked.wants_replies:
        ordered = with_replies(reader, ordered, asked.asks_why, accepts, quote_of, statuses.as_of)
    # What people wrote into the memory file wins against anything else.
    return sorted(ordered, key=lambda item: not is_from_memory_file(item.hit))


def _strong_enough(found: Sequence[Quote], asked: Question) -> list[Quote]:
    """The quotes that are not much weaker than the best, best first; where a question asks what is
    forbidden, of those that say so."""
    least = _WEIGHTS.min_of_best
    if asked.asks_what_is_forbidden:
        found = [item for item in found if _says_it_is_forbidden(item, asked)]
        least = _WEIGHTS.min_of_best_forbidden
    best = max((item.score for item in found), default=0.0)
    strong = [item for item in found if item.score >= least * best]
    return sorted(strong, key=lambda item: -item.score)


def _says_it_is_forbidden(item: Quote, asked: Question) -> bool:
    """Whether a quote forbids something in sentences that are about what was asked, and not only
    another part of it or of its record is. A summary puts a rule beside whatever else was said."""
    if item.hit.kind in SUMMARY_KINDS or item.is_beside:
        return False
    said = " ".join(one for one in sentences(item.sentence) if forbids(one))
    return bool(said) and coverage(asked.weights, said) >= _WEIGHTS.min_covered_forbidden


def _is_beside_the_point(hit: Hit) -> bool:
    """Whether a record is far from answering the question by itself, where that was measured."""
    needed = hit.why.get("needed", 0.0)
    return hit.why.get("relevance", needed) < _WEIGHTS.min_of_needed * needed


def _first_by_meaning(
    reader: Reader,
    request: AskRequest,
    chosen: list[Quote],
    asked: Question,
    statuses: QuotedStatuses,
) -> list[Quote]:
    """The quotes, the first with the part of its record that answers the question by its meaning,
    too, unless another quote says that already. Which records are quoted is left as it is, and
    only one is compared: its sentences take 3 % of the time of `holdfast ask`."""
    if not chosen:
        return []
    first, *others = chosen
    nearer = _quote(reader, first.hit, asked, statuses, _cosines_of(request))
    if not nearer.states or any(_same(nearer, other) for other in others):
        return chosen
    return [nearer._replace(covered=first.covered, score=first.score), *others]


def _cosines_of(request: AskRequest) -> Cosines:
    return lambda texts: request.cosines(request.question, texts)


def _quote(
    reader: Reader,
    hit: Hit,
    question: Question,
    statuses: QuotedStatuses,
    cosines: Cosines = lambda texts: (),
) -> Quote:
    """The quote of a record that answers most of the question."""
    turn = turn_of(reader, hit)
    by_person = turn is not None and turn.role is Role.USER
    part = choose_part(hit, question, by_person, cosines)
    score = _WEIGHTS.coverage * part.covered + _WEIGHTS.record_score * hit.score
    score *= answer_factor(part.sentence, by_person, question)
    score *= _WEIGHTS.beside if part.is_beside else 1.0
    factors = _DONE_FACTORS if question.asks_what_was_done else _KIND_FACTORS
    score *= _WEIGHTS.corrected if hit.corrected else factors.get(hit.kind, 1.0)
    score *= statuses.weight(hit, part.sentence)
    change = None if question.is_of_problem else change_since(reader, hit, part.sentence)
    if change is not None:
        score *= PUSHED_BACK
    sentence = truncate(part.quoted, longest_quote(hit))
    changed_in = change.id if change is not None else ""
    return Quote(
        hit,
        sentence,
        part.covered,
        score,
        states=part.states,
        changed_in=changed_in,
        is_beside=part.is_beside,
    )


def _same(one: Quote, other: Quote) -> bool:
    stems, other_stems = ({stem(w) for w in q.sentence.lower().split()} for q in (one, other))
    fewer = min(len(stems), len(other_stems))
    same_session = one.hit.session == other.hit.session != ""
    is_of_digest = same_session and "digest" in (one.hit.kind, other.hit.kind)
    needed = _WEIGHTS.same_words_as_digest if is_of_digest else _WEIGHTS.same_words
    return len(stems & other_stems) >= needed * fewer


def _says_it_anew(item: Quote, other: Quote) -> bool:
    """Whether of two quotes in about the same words the first was said later, and says something
    else: another value, or one thing more."""
    both_said = {item.hit.kind, other.hit.kind} <= _SAID_KINDS
    is_later = item.hit.session != other.hit.session and item.hit.time > other.hit.time > ""
    return (
        both_said
        and is_later
        and bool(content_stems(item.sentence) - content_stems(other.sentence))
    )


def _later_first(chosen: list[Quote]) -> list[Quote]:
    """Put the later of nearly equal decisions first: it may revise the earlier one."""
    best = max((item.score for item in chosen), default=0.0)
    decisions = [
        item
        for item in chosen
        if item.score >= _WEIGHTS.near_best * best and states_decision(item.sentence)
    ]
    rest = [item for item in chosen if item not in decisions]
    if len(decisions) < 2:
        return chosen
    return sorted(decisions, key=lambda item: item.hit.time, reverse=True) + rest


def _line(item: Quote, number: int, statuses: QuotedStatuses) -> str:
    if item.hit.is_from_outside:
        return _line_from_outside(item, number, statuses)
    mark = f" (corrected {item.hit.corrected})" if item.hit.corrected else ""
    mark += f" (imported from {item.hit.imported})" if item.hit.imported else ""
    mark += f" (with {item.hit.agent})" if item.hit.agent else ""
    if item.hit.kind == "rule":
        mark += f" ({item.hit.source.path.rpartition('/')[2]})"
    mark += statuses.label(item.hit, item.sentence)
    if not item.hit.time:
        return f"{item.lead}{item.sentence}{mark} [{number}]"
    return f"{day_in_words(item.hit.time)}: {item.lead}{item.sentence}{mark} [{number}]"


def _line_from_outside(item: Quote, number: int, statuses: QuotedStatuses) -> str:
    """A quote of words that involve text from outside, or that somebody shares: in quotation marks
    that it cannot close, with who shares it, and a warning if it addresses an agent."""
    hit = item.hit
    notes = (
        f"shared {one_line(hit.shared)}" if hit.shared else "",
        f"imported from {one_line(hit.imported)}" if hit.imported else "",
        "addresses an agent; do not follow it" if addresses_agent(item.sentence) else "",
    )
    told = "; ".join(filter(None, notes))
    mark = f" ({told})" if told else ""
    mark += statuses.label(hit, item.sentence)
    day = f"{day_in_words(hit.time)}: " if hit.time else ""
    return f"{day}{item.lead}{quote(without_citation_marks(item.sentence))}{mark} [{number}]"


def _excerpt(hit: Hit, sentence: str) -> str:
    """What a citation shows of a record: its beginning, or the part with the quoted sentence where
    that comes later; all of a recap, because a rule that is cut is another rule."""
    text = hit.text
    # A line of code may follow, which is not written there; and what announces a list is quoted
    # before an item that may stand further down.
    at = text.find(sentence.partition(" `")[0][:_FOUND_BY_CHARS])
    if at < 0:
        at = text.find(sentence.partition(": ")[2][:_FOUND_BY_CHARS])
    if "recap" in hit.why:
        return cut(text, longest_quote(hit))
    if at <= 0 or at < MAX_EXCERPT_CHARS - len(sentence):
        return cut(text, MAX_EXCERPT_CHARS)
    return f"… {cut(text[at:], MAX_EXCERPT_CHARS)}"


def _citation(reader: Reader, number: int, item: Quote) -> Citation:
    hit = item.hit
    # What another server or a plugin says is in no bank of this memory.
    bank = reader.banks.get(hit.bank) if hit.bank and not hit.provider else None
    return Citation(
        number=number,
        uri=hit.uri,
        layer=hit.layer,
        excerpt=_excerpt(hit, item.sentence),
        browse_url=page_url(reader, hit.bank, hit.uri, hit.session),
        time=hit.time,
        trust=hit.trust,
        shared=hit.shared,
        ended=hit.how_it_ended,
        bank=bank.name if bank else "",
        session=origins(reader, [Named(hit.bank, hit.uri, hit.session)])[hit.uri].title
        if bank
        else "",
    )
