"""Work items: one exchange, commit or memory each, with the decisions made in it. Briefs quote
these decisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial

from holdfast.brief.frame import ended_label
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import is_agent
from holdfast.model.knowledge import EndReason, Fact, Memory, Network, Recap
from holdfast.model.query import Passage
from holdfast.model.records import Exchange, Role, Turn
from holdfast.model.team import Commit
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.correction_notes import correction_note, is_corrected_by_person
from holdfast.recall.core.ended_words import EndedWords, read_ended_words
from holdfast.recall.core.evidence_turns import find_ended
from holdfast.refine.facts.decision_sentences import (
    FIRM_STRENGTH,
    MIN_STRENGTH,
    DecisionSentence,
    find_decision_sentences,
)
from holdfast.store.protocol import Reader

# An exchange of fewer turns is a conversation and read whole; of a longer one only the ends, and
# the turns that a search found.
_MAX_CONVERSATION_TURNS = 16
# The changed files that are part of an item's outline.
_MAX_FILES = 8
_OPINION = "opinion"
# The strength of what somebody asked to remember, on the scale of `decision_sentences`.
_MEMORY_STRENGTH = 2.0
# Shorter sentences ("keep it that way") mean nothing without their context.
_MIN_SENTENCE = 40
# How many of the latest superseded facts a brief looks at: it bounds the time.
_MAX_SUPERSEDED = 40
_ENDED = (Status.SUPERSEDED, Status.RETRACTED)


class DecisionQuote(NamedTuple):
    """A sentence that decides something, who said it, and the record it is from."""

    sentence: str
    who: str
    time: str
    uri: str
    strength: float
    rejects: bool
    position: tuple[int, int]
    by_person: bool = True
    explicit: bool = False
    remembered: bool = False

    @property
    def decides(self) -> bool:
        """Whether a person decided something explicitly: an agent's word alone is no decision of
        the project, nor is an aside. What a person asked to remember always is."""
        if self.remembered:
            return True
        enough = self.strength >= FIRM_STRENGTH and len(self.sentence) >= _MIN_SENTENCE
        return self.by_person and self.explicit and enough


class _WorkItemFields(NamedTuple):
    """What a work item is made of."""

    kind: str
    id: str
    time: str
    title: str
    trust: Trust
    read: Callable[[], Iterable[DecisionQuote]]
    summary: str = ""
    details: str = ""
    session: str = ""
    changed: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    is_conversation: bool = True
    # The places of its turns in its session.
    turns: range = range(0)
    # What is to be said before its title, if that does not hold any more.
    ended: str = ""
    # Who wrote it with an API key of theirs; "" for this user and for agents.
    shared_by: str = ""
    # A remembered text that lays nothing down: an agent kept it, or it says what happened.
    is_note: bool = False
    # Finds the decisions of people alone, if that is less work than finding all.
    read_decided: Callable[[], Iterable[DecisionQuote]] | None = None


class WorkItem(_WorkItemFields):
    """One exchange, commit or memory. `read` finds its decisions when they are first needed. No
    dataclass: to import their module takes a hook ten milliseconds."""

    @cached_property
    def uri(self) -> str:
        """The URI of the record."""
        return uri(self.kind, self.id)

    @cached_property
    def decisions(self) -> tuple[DecisionQuote, ...]:
        """The decisions made in it; reads its turns on first use."""
        return tuple(self.read())

    @cached_property
    def decided(self) -> tuple[DecisionQuote, ...]:
        """Those of its decisions that people made explicitly; what agents said is not read."""
        found = self.decisions if self.read_decided is None else self.read_decided()
        return tuple(one for one in found if one.decides)

    @cached_property
    def strength(self) -> float:
        """The strength of its strongest decision."""
        return max((decision.strength for decision in self.decisions), default=0.0)

    def is_in(self, is_of: Callable[[str, int], bool]) -> bool:
        """Whether one of its turns is among those of which `is_of` says so."""
        return any(is_of(self.session, seq) for seq in self.turns)

    @property
    def has_decision(self) -> bool:
        """Whether anything was decided in it."""
        return self.strength >= MIN_STRENGTH

    @cached_property
    def outline(self) -> str:
        """The text by which it is recognised; for long work, without the details."""
        files = sorted(self.changed)[:_MAX_FILES]
        details = self.details if self.is_conversation else ""
        return " ".join((self.title, self.summary, *self.keywords, *files, details))

    @property
    def text(self) -> str:
        """The outline and the decisions."""
        return " ".join((self.outline, *(decision.sentence for decision in self.decisions)))


class Superseded(NamedTuple):
    """A fact that no longer holds, the item that states it, and the item that states what holds
    instead."""

    fact: Fact
    earlier: WorkItem
    later: WorkItem


class WorkItems:
    """Makes work items of records, each once."""

    def __init__(
        self, reader: Reader, bank: str, found: Mapping[str, Collection[int]] | None = None
    ) -> None:
        """`found` are the turns that a search found, by session."""
        self._reader = reader
        self._bank = bank
        self._found_turns = found or {}
        self._items: dict[str, WorkItem] = {}
        self._exchanges: dict[str, list[Exchange]] = {}
        self._ended = read_ended_words(reader, bank)

    def from_record(self, record: Exchange | Commit | Memory) -> WorkItem:
        """The item of a record."""
        known = self._items.get(record.id)
        if known is None:
            if isinstance(record, Exchange):
                known = self._from_exchange(record)
            elif isinstance(record, Commit):
                suffix = self._correction_suffix("commit", record.id)
                known = _from_commit(self._reader, record, suffix, self._ended)
            else:
                suffix = self._correction_suffix("memory", record.id)
                known = _from_memory(self._reader, record, suffix, self._ended)
            self._items[record.id] = known
        return known

    def _correction_suffix(self, kind: str, id: str) -> str:
        """What is added after the author of a corrected record."""
        note = correction_note(self._reader, self._bank, kind, id)
        return f", corrected {note}" if note else ""

    def from_passage(self, passage: Passage) -> WorkItem | None:
        """The item that a passage belongs to; None for a digest and for opinions."""
        if passage.kind == "memory" and passage.role == _OPINION:
            return None
        if passage.kind in ("commit", "memory") and not passage.session:
            found = self._reader.records.find(self._bank, passage.kind, passage.id, limit=1)
            record = found[0] if found else None
        elif passage.kind == "exchange":
            within = self._session_exchanges(passage.session)
            record = next((x for x in within if x.id == passage.id), None)
        elif passage.kind in ("turn", "memory"):  # a memory from a session belongs to its exchange
            record = self._exchange_at(passage.session, passage.seq)
        else:
            record = None
        return self.from_record(record) if isinstance(record, Exchange | Commit | Memory) else None

    def ended_label(self, recap: Recap) -> str:
        """What is to be said before a recap if some of it does not hold any more; else ""."""
        memory = recap.memory
        return ended_label(self._ended.find(memory.what, memory.when, recap.session, recap.seq))

    def superseded(self) -> list[Superseded]:
        """The facts that another superseded, the latest first, with the items that state both."""
        facts = {uri("fact", fact.id): fact for fact in self._reader.facts.all(self._bank)}
        ended = [f for f in facts.values() if f.status is Status.SUPERSEDED]
        ended.sort(key=lambda fact: (fact.validity.until, fact.id), reverse=True)
        found: list[Superseded] = []
        for fact in ended[:_MAX_SUPERSEDED]:
            holds = facts.get(fact.superseded_by)
            earlier = self._stating(fact)
            later = self._stating(holds) if holds is not None else None
            if holds is None or earlier is None or later is None or earlier.uri == later.uri:
                continue
            if not later.has_decision:
                # It amends a decision, so it is one, though it does not say so.
                later = later._replace(read=partial(_fact_quotes, holds))
            found.append(Superseded(fact, earlier, later))
        return found

    def _stating(self, fact: Fact) -> WorkItem | None:
        """The item that states a fact last."""
        name = parse_uri(fact.evidence[-1]) if fact.evidence else None
        records = self._reader.records.find(self._bank, *name, 1) if name else []
        record = records[0] if records else None
        if isinstance(record, Turn):
            record = self._exchange_at(record.session, record.seq)
        return self.from_record(record) if isinstance(record, Exchange | Memory) else None

    def with_neighbours(self, item: WorkItem) -> list[WorkItem]:
        """An item with the conversations right before and after it in its session."""
        if item.kind != "exchange" or not item.is_conversation:
            return [item]
        within = self._session_exchanges(item.session)
        at = next((n for n, x in enumerate(within) if x.id == item.id), None)
        if at is None:
            return [item]
        near = within[max(0, at - 1) : at + 2]
        return [self.from_record(x) for x in near if _is_conversation(x)]

    def _session_exchanges(self, session: str) -> list[Exchange]:
        if session not in self._exchanges:
            self._exchanges[session] = self._reader.sessions.exchanges(self._bank, session)
        return self._exchanges[session]

    def _exchange_at(self, session: str, seq: int) -> Exchange | None:
        inside = (x for x in self._session_exchanges(session) if x.first_seq <= seq <= x.last_seq)
        return next(inside, None)

    def _from_exchange(self, x: Exchange) -> WorkItem:
        return WorkItem(
            "exchange",
            x.id,
            x.started,
            x.title,
            x.trust,
            lambda: () if x.status in _ENDED else self._decisions_in(x),
            x.summary,
            x.details,
            x.session,
            frozenset(map(normalise_path, x.files_modified)),
            frozenset(map(str.lower, x.keywords)),
            _is_conversation(x),
            range(x.first_seq, x.last_seq + 1),
            ended_label(self._ended.find(x.title, x.started, x.session, x.first_seq)),
            read_decided=lambda: () if x.status in _ENDED else self._decisions_in(x, True),
        )

    def _decisions_in(self, x: Exchange, by_people: bool = False) -> Iterable[DecisionQuote]:
        """The decisions in the turns of an exchange, or in those of people alone."""
        known = self._reader.curation.state(self._bank, "exchange", x.id)
        if known is not None and known.text and not (by_people and known.by_agent):
            # Its own words are superseded, but an agent's correction replaces no person's.
            who, name = f"{known.who}, correcting this on {known.time[:10]}", uri("exchange", x.id)
            for found in find_decision_sentences(known.text, known.by_person):
                yield _quote(found, who, known.time, name, x.first_seq, known.by_person)
            if known.by_person:
                return
            by_people = True
        session = self._reader.sessions.get(self._bank, x.session)
        is_subagent = session is not None and bool(session.parent)
        for turn in self._turns(x):
            by_person = turn.role is Role.USER and not turn.speaker and not is_subagent
            if by_people and not by_person:
                continue
            for found in find_decision_sentences(turn.text, by_person):
                who = _speaker(turn, is_subagent) + self._correction_suffix("turn", turn.id)
                said = _quote(found, who, turn.time, uri("turn", turn.id), turn.seq, by_person)
                yield from _current(said, self._ended, x.session)

    def _turns(self, x: Exchange) -> Iterable[Turn]:
        """The turns of an exchange that may decide something."""
        if _is_conversation(x):
            spans = [(x.first_seq, x.last_seq)]
        else:
            found = [
                n for n in self._found_turns.get(x.session, ()) if x.first_seq <= n <= x.last_seq
            ]
            ends = {x.first_seq, x.first_seq + 1, x.last_seq - 1, x.last_seq}
            spans = [(n, n) for n in sorted({*ends, *found})]
        for first, last in spans:
            for turn in self._reader.turns.of_session(self._bank, x.session, first, last):
                if turn.tool is None and turn.text:
                    yield turn


def _is_conversation(x: Exchange) -> bool:
    return x.last_seq - x.first_seq < _MAX_CONVERSATION_TURNS


def _quote(
    found: DecisionSentence, who: str, time: str, uri: str, seq: int = 0, by_person: bool = True
) -> DecisionQuote:
    sentence, strength, rejects, position, explicit = found
    place = (seq, position)
    return DecisionQuote(sentence, who, time, uri, strength, rejects, place, by_person, explicit)


def _current(said: DecisionQuote, ended: EndedWords, session: str = "") -> Iterable[DecisionQuote]:
    """A decision, unless it does not hold any more; then what a person corrected it to, if anybody
    did. What a later statement replaced is told where that was made."""
    found = ended.find(said.sentence, said.time, session, said.position[0])
    if not found:
        yield said
        return
    last = max(found, key=lambda one: one.ended)
    if last.reason is EndReason.CORRECTED and last.now:
        who = f"{last.who}, correcting this on {last.ended[:10]}"
        by_person = not is_agent(last.who)
        yield said._replace(
            sentence=last.now, who=who, time=last.ended, uri=last.instead, by_person=by_person,
            explicit=by_person,
        )  # fmt: skip


def _fact_quotes(fact: Fact) -> Iterable[DecisionQuote]:
    who = "user" if fact.trust is Trust.USER else fact.trust.value
    time, name = fact.validity.since, fact.evidence[-1]
    yield DecisionQuote(fact.content, who, time, name, FIRM_STRENGTH, False, (0, 0))


def _speaker(turn: Turn, is_subagent: bool) -> str:
    if turn.speaker:
        return turn.speaker
    if turn.role is Role.ASSISTANT:
        return "agent"
    return "an agent" if is_subagent and turn.role is Role.USER else turn.role.value


def _from_memory(reader: Reader, m: Memory, corrected: str, ended: EndedWords) -> WorkItem:
    who = f"{m.who}, to be remembered{corrected}"
    decides = m.lays_down or (
        m.network is Network.WORLD and is_corrected_by_person(reader, m.bank, "memory", m.id)
    )
    found = DecisionSentence(m.what, _MEMORY_STRENGTH, False, 0, decides)
    decision = _quote(found, who, m.when, uri("memory", m.id))._replace(remembered=decides)

    def read() -> Iterable[DecisionQuote]:
        if m.status not in _ENDED and not find_ended(reader, ended, m, m.what):
            yield decision

    return WorkItem(
        "memory", m.id, m.when, m.what, m.trust, read, shared_by=m.shared_by, is_note=not decides
    )


def _from_commit(reader: Reader, c: Commit, corrected: str, ended: EndedWords) -> WorkItem:
    # The subject may state a decision; the body tells why.
    message = f"{c.subject}.\n\n{c.body}" if c.body else c.subject

    def read() -> Iterable[DecisionQuote]:
        for found in find_decision_sentences(message, by_person=True):
            said = _quote(found, c.author + corrected, c.time, uri("commit", c.id))
            yield from _current(said, ended)

    changed = frozenset(map(normalise_path, c.files))
    return WorkItem(
        "commit", c.id, c.time, c.subject, c.trust, read, details=c.body, changed=changed,
        ended=ended_label(find_ended(reader, ended, c, c.subject)),
    )  # fmt: skip


def normalise_path(file: str) -> str:
    """A path with forward slashes and without a leading "./"."""
    return file.replace("\\", "/").removeprefix("./")


def select_quotes(
    decisions: Iterable[DecisionQuote], most: int = 3, characters: int = 620
) -> list[DecisionQuote]:
    """The decisions to quote: the strongest, then one that rejects something, then the next
    strongest; in their original order, none cut."""
    ranked = sorted(decisions, key=lambda s: (-s.strength, s.position))
    ranked.sort(key=lambda s: s.strength < MIN_STRENGTH and not s.rejects)
    chosen: list[DecisionQuote] = []
    spent = 0
    first_rejecting = [s for s in ranked if s.rejects][:1]
    for decision in dict.fromkeys([*ranked[:1], *first_rejecting, *ranked[1:]]):
        fits = spent + len(decision.sentence) <= characters or not chosen
        worth = decision.strength >= MIN_STRENGTH or decision.rejects
        if len(chosen) < most and fits and worth:
            chosen.append(decision)
            spent += len(decision.sentence)
    return sorted(chosen, key=lambda s: s.position)
