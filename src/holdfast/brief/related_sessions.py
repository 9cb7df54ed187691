"""Finds the sessions that a first prompt is about, and what they came to.

Most of what somebody wants to know again was never put as a decision: a cause that was found, what
was delivered, how something works. One sentence that is near in meaning proves little: every
project has sentences about commits, tests and buttons. A session that several of its records say to
be about the prompt, and that has its rarer words, proves more. Of such sessions those statements
are told that are nearest to the prompt and can be understood alone; of one without any, its nearest
exchange. Needs a model. The cross-encoder is not asked: its scores do not tell the prompts of
`GoalBriefLimits` from others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from holdfast.brief.first_prompt import PromptSimilarity
from holdfast.brief.known_statements import KnownStatement, own_words, state, tellable_of
from holdfast.brief.statement_ranking import ReplacedWork, is_same_matter
from holdfast.brief.work_items import WorkItem, normalise_path
from holdfast.language import content_stems, sentences, without_bold
from holdfast.model.knowledge import Memory
from holdfast.model.query import Passage
from holdfast.model.records import Exchange
from holdfast.model.trust import ENDED_STATUSES, Trust
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.recall.core.semantic_port import (
    BEST_PASSAGES,
    by_session,
    session_cosine,
    typical_cosine,
)
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class RelatedSessionLimits(NamedTuple):
    """What a session needs to be told. Chosen on 20 prompts about one project of 98 sessions,
    worded otherwise than its records, 20 about nothing, and 339 prompts of 25 other projects: 12,
    0 and 15 are told something. Of 20 about another project, which were not looked at before, 9 are
    told something, all of them of the right session, and 0 of 20 about nothing. `min_contrast` and
    `large_share` were chosen on a third project, of 19 sessions (`bench/RESULTS.md`)."""

    # The passages of a session whose words count, nearest first, and how much of them is read.
    read_passages: int = 6
    read_characters: int = 300
    # What is added for the share of the prompt's weight that those passages have, and how many of
    # its rare words they need.
    shared_words: float = 0.7
    min_rare_words: int = 2
    min_score: float = 0.65
    # How much nearer than the typical session it must be, unless it has so large a share of the
    # prompt's weight.
    min_contrast: float = 0.10
    large_share: float = 0.35
    # Sessions below this fraction of the best one are left out.
    fraction_of_best: float = 0.85
    sessions: int = 2
    statements: int = 3
    # What is told of an exchange.
    sentences: int = 2
    characters: int = 400


LIMITS = RelatedSessionLimits()
# A file outside of the project.
_ABSOLUTE = regex(r"[/~]|[A-Za-z]:")


class RelatedStatement(NamedTuple):
    """What a session came to: the words, who said them, and the record that holds them."""

    text: str
    by_agent: bool
    trust: Trust
    uri: str


class RelatedSession(NamedTuple):
    """A session that a prompt is about, and what to tell of it."""

    session: str
    title: str
    time: str
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


def related_sessions(
    reader: Reader,
    bank: str,
    prompt: PromptSimilarity,
    nearest: Sequence[ScoredPassage],
    outdated: Callable[[], Outdated],
) -> list[RelatedSession]:
    """The sessions that a prompt is about, best first, among those of the passages `nearest` to it.
    What is `outdated` is not told; it is asked for only if there is such a session."""
    found = by_session(nearest)
    typical = typical_cosine(found)
    scores = {session: _score(passages, prompt, typical) for session, passages in found.items()}
    ranked = sorted(scores, key=lambda session: (-scores[session], session))
    least = LIMITS.fraction_of_best * scores[ranked[0]] if ranked else 0.0
    chosen = [session for session in ranked if scores[session] >= max(least, 0.01)]
    if not chosen:
        return []
    ended, old = read_ended_words(reader, bank), outdated()
    told: list[RelatedSession] = []
    for session in chosen:
        if len(told) < LIMITS.sessions:
            passages = [one.passage for one in found[session]]
            told += _tell(reader, bank, passages, ended, old)
    return told


def _score(
    found: Sequence[ScoredPassage], prompt: PromptSimilarity, typical: float | None
) -> float:
    """How much the passages of a session, nearest first, say that it is about the prompt; 0 if that
    is not enough. `typical` is how near the sessions of the bank are, if that is known."""
    texts = (one.passage.body[: LIMITS.read_characters] for one in found[: LIMITS.read_passages])
    shared = prompt.shared_with(" ".join(texts))
    if shared.rare_words < LIMITS.min_rare_words:
        return 0.0
    cosine = session_cosine(found)
    score = cosine + LIMITS.shared_words * shared.share
    stands_out = (
        typical is None
        or cosine - typical >= LIMITS.min_contrast
        or shared.share >= LIMITS.large_share
    )
    return score if score >= LIMITS.min_score and stands_out else 0.0


def _tell(
    reader: Reader,
    bank: str,
    found: Sequence[Passage],
    ended: EndedWords,
    outdated: Outdated,
) -> Iterator[RelatedSession]:
    """What is told of the session of some passages; nothing if none of it can be told."""
    session = found[0].session
    known, digest = reader.sessions.get(bank, session), reader.sessions.digest(bank, session)
    if known is None or known.parent or digest is None:  # an agent's task is told by its parent
        return
    exchanges = reader.sessions.exchanges(bank, session)
    statements = list(_statements(reader, bank, found, ended, outdated))
    if not statements or found[0].kind == "exchange":
        statements = [*_results(found, exchanges, ended, outdated), *statements]
    if statements:
        changed = (normalise_path(file) for one in exchanges for file in one.files_modified)
        files = frozenset(file for file in changed if not _ABSOLUTE.match(file))
        places = tuple(one.seq for one in found[:BEST_PASSAGES])
        yield RelatedSession(
            session, digest.request, digest.started, files, _distinct(statements), places
        )


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
    by_person: dict[str, bool] = {}
    for memory in tellable_of(reader, bank, memories):
        known = state(reader, memory, ended, by_person)
        if known is not None and not outdated.has_statement(known):
            name = uri("memory", memory.id)
            yield RelatedStatement(known.text, memory.by_agent, memory.trust, name)


def _distinct(found: Iterable[RelatedStatement]) -> tuple[RelatedStatement, ...]:
    """The first statements, one of each matter."""
    kept: list[RelatedStatement] = []
    said: list[frozenset[str]] = []
    for one in found:
        own = content_stems(own_words(one.text))
        if len(kept) < LIMITS.statements and not any(is_same_matter(own, s) for s in said):
            kept.append(one)
            said.append(own)
    return tuple(kept)


def _results(
    found: Sequence[Passage],
    exchanges: Sequence[Exchange],
    ended: EndedWords,
    outdated: Outdated,
) -> Iterator[RelatedStatement]:
    """What was asked in the exchange that is nearest among some passages, and how it ended, in its
    first sentences."""
    nearest = next((one.id for one in found if one.kind == "exchange"), "")
    for one in exchanges:
        if one.id != nearest or outdated.has_exchange(one):
            continue
        told = [f"{one.title} →"]
        for sentence in sentences(without_bold(one.summary))[: LIMITS.sentences]:
            fits = sum(map(len, told)) + len(sentence) <= LIMITS.characters
            if fits and not ended.find(sentence, one.started, one.session, one.first_seq):
                told.append(sentence)
        if len(told) > 1:
            yield RelatedStatement(" ".join(told), True, one.trust, uri("exchange", one.id))
