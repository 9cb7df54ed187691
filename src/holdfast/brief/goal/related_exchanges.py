"""Finds the exchanges of earlier sessions that a first prompt is about, and what they came to.

Most of what somebody wants to know again was never put as a decision: a cause that was found, what
was delivered, how something works. One passage that is near in meaning proves little: every project
has passages about commits, tests and buttons. Four signals are weighed together (`SignalWeights`):
how near the passages of an exchange are, how far its session stands out from the others, the rarer
words that it shares with the prompt, and the share of the prompt's words that the memory has never
seen, which says that the matter is new. Of an exchange that the prompt is about, those statements
are told that are nearest to the prompt and can be understood alone, how its last message begins and
ends, and what its nearest message says; not what an agent was about to do. Needs a model. The
cross-encoder is not asked: its scores do not tell prompts about known matters from others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import NamedTuple

from holdfast.brief.goal.first_prompt import (
    PromptSimilarity,
    is_common,
    request_names,
    saved_commands,
)
from holdfast.brief.informative import is_of_the_moment
from holdfast.brief.known_statements import (
    KnownStatement,
    is_of_a_program,
    narrates,
    state,
    tellable_of,
)
from holdfast.brief.statement_ranking import ReplacedWork, is_same_matter
from holdfast.brief.work_items import WorkItem, normalise_path
from holdfast.language import (
    collapse_spaces,
    content_stems,
    folded_sentences,
    sentences,
    without_bold,
)
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Memory
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.trust import ENDED_STATUSES, Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.recall.core.semantic_port import (
    BEST_PASSAGES,
    by_session,
    session_cosine,
    typical_cosine,
)
from holdfast.refine.core.statement_similarity import own_words
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class SignalWeights(NamedTuple):
    """How much each signal says that a prompt is about an exchange: a logistic regression over 80
    prompts about matters of four projects, 80 about nothing in them and, at 0.3 of the weight, 428
    of other projects. From 0 on an exchange is told: the intercept is 0.2 above the fitted one."""

    intercept: float = -0.76
    # The cosine of the nearest passage.
    cosine: float = 1.6
    # How much nearer the session is than the typical one of the bank, and what is assumed in a bank
    # of too few sessions to tell.
    contrast: float = 7.1
    assumed_contrast: float = 0.15
    # The share of the prompt's rare words that the memory has never seen.
    unknown_share: float = -4.5


class RelatedExchangeLimits(NamedTuple):
    """What is compared and told."""

    # The exchanges that are weighed, nearest first; the passages of one whose words count, nearest
    # first, and how much of them is read.
    weighed: int = 12
    read_passages: int = 3
    read_characters: int = 600
    # What an exchange needs in any case: rare words of the prompt, and a session that is so much
    # nearer than the typical one, because every session is near to a prompt that names the project.
    min_rare_words: int = 2
    min_contrast: float = 0.06
    # Exchanges whose cosine is below this fraction of the best one are left out; the latest of a
    # session that is told needs less. Of 1,250 prompts about matters of twelve projects that are
    # told something, the right exchange is among the nearest four for 832; for 864 among five of
    # which at most two are of a session, the nearest and the latest. What lies between them is on
    # the way, and often did not stay so.
    fraction_of_best: float = 0.75
    fraction_of_latest: float = 0.7
    exchanges: int = 5
    exchanges_of_session: int = 2
    # How many rarer words an exchange that takes something back shares with what it takes back.
    shared_with_reversal: int = 3
    statements: int = 2
    # How much is told of a message on the way, and how much of it is read.
    characters: int = 400
    read_message: int = 1500
    # How much is told of the beginning and of the end of an agent's last message, which says what
    # came of the exchange: of 263 sentences that readers chose as worth telling, 249 are in it.
    beginning: int = 350
    end: int = 350
    # Turns in which the last message is looked for before the whole exchange is read.
    last_turns: int = 8
    # A sentence with fewer content words ("Done.") says nothing.
    min_stems: int = 3
    # A sentence of so many characters is not repeated where it stands inside of another.
    joined_sentence: int = 20


WEIGHTS = SignalWeights()
LIMITS = RelatedExchangeLimits()
# Announces what comes next, which is not told.
_ANNOUNCES = regex(
    r"\W*(?:(?:now|next|first|then|so|and|here)\b\W*)*let['’]?s\b|.*:[*_`\s]*$", re.IGNORECASE
)
# Says that something is done otherwise than before.
_TAKES_BACK = regex(
    r"\b(?:remov(?:e[ds]?|ing)|revert(?:ed|s|ing)?|undo(?:ne)?|undid|instead|rather than|don['’]?t|"
    r"do not|no longer|dropp?(?:ed|s|ing)?|replac(?:e[ds]?|ing)|back to|"
    r"(?:go|going|went|gone|get|switch\w*|chang\w+) back)\b",
    re.IGNORECASE,
)
_CODE = regex(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\S*/\S*")
# How a sentence ends; an item of a list may end with a word.
_ENDS = (".", "!", "?", "…", ":", ";", ",", "。")
# A file outside of the project.
_ABSOLUTE = regex(r"[/~]|[A-Za-z]:")


class RelatedStatement(NamedTuple):
    """What an exchange came to: the words, who said them, and the record that holds them."""

    text: str
    by_agent: bool
    trust: Trust
    uri: str
    # Who said it, if that is neither the agent nor the user of the session.
    who: str = ""


class RelatedExchange(NamedTuple):
    """An exchange that a prompt is about, and what to tell of it."""

    exchange: Exchange
    title: str
    files: frozenset[str]
    statements: tuple[RelatedStatement, ...]
    # The places of the passages that say it is about the prompt.
    places: tuple[int, ...]


class Outdated:
    """What the decisions around a prompt replaced."""

    def __init__(
        self,
        reader: Reader,
        bank: str,
        replaced: Sequence[WorkItem],
        decided: Sequence[WorkItem],
    ) -> None:
        """`replaced` are the items that a later one replaces, `decided` those that hold."""
        self._uris = {item.uri for item in replaced}
        self._work = ReplacedWork(reader, bank, replaced, (), decided)

    def has_statement(self, one: KnownStatement) -> bool:
        """Whether a statement was replaced."""
        files = filter(None, map(normalise_path, one.memory.where.split(", ")))
        otherwise = self._work.is_decided_otherwise(one.text, one.memory.when, files)
        return otherwise or self._work.contains(one)

    def has_exchange(self, one: Exchange) -> bool:
        """Whether what an exchange came to was replaced."""
        if one.status in ENDED_STATUSES or uri("exchange", one.id) in self._uris:
            return True
        files = map(normalise_path, one.files_modified)
        text = f"{one.title} {one.summary}"
        return self._work.is_decided_otherwise(text, one.ended, files)


class _Candidate(NamedTuple):
    """An exchange, its passages among the nearest, those of its session, and its session's other
    exchanges."""

    exchange: Exchange
    found: list[ScoredPassage]
    of_session: Sequence[ScoredPassage]
    beside: Sequence[Exchange]


def related_exchanges(
    reader: Reader,
    bank: str,
    prompt: PromptSimilarity,
    nearest: Sequence[ScoredPassage],
    outdated: Callable[[], Outdated],
    said: Sequence[str] = (),
) -> list[RelatedExchange]:
    """The exchanges that a prompt is about, nearest first, among those of the passages `nearest` to
    it. What is `outdated` is not told, nor what is `said` anyway; the former is asked for only if
    there is such an exchange."""
    sessions = by_session(nearest)
    typical = typical_cosine(sessions)
    least = nearest[-1].score if nearest else 0.0
    candidates = _candidates(reader, bank, sessions)
    if not any(_score(one, prompt, typical, least) >= 0 for one in candidates):
        return []
    ended, old = read_ended_words(reader, bank), outdated()
    told: list[RelatedExchange] = []
    for one in _nearest_and_latest(candidates, least):
        if len(told) < LIMITS.exchanges:
            told += _tell(reader, bank, one, ended, old, said)
    return told


def how_it_ended(
    reader: Reader, bank: str, id: str, said: Sequence[str], outdated: Outdated
) -> RelatedExchange | None:
    """What the last message of an exchange adds to what is said anyway; None if nothing, or if what
    came of the exchange was replaced."""
    found = reader.records.find(bank, "exchange", id, 1)
    exchange = found[0] if found else None
    if not isinstance(exchange, Exchange) or outdated.has_exchange(exchange):
        return None
    ended = read_ended_words(reader, bank)
    statements = tuple(_messages(reader, exchange, (), ended, said))
    return _related(exchange, statements) if statements else None


def _nearest_and_latest(candidates: Sequence[_Candidate], least: float) -> list[_Candidate]:
    """The candidates that are near, nearest first, a few of each session; behind the first one the
    latest of its session that is about the prompt: it tells how the matter stood in the end."""
    cosines = {one.exchange.id: session_cosine(one.found, least) for one in candidates}
    ranked = sorted(candidates, key=lambda one: (-cosines[one.exchange.id], one.exchange.id))
    best = cosines[ranked[0].exchange.id]
    chosen: list[_Candidate] = []
    for one in ranked:
        told = {other.exchange.id for other in chosen}
        if cosines[one.exchange.id] < LIMITS.fraction_of_best * best or one.exchange.id in told:
            continue
        session = [other for other in ranked if other.exchange.session == one.exchange.session]
        before = sum(other.exchange.id in told for other in session)
        if before < LIMITS.exchanges_of_session:
            chosen.append(one)
        if not before:
            least_of_latest = LIMITS.fraction_of_latest * best
            about = [o for o in session if cosines[o.exchange.id] >= least_of_latest]
            latest = max((one, *about), key=lambda other: other.exchange.first_seq)
            last = _taken_back(one) or ([latest] if latest is not one else [])
            chosen += (other for other in last if other.exchange.id not in told)
    return chosen


def _taken_back(one: _Candidate) -> list[_Candidate]:
    """The exchange after one in its session that says most clearly that something of it was removed
    or is done otherwise; none if there is no such exchange."""
    own = _rare_stems(one.exchange)
    shared = {
        other: len(own & _rare_stems(other))
        for other in one.beside
        if other.first_seq > one.exchange.first_seq and _TAKES_BACK.search(other.title)
    }
    most = max(shared.values(), default=0)
    if most < LIMITS.shared_with_reversal:
        return []
    back = [other for other, count in shared.items() if count == most]
    return [one._replace(exchange=back[-1], found=[])]


def _rare_stems(exchange: Exchange) -> frozenset[str]:
    stems = content_stems(f"{exchange.title} {exchange.summary}")
    return frozenset(root for root in stems if not is_common(root))


def _candidates(
    reader: Reader, bank: str, sessions: Mapping[str, Sequence[ScoredPassage]]
) -> list[_Candidate]:
    """The exchanges of the passages of some sessions, nearest first, without saved commands."""
    found: dict[str, _Candidate] = {}
    best = sorted((one for of in sessions.values() for one in of), key=lambda one: -one.score)
    exchanges: dict[str, list[Exchange]] = {}
    for one in best:
        session = one.passage.session
        if session not in exchanges:
            if len(found) >= LIMITS.weighed:
                continue
            exchanges[session] = reader.sessions.exchanges(bank, session)
        exchange = _exchange_of(one.passage, exchanges[session])
        if exchange is not None and (exchange.id in found or len(found) < LIMITS.weighed):
            known = found.setdefault(
                exchange.id, _Candidate(exchange, [], sessions[session], exchanges[session])
            )
            known.found.append(one)
    commands = saved_commands(
        name for of in exchanges.values() for one in of for name in _request_names(one)
    )
    for of in exchanges.values():
        of[:] = [one for one in of if commands.isdisjoint(_request_names(one))]
    return [one for one in found.values() if one.exchange in one.beside]


def _request_names(exchange: Exchange) -> tuple[str, ...]:
    return request_names(exchange.title, exchange.details)


def _exchange_of(passage: Passage, exchanges: Sequence[Exchange]) -> Exchange | None:
    """The exchange that a passage belongs to; None for a digest, and for what a tool said."""
    if passage.kind == "exchange":
        return next((one for one in exchanges if one.id == passage.id), None)
    if passage.kind == "digest" or passage.role == "tool":
        return None
    inside = (one for one in exchanges if one.first_seq <= passage.seq <= one.last_seq)
    return next(inside, None)


def _score(one: _Candidate, prompt: PromptSimilarity, typical: float | None, least: float) -> float:
    """How much the signals say that a prompt is about an exchange. `typical` is how near the
    sessions of the bank are, if that is known; `least` how near the last passage is that was
    found."""
    passages = one.found[: LIMITS.read_passages]
    shared = prompt.shared_with(
        " ".join(near.passage.body[: LIMITS.read_characters] for near in passages)
    )
    contrast = WEIGHTS.assumed_contrast
    if typical is not None:
        contrast = session_cosine(one.of_session, least) - typical
    if shared.rare_words < LIMITS.min_rare_words or contrast < LIMITS.min_contrast:
        return -inf
    return (
        WEIGHTS.intercept
        + WEIGHTS.cosine * one.found[0].score
        + WEIGHTS.contrast * contrast
        + WEIGHTS.unknown_share * prompt.unknown_share
    )


def _tell(
    reader: Reader,
    bank: str,
    one: _Candidate,
    ended: EndedWords,
    outdated: Outdated,
    said: Sequence[str],
) -> Iterator[RelatedExchange]:
    """What is told of an exchange beyond what is said anyway; nothing if none of it can be told."""
    exchange = one.exchange
    session = reader.sessions.get(bank, exchange.session)
    if session is None or session.parent:  # an agent's task is told by its parent
        return
    found = [near.passage for near in one.found]
    stated = _statements(reader, bank, found, ended, outdated)
    # The title is told anyway.
    stated = (it for it in stated if own_words(it.text) not in exchange.title)
    statements = _distinct(stated, LIMITS.statements, said)
    # What takes something back is told by its own words, whatever is decided around it.
    ended_since = outdated.has_exchange(exchange) if found else exchange.status in ENDED_STATUSES
    if not ended_since:
        known = [*said, *(one.text for one in statements)]
        statements += tuple(_messages(reader, exchange, found, ended, known))
    if statements:
        yield _related(exchange, statements, tuple(near.seq for near in found[:BEST_PASSAGES]))


def _related(
    exchange: Exchange, statements: tuple[RelatedStatement, ...], places: tuple[int, ...] = ()
) -> RelatedExchange:
    changed = map(normalise_path, exchange.files_modified)
    files = frozenset(file for file in changed if not _ABSOLUTE.match(file))
    return RelatedExchange(exchange, exchange.title, files, statements, places)


def _statements(
    reader: Reader,
    bank: str,
    found: Sequence[Passage],
    ended: EndedWords,
    outdated: Outdated,
) -> Iterator[RelatedStatement]:
    """The statements among some passages that hold and can be understood alone, nearest first."""
    ids = [one.id for one in found if one.kind == "memory"]
    records = (record for id in ids for record in reader.records.find(bank, "memory", id, 1))
    memories = [record for record in records if isinstance(record, Memory)]
    if not memories:
        return
    by_person: dict[str, bool] = {}
    for memory in tellable_of(reader, bank, memories):
        known = state(reader, memory, ended, by_person)
        if known is not None and not outdated.has_statement(known):
            name = uri("memory", memory.id)
            yield RelatedStatement(known.text, memory.by_agent, memory.trust, name)


def _distinct(
    found: Iterable[RelatedStatement], most: int, said: Sequence[str]
) -> tuple[RelatedStatement, ...]:
    """The first statements, one of each matter that is not said anyway, at most so many."""
    kept: list[RelatedStatement] = []
    known = [content_stems(own_words(text)) for text in said]
    for one in found:
        own = content_stems(own_words(one.text))
        if not any(is_same_matter(own, before) for before in known):
            kept.append(one)
            known.append(own)
            if len(kept) == most:
                break
    return tuple(kept)


def _messages(
    reader: Reader,
    exchange: Exchange,
    found: Sequence[Passage],
    ended: EndedWords,
    told: Sequence[str],
) -> Iterator[RelatedStatement]:
    """How the exchange ended, and what the nearest message of an agent among some passages says,
    beyond what is told; of an exchange that somebody corrected, their words alone. JSON is nobody's
    words: programs ask agents for it."""
    known = reader.curation.state(exchange.bank, "exchange", exchange.id)
    if known is not None and known.text:
        yield from _correction(known, exchange, told)
        return
    said = [content_stems(own_words(text)) for text in told]

    def telling(text: str, seq: int) -> list[str]:
        """The sentences of a message that say something new and hold."""
        stems = {one: content_stems(own_words(one)) for one in _sentences_of(text)}
        new = [
            one
            for one, own in stems.items()
            if _says_something(one)
            and not any(is_same_matter(own, before) for before in said)
            and not ended.find(one, exchange.started, exchange.session, seq)
        ]
        said.extend(stems[one] for one in new)
        return new

    last = _last_message(reader, exchange)
    text, seq = (last.text, last.seq) if last else (exchange.summary, exchange.last_seq)
    if words := _beginning_and_end(telling(text, seq)):
        yield RelatedStatement(words, True, exchange.trust, uri("exchange", exchange.id))
    by_agent = (one for one in found if one.kind == "turn" and one.role == "assistant")
    near = next((one for one in by_agent if not is_of_a_program(one.body)), None)
    if near is None or (last is not None and near.id == last.id):
        return
    if words := _beginning(telling(near.body[: LIMITS.read_message], near.seq)):
        yield RelatedStatement(words, True, exchange.trust, uri("turn", near.id))


def _correction(
    known: CurationState, exchange: Exchange, told: Sequence[str]
) -> Iterator[RelatedStatement]:
    """A correction of an exchange, without what the brief says anyway; the title if that is all."""
    # A decision may join the first line with the next.
    joined = collapse_spaces(" ".join(told))
    before = folded_sentences(exchange.title, *told)
    said = (one for line in known.text.splitlines() for one in sentences(line))
    new = [
        one
        for one in said
        if not folded_sentences(one) <= before
        and not (len(one) >= LIMITS.joined_sentence and collapse_spaces(one) in joined)
    ]
    who = f"{known.who}, correcting this on {known.time[:10]}"
    words = _beginning_and_end(new) or exchange.title
    trust = known.trust_of(exchange.trust)
    yield RelatedStatement(words, known.by_agent, trust, uri("exchange", exchange.id), who)


def _sentences_of(message: str) -> list[str]:
    return [] if is_of_a_program(message) else sentences(without_bold(message))


def _last_message(reader: Reader, exchange: Exchange) -> Turn | None:
    """The last message of the agent in an exchange; None if there is none, or if a model or a
    person wrote what came of it."""
    if exchange.author or exchange.status is not Status.OBSERVED:
        return None
    last = exchange.last_seq
    near_the_end = max(exchange.first_seq, last - LIMITS.last_turns)
    for first in dict.fromkeys((near_the_end, exchange.first_seq)):
        turns = reader.turns.of_session(exchange.bank, exchange.session, first, last)
        said = [turn for turn in turns if turn.role is Role.ASSISTANT and turn.text.strip()]
        if said:
            return said[-1]
    return None


def _beginning_and_end(found: Sequence[str]) -> str:
    """Whole sentences from the beginning and from the end, as many as there is room for; a mark
    where some are left out between."""
    first = _count(found, LIMITS.beginning)
    rest = found[first:]
    last = _count(rest[::-1], LIMITS.end, least=0)
    gap = ["…"] if last < len(rest) else []
    head = _joined(found[:first])[: LIMITS.beginning + LIMITS.end]
    return " ".join(filter(None, [head, *gap, _joined(rest[len(rest) - last :])]))


def _joined(found: Sequence[str]) -> str:
    """Sentences one after the other; items of a list, which end without a mark, with one between
    them."""
    closed = (one if one.endswith(_ENDS) else f"{one};" for one in found[:-1])
    return " ".join([*closed, *found[-1:]])


def _count(found: Sequence[str], room: int, least: int = 1) -> int:
    """How many sentences fit, in their order; at least so many."""
    lengths = accumulate(len(one) + 1 for one in found)
    return max(least, sum(length <= room + 1 for length in lengths))


def _says_something(sentence: str) -> bool:
    """Whether a sentence of an agent tells what is or was, not what the agent is about to do, asks
    or offers, nor how far a run is."""
    if _ANNOUNCES.match(sentence) or narrates(sentence) or is_of_the_moment(sentence):
        return False
    return len(content_stems(_CODE.sub("", sentence))) >= LIMITS.min_stems


def _beginning(found: Iterable[str]) -> str:
    """As many whole sentences as there is room for; the beginning of the first in any case."""
    told: list[str] = []
    for sentence in found:
        if sum(map(len, told)) + len(sentence) > LIMITS.characters and told:
            break
        told.append(sentence)
    return _joined(told)[: LIMITS.characters]
