"""The store as a whole: one attribute for each subject, such as `store.facts`.

A `Reader` cannot change anything. Code that recalls takes a `Reader`, or a `ReadStore` where its
retrievers run in parallel. `Writer` adds writing. Every write happens inside `transaction()`: it is
applied completely or not at all. Another process may hold the store for a while, but never for
good.

A `bank` of None means all banks. Readers leave hidden records out and give corrected ones the text
of their correction; what a writer reads `uncurated` is as it was recorded.

Canonical rows (bank, source, ledger, session, turn, commit, pull, issue, remark, memory, opinion,
curation, injection, model call, summary, key) survive a rebuild. Derived rows (exchange,
digest, claim, fact, concept, memory occurrence, rule, pattern, passage) can be made again.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol as Protocol

    from holdfast.store.across_tables.bank_merges import BankMerges
    from holdfast.store.across_tables.derived import DerivedWriter
    from holdfast.store.across_tables.erasure import Eraser
    from holdfast.store.across_tables.lookup import RecordReader
    from holdfast.store.across_tables.overview import OverviewReader
    from holdfast.store.index.passages import PassageReader, PassageWriter
    from holdfast.store.index.progress import DerivationVersions, StageProgress
    from holdfast.store.index.vectors import VectorReader, VectorWriter
    from holdfast.store.knowledge.concepts import ConceptReader, ConceptWriter
    from holdfast.store.knowledge.facts import FactReader, FactWriter
    from holdfast.store.knowledge.graph import GraphReader, GraphWriter
    from holdfast.store.knowledge.memories import MemoryReader, MemoryWriter
    from holdfast.store.knowledge.opinions import OpinionReader, OpinionWriter
    from holdfast.store.knowledge.rules import RuleReader, RuleWriter
    from holdfast.store.ledgers.api_keys import ApiKeys
    from holdfast.store.ledgers.injections import FailedTasks, InjectionLedger
    from holdfast.store.ledgers.model_calls import (
        ModelCallLedger,
        ModelSummaries,
        ModelSummaryReader,
    )
    from holdfast.store.records.banks import BankReader, BankWriter
    from holdfast.store.records.curation import CurationReader, CurationWriter
    from holdfast.store.records.exports import ExportReader, ExportWriter
    from holdfast.store.records.forge import ForgeReader, ForgeWriter
    from holdfast.store.records.git_history import GitHistoryReader, GitHistoryWriter
    from holdfast.store.records.imports import ImportReader, ImportWriter
    from holdfast.store.records.outbox import OutboxReader, OutboxWriter
    from holdfast.store.records.sessions import SessionReader, SessionWriter
    from holdfast.store.records.shares import ShareReader, ShareWriter
    from holdfast.store.records.sources import SourceReader, SourceWriter
    from holdfast.store.records.turns import TurnReader, TurnWriter
    from holdfast.store.sql.integrity import IntegrityReport
else:
    Protocol = object


class Reader(Protocol):
    """Everything that can be read."""

    @property
    def banks(self) -> BankReader: ...
    @property
    def concepts(self) -> ConceptReader: ...
    @property
    def curation(self) -> CurationReader: ...
    @property
    def exports(self) -> ExportReader: ...
    @property
    def facts(self) -> FactReader: ...
    @property
    def forge(self) -> ForgeReader: ...
    @property
    def git(self) -> GitHistoryReader: ...
    @property
    def graph(self) -> GraphReader: ...
    @property
    def imports(self) -> ImportReader: ...
    @property
    def memories(self) -> MemoryReader: ...
    @property
    def opinions(self) -> OpinionReader: ...
    @property
    def outbox(self) -> OutboxReader: ...
    @property
    def overview(self) -> OverviewReader: ...
    @property
    def passages(self) -> PassageReader: ...
    @property
    def records(self) -> RecordReader: ...
    @property
    def rules(self) -> RuleReader: ...
    @property
    def sessions(self) -> SessionReader: ...
    @property
    def shares(self) -> ShareReader: ...
    @property
    def sources(self) -> SourceReader: ...
    @property
    def summaries(self) -> ModelSummaryReader: ...
    @property
    def turns(self) -> TurnReader: ...
    @property
    def vectors(self) -> VectorReader: ...

    def generation(self) -> str:
        """A value that changes with every write, by any process."""
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


class Writer(Reader, Protocol):
    """Everything that can be written."""

    @property
    def banks(self) -> BankWriter: ...
    @property
    def concepts(self) -> ConceptWriter: ...
    @property
    def curation(self) -> CurationWriter: ...
    @property
    def derived(self) -> DerivedWriter: ...
    @property
    def exports(self) -> ExportWriter: ...
    @property
    def facts(self) -> FactWriter: ...
    @property
    def forge(self) -> ForgeWriter: ...
    @property
    def git(self) -> GitHistoryWriter: ...
    @property
    def graph(self) -> GraphWriter: ...
    @property
    def imports(self) -> ImportWriter: ...
    @property
    def memories(self) -> MemoryWriter: ...
    @property
    def opinions(self) -> OpinionWriter: ...
    @property
    def outbox(self) -> OutboxWriter: ...
    @property
    def passages(self) -> PassageWriter: ...
    @property
    def progress(self) -> StageProgress: ...
    @property
    def rules(self) -> RuleWriter: ...
    @property
    def sessions(self) -> SessionWriter: ...
    @property
    def shares(self) -> ShareWriter: ...
    @property
    def sources(self) -> SourceWriter: ...
    @property
    def summaries(self) -> ModelSummaries: ...
    @property
    def turns(self) -> TurnWriter: ...
    @property
    def vectors(self) -> VectorWriter: ...
    @property
    def versions(self) -> DerivationVersions: ...

    def transaction(self) -> AbstractContextManager[None]:
        """A context in which all writes are applied, or none."""
        ...


class Store(Writer, ReadStore, Protocol):
    """All parts of a store."""

    @property
    def api_keys(self) -> ApiKeys: ...
    @property
    def bank_merges(self) -> BankMerges: ...
    @property
    def erasure(self) -> Eraser: ...
    @property
    def failed_tasks(self) -> FailedTasks: ...
    @property
    def injections(self) -> InjectionLedger: ...
    @property
    def model_calls(self) -> ModelCallLedger: ...

    def check_integrity(self) -> IntegrityReport:
        """Read everything and report damage; this may take a while."""
        ...
