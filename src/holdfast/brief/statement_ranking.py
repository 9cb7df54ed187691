"""In which order the statements of earlier sessions are told in a session brief.

A statement has the score by which it was chosen from its session (`Memory.worth`), and one that
says how likely a later session wants it (`usefulness`). It counts more if a person lays something
down, if it tells a cause, if several sessions have it, if a session used it, and if it is about
files of the branch that was worked on last. Long ones count less, since they take the room of
others, and so does each further one of the same session, so that breadth comes before depth. One
that is hardly useful is not told: better an empty place.

Nor is one told that says no more than the repository does (`informative`). What a later statement
replaced is not told, whoever repeats it (`ReplacedWork`), nor what a person took back later in the
same session, what a later request dealt with again (`later_work`), or a cause that was guessed or
diagnosed again.

What a reader said of a statement stands above all that is estimated here (`verdicts`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from holdfast.brief.informative import informative_part, is_offer, lasting_part
from holdfast.brief.known_statements import (
    SETTLING_KINDS,
    KnownStatement,
    is_laid_down,
    is_open,
    latest_sessions,
    state,
    tellable,
    tells_cause,
    tells_fault,
)
from holdfast.brief.later_work import LaterWork
from holdfast.brief.usefulness import taken_off_for, usefulness
from holdfast.brief.verdicts import Verdicts, read_verdicts
from holdfast.brief.work_items import WorkItem, normalise_path
from holdfast.language import content_stems
from holdfast.model.knowledge import Kind, Memory, Recap
from holdfast.model.records import Exchange
from holdfast.model.uris import uri
from holdfast.recall.core.ended_words import EndedWords
from holdfast.recall.retrievers.recaps import LIMITS as RECAP_LIMITS
from holdfast.recall.retrievers.recaps import RecapSearch
from holdfast.refine.core.statement_similarity import (
    has_amending_phrase,
    own_words,
    statement_features,
    supersedes,
)
from holdfast.refine.facts.amendments import amends
from holdfast.refine.facts.hypotheses import is_hedged
from holdfast.regex import regex
from holdfast.store.protocol import Reader


class RankingWeights(NamedTuple):
    """What is added to the usefulness of a statement, which lies between -3 and 2. Chosen on the
    tuning half of `bench.start_brief`."""

    # For `Memory.worth`, which lies between -1 and 4: alone, usefulness tells less of what is
    # labelled as needed. With 0.3 two items less are told of 155.
    worth: float = 0.8
    recap: float = 1.0
    # What a person laid down, and causes: a reader of real briefs wants them.
    laid_down: float = 1.2
    cause: float = 0.5
    repeated: float = 0.3
    used: float = 0.5
    on_branch: float = 0.3
    # Taken off for each character, and for each statement of the same session that is told before.
    per_character: float = 0.006
    per_session: float = 0.2
    # Statements below this, but for their length, are not told, unless they have no score because a
    # rule made them or a model wrote them. A fifth of the lines goes, most of it useless or untrue.
    least: float = -0.8
    # Taken off what was said on the way to a change: a third of it is untrue by the end, of the
    # rest a fifth.
    before_changes: float = 0.8
    # Taken off what tells how things were when it was said: two fifths of it is untrue by the end.
    of_the_moment: float = 1.5
    # The least worth of what an agent said. Of 562 statements of 16 projects that could be told
    # half go; readers found 23% of those useful, and 40% of the others.
    agent_worth: float = 0.5
    # A later request of the same session takes a statement back if it asks for a change and shares
    # so many content words, and this share of its own.
    taken_back_words: int = 2
    taken_back_share: float = 0.5
    # A later decision about the same files replaces a statement that shares so many of its content
    # words with it.
    decided_words: int = 2
    decided_share: float = 0.3
    # A statement is ended by one that rejects something, if it states this share of what is
    # rejected.
    ended_share: float = 0.75
    # A cause gives way to a later one of its session that shares so many content words with it.
    diagnosed_words: int = 3
    # Two statements with this share of the content words of the shorter one are one matter.
    same_matter: float = 0.5
    # The turns before a recap that tell whether nothing but talk led to it.
    turns_of_talk: int = 12
    # Sessions whose branch and files count as what is worked on.
    sessions: int = 3
    # What was called useful comes before all that is estimated to be.
    called_useful: float = 20.0


_WEIGHTS = RankingWeights()
# How an outcome begins that is not finished, as the rules of memories write it.
_BEGUN = ("Began to ", "Began the plan ")
# An agent's account of what it does itself.
_SPEAKS_OF_ITSELF = regex(
    r"\W*(?:(?:now|so|next|then|also|ok(?:ay)?),? )?(?:I|I['’](?:m|ve|ll|d)|we)\b", re.IGNORECASE
)
# How things were when it was said, and what might be done.
_OF_THE_MOMENT = regex(
    r"\b(?:today|currently|right now|at the moment|for now|still|already|not yet|keep open|"
    r"(?:do )?not close(?:able)?|workers?|worktrees?|hiccup|short answer)\b|"
    r"\boptions\b[^.:]{0,40}:|\bconcrete changes?\b",
    re.IGNORECASE,
)
# Asks for something else than there is.
_ASKS_FOR_CHANGE = regex(
    r"\b(?:remove|delete|drop|revert|undo|get rid of|back out|roll(?:ed)? back|rename|replace|"
    r"take (?:it |that |this )?out|(?:move|change) (?:it|this|that|them|the)|no longer|not needed|"
    r"don['’]?t (?:need|want|like)|instead|rather than|should(?:n['’]?t| not)|"
    r"(?:should|must) (?:be(?! able)|only|just))\b",
    re.IGNORECASE,
)


class ReplacedWork:
    """What decisions and recaps of a bank replaced, and so must not be told as if it held."""

    def __init__(
        self,
        reader: Reader,
        bank: str,
        replaced: Iterable[WorkItem] = (),
        ended_records: Iterable[str] = (),
        decided: Iterable[WorkItem] = (),
    ) -> None:
        """`replaced` are work items that a later one replaces, `ended_records` the URIs of records
        that state what no longer holds, `decided` the items whose decisions hold."""
        self._reader = reader
        self._bank = bank
        self._talk: dict[str, bool] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._places = [(item.session, item.turns) for item in replaced]
        self._ended_records = frozenset(ended_records)
        self._decided = [item for item in decided if item.decided]
        self._recaps = RecapSearch(reader, bank).all
        self.recaps = {match.uri for match in self._recaps}

    def contains(self, one: KnownStatement) -> bool:
        """Whether a statement was replaced, or is part of a conversation that is told as its
        recap: the rest of it holds what was rejected."""
        session, seq = one.turn.session, one.turn.seq
        if any(session == where and seq in turns for where, turns in self._places):
            return True
        if not self._ended_records.isdisjoint((uri("turn", one.turn.id), *one.memory.evidence_for)):
            return True
        own = uri("memory", one.memory.id)
        return any(
            recap.session == session
            and recap.seq - RECAP_LIMITS.before <= seq <= recap.seq
            and match.uri != own
            and self._is_talk(recap)
            for match in self._recaps
            for recap in match.conversations
        )

    def _words_of(self, item: WorkItem) -> frozenset[str]:
        """The content words of what was asked and decided. The answer speaks of all that was worked
        on, most of which holds."""
        if item.uri not in self._words:
            decided = (one.sentence for one in item.decided)
            self._words[item.uri] = content_stems(" ".join((item.title, *decided)))
        return self._words[item.uri]

    def _is_talk(self, recap: Recap) -> bool:
        """Whether nothing but talk led to a recap: between calls of tools an agent also sums up how
        far it is, and what was found on the way holds."""
        if recap.memory.id not in self._talk:
            first = max(1, recap.seq - _WEIGHTS.turns_of_talk)
            turns = self._reader.turns.of_session(self._bank, recap.session, first, recap.seq)
            self._talk[recap.memory.id] = all(turn.tool is None for turn in turns)
        return self._talk[recap.memory.id]

    def is_decided_otherwise(self, text: str, time: str, files: Iterable[str]) -> bool:
        """Whether a person decided otherwise after a time, or decided about the same files and in
        words that a text shares: what was said of them before is then outdated."""
        files = frozenset(files)
        # The words of their names say no more than that the files are the same.
        own = content_stems(text) - content_stems(" ".join(files))
        for item in self._decided:
            if item.time <= time:
                continue
            shared = own & self._words_of(item)
            if len(shared) < _WEIGHTS.decided_words:
                continue
            if any(_replaces(one.sentence, text, one.by_person) for one in item.decisions):
                return True
            enough = max(_WEIGHTS.decided_words, _WEIGHTS.decided_share * len(own))
            if not files.isdisjoint(item.changed) and len(shared) >= enough:
                return True
        return False


def _files(memory: Memory) -> frozenset[str]:
    return frozenset(map(normalise_path, memory.where.split(", "))) - {""}


def _replaces(later: str, earlier: str, by_person: bool) -> bool:
    """Whether a statement says something else about the subject of an earlier one."""
    if supersedes(statement_features(later), statement_features(earlier)):
        return True
    return by_person and amends(later, earlier)


def _ends(later: str, earlier: str) -> bool:
    """Whether a statement says that what an earlier one states does not hold any more ("We no
    longer …"). Whoever says it: most of what it rejects is what the earlier one is about."""
    if not has_amending_phrase(later):
        return False
    new, old = statement_features(later), statement_features(earlier)
    stated = new.rejected & old.accepted
    enough = max(_WEIGHTS.decided_words, _WEIGHTS.ended_share * len(new.rejected))
    return len(stated) >= enough and supersedes(new, old)


def _has_other_values(later: str, earlier: str) -> bool:
    new, old = statement_features(later).values, statement_features(earlier).values
    return bool(new and old) and new != old


class StatementRanking:
    """The statements of a bank that can be told, best first."""

    def __init__(
        self,
        reader: Reader,
        bank: str,
        ended: EndedWords,
        replaced: ReplacedWork,
        verdicts: Verdicts | None = None,
    ) -> None:
        """`replaced` is what must not be told; `verdicts` are those of the bank, if they were read
        already."""
        verdicts = verdicts or read_verdicts(reader, bank)
        self._verdicts = verdicts
        self._reader = reader
        self._bank = bank
        self._ended = ended
        self._replaced = replaced
        self._latest = latest_sessions(reader, bank)
        self._used = {use.record for use in reader.facts.uses(bank)}
        # What no longer holds replaces nothing either.
        self.memories = [
            memory
            for memory in tellable(reader, bank, verdicts.useful("memory"))
            if not verdicts.is_outdated(uri("memory", memory.id))
        ]
        self._known_stems: dict[str, frozenset[str]] = {}
        # Of each session that was looked at, whether a person began it.
        self._by_person: dict[str, bool] = {}
        self._checked: dict[str, KnownStatement | None] = {}
        self._exchanges: dict[str, list[Exchange]] = {}
        self.later = LaterWork(reader, bank, self.exchanges_of)
        # The content words of what is told of the last sessions.
        self._taken: list[frozenset[str]] = []

    def take(self, text: str) -> None:
        """Note that a text is told of a session: `best` leaves it out from then on."""
        self._taken.append(content_stems(text))

    def _is_taken(self, stems: frozenset[str]) -> bool:
        """Whether a text, given by its content words, says no more than what is told of a session.
        A short result does not stand for all that is said of its matter."""
        return any(len(stems & it) >= _WEIGHTS.same_matter * len(stems) for it in self._taken)

    def best(self, told: Sequence[str]) -> Iterator[KnownStatement]:
        """Statements, best first, one of each matter, without what `told` says already."""
        said = [*map(content_stems, told)]
        by_session: Counter[str] = Counter()
        heap: list[tuple[float, str, float, KnownStatement | Memory]] = [
            (-self._score(one), one.id, 0.0, one) for one in self.memories
        ]
        heapify(heap)
        while heap:
            negative_score, id, taken_off, one = heappop(heap)
            own = self._stems(one if isinstance(one, Memory) else one.memory)
            memory = one if isinstance(one, Memory) else one.memory
            # First of all, because the rest reads records: many statements say the same. What a
            # session delivered is no substitute for the wish that it follows.
            if any(is_same_matter(own, other) for other in said):
                continue
            is_useful = self.is_useful(memory)
            # What was done and what is open is told with its session; what was learned lasts.
            is_of_session = memory.by_agent and memory.kind in (Kind.OUTCOME, Kind.TODO)
            if is_of_session and not is_useful and self._is_taken(own):
                continue
            if not is_useful and not (self._is_worth_telling(memory) and _is_informative(memory)):
                continue
            if self._is_dropped(memory) or self._is_passed_over(memory):
                continue
            known = self._known(one) if isinstance(one, Memory) else one
            if known is None:
                continue
            due = _WEIGHTS.per_session * by_session[known.turn.session]
            due += 0.0 if is_useful else self._overtaken(known)
            if due > taken_off:
                heappush(heap, (negative_score + due - taken_off, id, due, known))
                continue
            is_scored = known.memory.worth is not None and not is_useful
            if is_scored and -negative_score + _cost(known.memory) < _WEIGHTS.least:
                continue
            said.append(own)
            by_session[known.turn.session] += 1
            yield known

    def _score(self, memory: Memory) -> float:
        weights = _WEIGHTS
        score = usefulness(memory) + weights.worth * (memory.worth or 0.0)
        score += weights.recap * (uri("memory", memory.id) in self._replaced.recaps)
        score += weights.laid_down * is_laid_down(memory)
        score += weights.cause * tells_cause(memory)
        score += weights.repeated * (memory.seen > 1)
        score += weights.used * (uri("memory", memory.id) in self._used)
        score += weights.on_branch * (not _files(memory).isdisjoint(self._files_of_branch))
        score -= weights.of_the_moment * _is_of_the_moment(memory)
        score += weights.called_useful * self.is_useful(memory)
        return score - _cost(memory)

    def is_useful(self, memory: Memory) -> bool:
        """Whether somebody called a statement useful."""
        return self._verdicts.is_useful(uri("memory", memory.id))

    def reworded(self, memory: Memory) -> str:
        """A statement in the words of a model; "" if it is told in its own."""
        return self._verdicts.reworded(uri("memory", memory.id)) if memory.by_agent else ""

    def _is_dropped(self, memory: Memory) -> bool:
        """Whether a statement, or another that says the same, was called unneeded or outdated."""
        if self.is_useful(memory):
            return False
        name = uri("memory", memory.id)
        return self._verdicts.is_dropped(name) or self._verdicts.repeats_dropped(
            own_words(memory.what), memory.when
        )

    def _is_passed_over(self, memory: Memory) -> bool:
        """Whether a review left a statement out."""

        def session() -> str:
            known = self._known(memory)
            return known.turn.session if known is not None else ""

        return self._verdicts.is_passed_over(uri("memory", memory.id), memory.when, session)

    def _is_worth_telling(self, memory: Memory) -> bool:
        """Whether what an agent said was scored high enough, and not of itself: the others are
        mostly details and steps. What people said, open tasks, causes, recaps, and what a rule or
        a model made are always worth it."""
        if memory.worth is None or not memory.by_agent or memory.kind is Kind.TODO:
            return True
        if tells_cause(memory) or uri("memory", memory.id) in self._replaced.recaps:
            return True
        if _SPEAKS_OF_ITSELF.match(own_words(memory.what)):
            return False
        return memory.worth >= _WEIGHTS.agent_worth

    def _overtaken(self, known: KnownStatement) -> float:
        """What is taken off because its session went on after a statement."""
        exchanges = self.exchanges_of(known.turn.session)
        last = max((one.last_seq for one in exchanges), default=0)
        before = known.memory.by_agent and self.later.is_before_changes(known)
        return taken_off_for(last - known.turn.seq) + _WEIGHTS.before_changes * before

    def exchanges_of(self, session: str) -> list[Exchange]:
        """The exchanges of a session, read once."""
        if session not in self._exchanges:
            found = self._reader.sessions.exchanges(self._bank, session)
            self._exchanges[session] = list(found)
        return self._exchanges[session]

    def _known(self, memory: Memory) -> KnownStatement | None:
        if memory.id not in self._checked:
            self._checked[memory.id] = self._check(memory)
        return self._checked[memory.id]

    def _check(self, memory: Memory) -> KnownStatement | None:
        """A statement with its turn, unless it was replaced, or is a task that is not open. Of what
        was called useful, words alone do not tell that it was dealt with."""
        is_useful = self.is_useful(memory)
        known = state(self._reader, memory, self._ended, self._by_person, is_useful=is_useful)
        if known is None:
            return None
        if memory.kind is Kind.TODO and not is_useful and not is_open(known, self._latest):
            return None
        text, files = own_words(memory.what), _files(memory)
        if self._replaced.is_decided_otherwise(text, memory.when, files):
            return None
        if self._replaced.contains(known) or self._is_taken_back(known):
            return None
        stays = is_useful or is_laid_down(memory) or tells_cause(memory)
        if not stays and self.later.deals_again_with(known):
            return None
        if not is_useful and tells_fault(memory) and not self._is_cause_that_stands(known):
            return None
        said_otherwise = self._is_said_otherwise_later(text, memory.when, memory.by_agent)
        return None if said_otherwise else known

    def is_outdated(self, text: str, time: str, files: Iterable[str]) -> bool:
        """Whether what an agent said at a time, in work on some files, was decided or is said
        otherwise later."""
        if self._replaced.is_decided_otherwise(text, time, map(normalise_path, files)):
            return True
        return self._is_said_otherwise_later(text, time, True)

    def _is_cause_that_stands(self, known: KnownStatement) -> bool:
        """Whether a fault is told with its cause and without doubt, or was left as it is: what is
        merely broken is mended by the work that follows."""
        if is_hedged(own_words(known.memory.what)) or self._is_diagnosed_again(known):
            return False
        return tells_cause(known.memory) or not self.later.is_mended(known)

    def _is_diagnosed_again(self, known: KnownStatement) -> bool:
        """Whether a later statement of the same session names another cause in the same matter."""
        own = self._stems(known.memory)
        for later in self.memories:
            if later.when <= known.memory.when:
                break
            shared = own & self._stems(later)
            is_other = _WEIGHTS.diagnosed_words <= len(shared) < len(own)
            if not is_other or not tells_fault(later):
                continue
            other = state(self._reader, later, self._ended, self._by_person)
            if other is not None and other.turn.session == known.turn.session:
                return True
        return False

    def _is_taken_back(self, known: KnownStatement) -> bool:
        """Whether a person asked in the same session for something else than what an agent said."""
        if not known.memory.by_agent:
            return False
        own = self._stems(known.memory)
        for exchange in self.exchanges_of(known.turn.session):
            if exchange.first_seq <= known.turn.seq or not _ASKS_FOR_CHANGE.search(exchange.title):
                continue
            asked = content_stems(exchange.title)
            enough = max(_WEIGHTS.taken_back_words, _WEIGHTS.taken_back_share * len(asked))
            if len(own & asked) >= enough:
                return True
        return False

    def _is_said_otherwise_later(self, text: str, time: str, by_agent: bool) -> bool:
        """Whether a statement after a time replaces a text, or gives another value in the same
        matter."""
        own = content_stems(text)
        for later in self.memories:
            if later.when <= time:
                break
            stems = self._stems(later)
            if len(own & stems) < _WEIGHTS.decided_words:
                continue
            settles = not later.by_agent and later.kind in SETTLING_KINDS
            if settles and _replaces(own_words(later.what), text, True):
                return True
            if by_agent and _ends(own_words(later.what), text):
                return True
            if is_same_matter(own, stems) and _has_other_values(own_words(later.what), text):
                return True
        return False

    def _stems(self, memory: Memory) -> frozenset[str]:
        if memory.id not in self._known_stems:
            self._known_stems[memory.id] = content_stems(own_words(memory.what))
        return self._known_stems[memory.id]

    @cached_property
    def _files_of_branch(self) -> frozenset[str]:
        """The files that the latest sessions changed on the branch of the last one."""
        latest = self._reader.sessions.latest(self._bank, _WEIGHTS.sessions)
        return frozenset(
            normalise_path(file)
            for session in latest
            if session.branch == latest[0].branch
            for exchange in self.exchanges_of(session.id)
            for file in exchange.files_modified
        )


def _is_informative(memory: Memory) -> bool:
    """Whether a statement tells more than the repository does, or a person lays something down."""
    text = own_words(memory.what)
    if not memory.by_agent:
        return bool(lasting_part(text))
    if memory.kind is Kind.TODO:
        return not is_offer(text)
    # Made by a model, which was asked for what lasts, or by a rule.
    if memory.worth is None and memory.kind is not Kind.OUTCOME:
        return True
    return is_begun(memory) or bool(informative_part(text))


def _is_of_the_moment(memory: Memory) -> bool:
    return memory.by_agent and _OF_THE_MOMENT.search(own_words(memory.what)) is not None


def is_begun(memory: Memory) -> bool:
    """Whether an outcome is not finished."""
    return memory.kind is Kind.OUTCOME and memory.what.startswith(_BEGUN)


def _cost(memory: Memory) -> float:
    """What the room that a statement takes costs it."""
    return _WEIGHTS.per_character * len(own_words(memory.what))


def is_same_matter(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts, given by their content words, are about one matter."""
    fewer = min(len(one), len(other))
    return fewer > 0 and len(one & other) >= _WEIGHTS.same_matter * fewer
