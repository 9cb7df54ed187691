"""The store as a whole.

`Reader` cannot change anything. Code that recalls takes a `Reader`, or a `ReadStore` where its
retrievers run in parallel. `Writer` adds writing. Every write happens inside `transaction()`: it is
applied completely or not at all. Another process may hold the store for a while, but never for
good.

Canonical rows (bank, source, ledger, session, turn, commit, pull, issue, remark, memory, opinion,
curation, injection, model call, summary, key) survive a rebuild. Derived rows (exchange, digest,
claim, fact, concept, memory occurrence, rule, pattern, passage) can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from holdfast.model.bank import Bank
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.graph import Entity
from holdfast.model.imports import ImportedRecord
from holdfast.model.knowledge import Claim, Concept, Fact, Memory, Pattern, Rule
from holdfast.model.ledgers.lines import Balance, FailedLine, Source
from holdfast.model.query import Passage, RecordFilter, TimelinePosition
from holdfast.model.records import Digest, Exchange, Origin, Session, Turn
from holdfast.model.team import Commit, SharedRecord
from holdfast.store.protocol.api_keys import ApiKeyStore
from holdfast.store.protocol.concepts import ConceptReader, ConceptWriter
from holdfast.store.protocol.curation import (
    CurationReader,
    CurationWriter,
    Eraser,
    HiddenTurn,
    SupersededText,
)
from holdfast.store.protocol.export import ExportReader, RestoreWriter
from holdfast.store.protocol.facts import FactReader, FactWriter
from holdfast.store.protocol.forge import ForgeReader, ForgeWriter
from holdfast.store.protocol.git_history import GitHistoryReader, GitHistoryWriter
from holdfast.store.protocol.graph import GraphReader, GraphWriter
from holdfast.store.protocol.imports import ImportReader, ImportWriter
from holdfast.store.protocol.injections import InjectionLedger
from holdfast.store.protocol.maintenance import FailedTasks, IntegrityCheck
from holdfast.store.protocol.memories import MemoryReader, MemoryWriter
from holdfast.store.protocol.model_calls import ModelCallLedger, ModelSummaries
from holdfast.store.protocol.outbox import OutboxReader, OutboxWriter
from holdfast.store.protocol.overview import OverviewReader
from holdfast.store.protocol.progress import DerivationVersions, StageProgress
from holdfast.store.protocol.rules import RuleReader, RuleWriter
from holdfast.store.protocol.sessions import SessionReader
from holdfast.store.protocol.shares import ShareReader, ShareWriter
from holdfast.store.protocol.vectors import VectorReader, VectorWriter

_Known = Memory | Concept | Fact | Claim | Entity | Rule | Pattern
_FromOthers = Pull | Issue | Remark | SharedRecord | ImportedRecord
Record = Turn | Exchange | Digest | Session | Commit | _FromOthers | _Known


class Match(NamedTuple):
    """One full-text match; a higher `score` is better."""

    passage: Passage
    score: float


class Counts(NamedTuple):
    """How much there is in a bank."""

    sessions: int = 0
    turns: int = 0
    exchanges: int = 0
    digests: int = 0
    commits: int = 0
    raw_bytes: int = 0
    l1_bytes: int = 0
    memories: int = 0
    facts: int = 0
    retained: int = 0
    opinions: int = 0
    pulls: int = 0
    issues: int = 0
    shared: int = 0
    imported: int = 0


class StaleSession(NamedTuple):
    """A session whose derived rows are older than its turns, from place `first` on."""

    bank: str
    session: str
    first: int


Derived = Exchange | Digest | Passage | Claim | HiddenTurn | SupersededText


class Reader(
    CurationReader,
    VectorReader,
    ConceptReader,
    FactReader,
    GraphReader,
    RuleReader,
    MemoryReader,
    GitHistoryReader,
    ForgeReader,
    ShareReader,
    OutboxReader,
    ImportReader,
    ExportReader,
    SessionReader,
    OverviewReader,
    Protocol,
):
    """Everything that can be read. A `bank` of None means all banks. Hidden records are left out,
    and corrected ones have the text of their correction."""

    def banks(self) -> list[Bank]:
        """Every bank, by name."""
        ...

    def bank(self, id: str) -> Bank | None:
        """One bank by its id."""
        ...

    def bank_by_alias(self, alias: str) -> str | None:
        """The id of the bank with an alias."""
        ...

    def bank_by_host_session(self, host: str) -> str | None:
        """The id of the bank that has a session with this id of the agent."""
        ...

    def sources(self, bank: str | None = None) -> list[Source]:
        """Every input file, by path."""
        ...

    def source(self, id: int) -> Source | None:
        """One input file by its number."""
        ...

    def source_at(self, path: str) -> Source | None:
        """One input file by its path."""
        ...

    def balance(self, bank: str | None = None) -> Balance:
        """The ledger added up; the caller fills in `pending` from the files on disk."""
        ...

    def failures(self, bank: str | None = None, limit: int = 20) -> list[FailedLine]:
        """Lines that could not be read."""
        ...

    def sources_failed_before(self, reader: int) -> set[int]:
        """The sources with lines that a reader older than this one could not read."""
        ...

    def counts(self, bank: str | None = None) -> Counts:
        """How much there is."""
        ...

    def sessions(self, bank: str | None, limit: int = 20) -> list[Session]:
        """Sessions, the latest first."""
        ...

    def session(self, bank: str, id: str) -> Session | None:
        """One session."""
        ...

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        """The turns of a session in order, from place `first` to place `last`."""
        ...

    def turns_from(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        """The same one by one, for sessions that may not fit into memory."""
        ...

    def turn_before(self, source: int, line: int) -> Turn | None:
        """The last turn that was read from a source's lines up to one."""
        ...

    def exchanges(self, bank: str, session: str) -> list[Exchange]:
        """The exchanges of a session in order."""
        ...

    def digest_of(self, bank: str, session: str) -> Digest | None:
        """The digest of a session."""
        ...

    def find(self, bank: str | None, kind: str, id: str, limit: int = 5) -> list[Record]:
        """Records whose id is, or starts with, `id`; `kind` "" means all kinds."""
        ...

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str] = (),
        limit: int = 50,
        since: str = "",
        until: str = "",
    ) -> list[Match]:
        """Passages with any of the terms, best first, from `since` up to `until`. A term is a word
        or a phrase, taken literally: nothing in it is an operator."""
        ...

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        """In how many passages each term occurs, counted up to `most`."""
        ...

    def count_passages(self, bank: str | None, most: int) -> int:
        """How many passages there are, counted up to `most`."""
        ...

    def recent_passages(
        self, bank: str | None, kind: str, limit: int = 5, since: str = "", until: str = ""
    ) -> list[Passage]:
        """The latest passages of a kind, from `since` up to `until`."""
        ...

    def turn_passages(self, bank: str, session: str, seqs: Sequence[int]) -> list[Passage]:
        """The passages of the turns at some places of a session."""
        ...

    def generation(self) -> str:
        """A value that changes with every write, by any process."""
        ...

    def passages_around(
        self,
        bank: str | None,
        position: TimelinePosition,
        kinds: Sequence[str],
        before: int,
        after: int,
    ) -> list[Passage]:
        """The nearest passages of these kinds before and after a position, in order: by time, then
        kind, id and bank. Passages at the position itself, and those without a time, are left out.
        """
        ...

    def count_undated(self, bank: str | None, kinds: Sequence[str], most: int) -> int:
        """How many passages of these kinds have no time, counted up to `most`."""
        ...

    def filter_records(
        self, bank: str | None, filter: RecordFilter, limit: int = 20
    ) -> list[Exchange | Commit]:
        """The exchanges that match a filter, and the commits where it names a file but neither
        concept nor type; the latest first, then by kind, id and bank."""
        ...

    def stale_sessions(self, limit: int = 100) -> list[StaleSession]:
        """The sessions whose derived rows are to be made again."""
        ...

    def last_session_end(self, bank: str | None = None) -> str:
        """The latest time at which a session ended, or ""."""
        ...


class ReadStore(Reader, Protocol):
    """A reader that can be closed, and that lends further readers to other threads."""

    def borrow_reader(self) -> ReadStore | None:
        """Another reader of the same store, for one other thread; None if there can be only one."""
        ...

    def return_reader(self, reader: ReadStore) -> None:
        """Take back a reader from `borrow_reader`. It may be lent again, and is closed with this
        one."""
        ...

    def interrupt(self) -> None:
        """Abort the query that another thread is running."""
        ...

    def close(self) -> None:
        """Release the files and connections."""
        ...


class SourceChange(NamedTuple):
    """How far a source was read from `seen_offset` on, and the outcomes of its lines."""

    source: int
    seen_offset: int
    offset: int
    prefix: str
    stamp: str
    lines: int
    l1_bytes: int
    captured: int
    skipped: dict[str, int]
    failed: Sequence[FailedLine]
    redacted: dict[str, int]
    read_at: str


class Writer(
    Reader,
    ModelSummaries,
    StageProgress,
    DerivationVersions,
    CurationWriter,
    VectorWriter,
    ConceptWriter,
    FactWriter,
    GraphWriter,
    RuleWriter,
    MemoryWriter,
    GitHistoryWriter,
    ForgeWriter,
    ShareWriter,
    OutboxWriter,
    ImportWriter,
    RestoreWriter,
    Protocol,
):
    """Everything that can be written."""

    def transaction(self) -> AbstractContextManager[None]:
        """A context in which all writes are applied, or none."""
        ...

    def add_bank(self, bank: Bank) -> None:
        """Add a bank; a known one stays as it is."""
        ...

    def update_bank(self, bank: Bank) -> None:
        """Change the disposition, background, retention and aliases of a known bank."""
        ...

    def add_alias(self, bank: str, alias: str) -> None:
        """Add an alias to a bank; an alias that another bank has stays there."""
        ...

    def add_source(self, path: str, agent: str, bank: str) -> Source:
        """The source at a path, added if it is new."""
        ...

    def move_source(self, id: int, path: str) -> None:
        """Change the path of a source whose file was moved."""
        ...

    def move_source_to_bank(self, id: int, bank: str) -> None:
        """Move a source and everything read from it to another bank."""
        ...

    def restart_source(self, id: int) -> None:
        """Read a rewritten file again from its start, with an empty ledger. Its turns stay, at line
        0 until they are read again."""
        ...

    def set_source_state(self, id: int, state: str, problem: str) -> None:
        """Record that a file is missing, unreadable, or readable again."""
        ...

    def advance_source(self, change: SourceChange) -> bool:
        """Move a source's offset and count its lines; False if another process moved it first."""
        ...

    def add_session(self, session: Session) -> None:
        """Add a session, or fill in what was not known about it."""
        ...

    def known_turns(self, bank: str, ids: Sequence[str]) -> dict[str, Origin]:
        """Which of these turns are known, each with the line it was read from."""
        ...

    def tool_call_turn(self, bank: str, session: str, call: str) -> Turn | None:
        """The turn of a tool call in a session."""
        ...

    def has_tool_call(self, bank: str, call: str) -> bool:
        """Whether any session of the bank has this tool call."""
        ...

    def next_seq(self, bank: str, session: str) -> int:
        """The first free place in a session."""
        ...

    def put_turns(self, turns: Iterable[Turn]) -> None:
        """Store turns; of a known one only the tool's result, the trust and the origin change.
        Their sessions become stale."""
        ...

    def put_commits(self, commits: Iterable[tuple[Commit, Passage | None]]) -> int:
        """Store commits, each with its passage (None: it cannot be found); returns how many were
        new."""
        ...

    def put_derived(
        self,
        bank: str,
        session: str,
        derived: Iterable[Derived],
        first: int = 0,
    ) -> None:
        """Replace the derived rows of a session from place `first` on, and its digest; it is no
        longer stale. `derived` is written while it is consumed."""
        ...

    def drop_derived(self) -> None:
        """Remove all derived rows; every session becomes stale."""
        ...


class Store(
    Writer,
    InjectionLedger,
    FailedTasks,
    ModelCallLedger,
    IntegrityCheck,
    Eraser,
    ApiKeyStore,
    ReadStore,
    Protocol,
):
    """All capabilities of a store."""
