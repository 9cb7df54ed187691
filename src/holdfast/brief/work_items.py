"""A matter: one exchange or one commit, with what was settled in it, by whom and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, words
from holdfast.model.curation import CurationState
from holdfast.model.knowledge import Memory
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.recall.ranking.hits import correction_note
from holdfast.refine.facts.decision_sentences import (
    FIRM_STRENGTH,
    MIN_STRENGTH,
    find_decision_sentences,
)
from holdfast.store.protocol import Reader

# An exchange of so many turns is talk, and read whole; of a longer one its ends, and the turns
# that a search found in it.
_TALK = 16
_FILES = 8
_OPINION = "opinion"
_REMEMBERED = 2.0
# Shorter words ("keep it that way") say nothing to one who was not there.
_BY_ITSELF = 40
_SAME_WORDS = 0.25
_SAME_FILES_WORDS = 0.15
_GONE = (Status.SUPERSEDED, Status.RETRACTED)


class DecisionQuote(NamedTuple):
    """A sentence that settles something, who said it, and the record it stands in."""

    sentence: str
    who: str
    time: str
    uri: str
    strength: float
    rejects: bool
    place: tuple[int, int]
    by_person: bool = True
    outright: bool = False
    remembered: bool = False

    @property
    def decides(self) -> bool:
        """Whether a person settled something here in so many words: an agent's word alone is no
        decision of the project, and an aside is none either. What a person wants remembered is
        settled, however short."""
        if self.remembered:
            return True
        enough = self.strength >= FIRM_STRENGTH and len(self.sentence) >= _BY_ITSELF
        return self.by_person and self.outright and enough


@dataclass(frozen=True)
class WorkItem:
    """One piece of work or one commit."""

    uri: str
    kind: str
    id: str
    time: str
    type: str
    title: str
    summary: str
    details: str
    trust: Trust
    session: str
    changed: frozenset[str]
    files: frozenset[str]
    keywords: frozenset[str]
    read: Callable[[], Iterable[DecisionQuote]]
    is_talk: bool = True

    @cached_property
    def sayings(self) -> tuple[DecisionQuote, ...]:
        """What was settled in it; its turns are read when this is first asked for."""
        return tuple(self.read())

    @cached_property
    def strength(self) -> float:
        """That of its strongest saying."""
        return max((saying.strength for saying in self.sayings), default=0.0)

    @property
    def settles(self) -> bool:
        """Whether anything was settled in it."""
        return self.strength >= MIN_STRENGTH

    @cached_property
    def outline(self) -> str:
        """What it can be told by: of a long piece of work not all that was mentioned in it."""
        files = sorted(self.changed)[:_FILES]
        details = self.details if self.is_talk else ""
        return " ".join((self.title, self.summary, *self.keywords, *files, details))

    @property
    def text(self) -> str:
        """The same, and what was settled."""
        return " ".join((self.outline, *(saying.sentence for saying in self.sayings)))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The stems of what it says, to tell whether two speak of the same."""
        said = " ".join(
            (self.title, *(s.sentence for s in self.sayings if s.strength >= MIN_STRENGTH))
        )
        return frozenset(stem(word) for word in words(said) if word not in STOPWORDS)


class WorkItems:
    """Makes matters out of records, each once."""

    def __init__(
        self, reader: Reader, bank: str, found: Mapping[str, Collection[int]] | None = None
    ) -> None:
        """`found` are places of sessions that a search found."""
        self._reader = reader
        self._bank = bank
        self._places = found or {}
        self._made: dict[str, WorkItem] = {}
        self._exchanges: dict[str, list[Exchange]] = {}

    def of(self, record: Exchange | Commit | Memory) -> WorkItem:
        """The matter that a record is."""
        known = self._made.get(record.id)
        if known is None:
            known = self._made[record.id] = self._make(record)
        return known

    def _make(self, record: Exchange | Commit | Memory) -> WorkItem:
        if isinstance(record, Exchange):
            return self._of_exchange(record)
        if isinstance(record, Commit):
            return _commit(record, self._corrected("commit", record.id))
        return _memory(record, self._corrected("memory", record.id))

    def _corrected(self, kind: str, id: str) -> str:
        """What must be said of whose words they are, after their author."""
        told = correction_note(self._reader, self._bank, kind, id)
        return f", corrected {told}" if told else ""

    def _is_an_agents(self, memory: Memory) -> bool:
        """Whether an agent asked to remember it, and nobody has said it anew: that is found by who
        looks for it, and told to nobody unasked."""
        kept = memory.by_agent and not memory.evidence_for
        return kept and not self._corrected("memory", memory.id)

    def of_passage(self, passage: Passage) -> WorkItem | None:
        """The matter that a passage belongs to; a digest belongs to none."""
        if passage.kind == "memory" and passage.role == _OPINION:
            return None
        if passage.kind in ("commit", "memory") and not passage.session:
            found = self._reader.find(self._bank, passage.kind, passage.id, limit=1)
            record = found[0] if found else None
            if isinstance(record, Memory) and self._is_an_agents(record):
                return None
        elif passage.kind == "exchange":
            within = self._of_session(passage.session)
            record = next((x for x in within if x.id == passage.id), None)
        elif passage.kind in ("turn", "memory"):  # what is retained is told by its exchange
            record = self._around(passage.session, passage.seq)
        else:
            record = None
        return self.of(record) if isinstance(record, Exchange | Commit | Memory) else None

    def stretch(self, matter: WorkItem) -> list[WorkItem]:
        """A matter with the talk right before and after it in the same session."""
        if matter.kind != "exchange" or not matter.is_talk:
            return [matter]
        within = self._of_session(matter.session)
        at = next((n for n, x in enumerate(within) if x.id == matter.id), None)
        if at is None:
            return [matter]
        near = within[max(0, at - 1) : at + 2]
        return [self.of(x) for x in near if x.last_seq - x.first_seq < _TALK]

    def _of_session(self, session: str) -> list[Exchange]:
        if session not in self._exchanges:
            self._exchanges[session] = self._reader.exchanges(self._bank, session)
        return self._exchanges[session]

    def _around(self, session: str, seq: int) -> Exchange | None:
        inside = (x for x in self._of_session(session) if x.first_seq <= seq <= x.last_seq)
        return next(inside, None)

    def _of_exchange(self, x: Exchange) -> WorkItem:
        return WorkItem(
            uri("exchange", x.id),
            "exchange",
            x.id,
            x.started,
            x.type.value,
            x.title,
            x.summary,
            x.details,
            x.trust,
            x.session,
            frozenset(map(normalise_path, x.files_modified)),
            frozenset(map(normalise_path, (*x.files_modified, *x.files_read))),
            frozenset(map(str.lower, x.keywords)),
            lambda: () if x.status in _GONE else self._sayings(x),
            is_talk=x.last_seq - x.first_seq < _TALK,
        )

    def _sayings(self, x: Exchange) -> Iterable[DecisionQuote]:
        known = self._reader.curation_state(self._bank, "exchange", x.id)
        if known is not None and known.text:
            yield from _said_anew(x, known)
            return
        session = self._reader.session(self._bank, x.session)
        of_agents = session is not None and bool(session.parent)
        for turn in self._turns(x):
            by_person = turn.role is Role.USER and not turn.speaker and not of_agents
            for ruling in find_decision_sentences(turn.text, by_person):
                yield DecisionQuote(
                    ruling.sentence,
                    _speaker(turn, of_agents) + self._corrected("turn", turn.id),
                    turn.time,
                    uri("turn", turn.id),
                    ruling.strength,
                    ruling.rejects,
                    (turn.seq, ruling.position),
                    by_person,
                    ruling.explicit,
                )

    def _turns(self, x: Exchange) -> Iterable[Turn]:
        """The turns of an exchange that may settle something."""
        if x.last_seq - x.first_seq < _TALK:
            spans = [(x.first_seq, x.last_seq)]
        else:
            found = [n for n in self._places.get(x.session, ()) if x.first_seq <= n <= x.last_seq]
            ends = {x.first_seq, x.first_seq + 1, x.last_seq - 1, x.last_seq}
            spans = [(n, n) for n in sorted({*ends, *found})]
        for first, last in spans:
            for turn in self._reader.turns(self._bank, x.session, first, last):
                if turn.tool is None and turn.text:
                    yield turn


def _said_anew(x: Exchange, known: CurationState) -> Iterable[DecisionQuote]:
    """What a person says that an exchange settled; what was said in it then is superseded."""
    for r in find_decision_sentences(known.text, by_person=True):
        yield DecisionQuote(
            r.sentence,
            f"{known.who}, correcting this on {known.time[:10]}",
            known.time,
            uri("exchange", x.id),
            r.strength,
            r.rejects,
            (x.first_seq, r.position),
            True,
            r.explicit,
        )


def _memory(m: Memory, corrected: str) -> WorkItem:
    name = uri("memory", m.id)
    nothing = frozenset[str]()

    def read() -> Iterable[DecisionQuote]:
        who = f"{m.who}, to be remembered{corrected}"
        person = not m.by_agent or bool(corrected)
        yield DecisionQuote(
            m.what,
            who,
            m.when,
            name,
            _REMEMBERED,
            False,
            (0, 0),
            outright=person,
            remembered=person,
        )

    return WorkItem(
        name, "memory", m.id, m.when, "memory", m.what, "", "", m.trust, "", nothing, nothing,
        nothing, read,
    )  # fmt: skip


def _speaker(turn: Turn, of_agents: bool) -> str:
    if turn.speaker:
        return turn.speaker
    return "an agent" if of_agents and turn.role is Role.USER else turn.role.value


def _commit(c: Commit, corrected: str) -> WorkItem:
    name = uri("commit", c.id)
    # The subject may settle something; what follows it tells why.
    message = f"{c.subject}.\n\n{c.body}" if c.body else c.subject
    files = frozenset(map(normalise_path, c.files))

    def read() -> Iterable[DecisionQuote]:
        for r in find_decision_sentences(message, by_person=True):
            place = (0, r.position)
            yield DecisionQuote(
                r.sentence,
                c.author + corrected,
                c.time,
                name,
                r.strength,
                r.rejects,
                place,
                True,
                r.explicit,
            )

    return WorkItem(
        name,
        "commit",
        c.id,
        c.time,
        "commit",
        c.subject,
        "",
        c.body,
        c.trust,
        "",
        files,
        files,
        frozenset(),
        read,
    )


def normalise_path(file: str) -> str:
    """One spelling for every family of paths."""
    return file.replace("\\", "/").removeprefix("./")


def same_subject(one: WorkItem, other: WorkItem) -> bool:
    """Whether two matters settle the same thing, so that the later stands for both."""
    needed = _SAME_FILES_WORDS if one.changed & other.changed else _SAME_WORDS
    fewest = min(len(one.roots), len(other.roots))
    return bool(fewest) and len(one.roots & other.roots) >= max(3, needed * fewest)


def latest_versions(matters: Sequence[WorkItem]) -> list[tuple[WorkItem, WorkItem | None]]:
    """The matters in their order without those that a later one amends; each with the one
    that it amends, the latest of these."""
    kept: list[tuple[WorkItem, WorkItem | None]] = []
    for matter in matters:
        same = [other for other in matters if other is not matter and same_subject(matter, other)]
        if any((other.time, other.id) > (matter.time, matter.id) for other in same):
            continue
        amended = max(same, key=lambda other: (other.time, other.id), default=None)
        kept.append((matter, amended))
    return kept


def select_quotes(
    sayings: Iterable[DecisionQuote], most: int = 3, characters: int = 620
) -> list[DecisionQuote]:
    """The sayings to quote: the strongest, then one that rejects something, then the next; in
    the order they were said, none cut."""
    ranked = sorted(sayings, key=lambda s: (-s.strength, s.place))
    ranked.sort(key=lambda s: s.strength < MIN_STRENGTH and not s.rejects)
    chosen: list[DecisionQuote] = []
    spent = 0
    first_rejecting = [s for s in ranked if s.rejects][:1]
    for saying in dict.fromkeys([*ranked[:1], *first_rejecting, *ranked[1:]]):
        fits = spent + len(saying.sentence) <= characters or not chosen
        worth = saying.strength >= MIN_STRENGTH or saying.rejects
        if len(chosen) < most and fits and worth:
            chosen.append(saying)
            spent += len(saying.sentence)
    return sorted(chosen, key=lambda s: s.place)
