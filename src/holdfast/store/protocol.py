"""The store as a whole: one attribute for each subject, such as `store.facts`.

Every write happens inside `transaction()`: it is applied completely or not at all. Another process
may hold the store for a while, but never for good. A store that is opened for reading refuses
writes by its connection.

A `bank` of None means all banks. Readers leave hidden records out and give corrected ones the text
of their correction; what is read `uncurated` is as it was recorded.

Canonical rows (bank, source, ledger, session, turn, commit, pull, issue, remark, memory, opinion,
curation, injection, model call, summary, key) survive a rebuild. Derived rows (exchange,
digest, claim, fact, concept, memory occurrence, rule, pattern, passage) can be made again.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from holdfast.store.across_tables.bank_merges import BankMerges
    from holdfast.store.across_tables.derived import DerivedRows
    from holdfast.store.across_tables.erasure import Eraser
    from holdfast.store.across_tables.lookup import Records
    from holdfast.store.across_tables.overview import Overview
    from holdfast.store.index.passages import FullTextIndex, Passages
    from holdfast.store.index.progress import DerivationVersions, StageProgress
    from holdfast.store.index.vectors import VectorIndex, Vectors
    from holdfast.store.knowledge.concepts import Concepts
    from holdfast.store.knowledge.facts import Facts
    from holdfast.store.knowledge.graph import Graph
    from holdfast.store.knowledge.memories import Memories
    from holdfast.store.knowledge.opinions import Opinions
    from holdfast.store.knowledge.rules import Rules
    from holdfast.store.ledgers.api_keys import ApiKeys
    from holdfast.store.ledgers.injections import FailedTasks, InjectionLedger
    from holdfast.store.ledgers.model_calls import ModelCallLedger, ModelSummaries
    from holdfast.store.records.banks import Banks
    from holdfast.store.records.curation import Curations
    from holdfast.store.records.exports import Exports
    from holdfast.store.records.forge import ForgeRecords
    from holdfast.store.records.git_history import GitHistory
    from holdfast.store.records.imports import ImportedRecords
    from holdfast.store.records.outbox import Outbox
    from holdfast.store.records.sessions import Sessions
    from holdfast.store.records.shares import Shares
    from holdfast.store.records.sources import Sources
    from holdfast.store.records.turns import Turns
    from holdfast.store.sql.database import Database
    from holdfast.store.sql.integrity import IntegrityReport

# Where each subject is; it is imported when it is first used, and a search needs a third of them.
SUBJECTS = {
    "api_keys": "ledgers.api_keys.ApiKeys",
    "bank_merges": "across_tables.bank_merges.BankMerges",
    "banks": "records.banks.Banks",
    "concepts": "knowledge.concepts.Concepts",
    "curation": "records.curation.Curations",
    "derived": "across_tables.derived.DerivedRows",
    "exports": "records.exports.Exports",
    "facts": "knowledge.facts.Facts",
    "failed_tasks": "ledgers.injections.FailedTasks",
    "forge": "records.forge.ForgeRecords",
    "git": "records.git_history.GitHistory",
    "graph": "knowledge.graph.Graph",
    "imports": "records.imports.ImportedRecords",
    "injections": "ledgers.injections.InjectionLedger",
    "memories": "knowledge.memories.Memories",
    "model_calls": "ledgers.model_calls.ModelCallLedger",
    "opinions": "knowledge.opinions.Opinions",
    "outbox": "records.outbox.Outbox",
    "overview": "across_tables.overview.Overview",
    "passages": "index.passages.Passages",
    "progress": "index.progress.StageProgress",
    "records": "across_tables.lookup.Records",
    "rules": "knowledge.rules.Rules",
    "sessions": "records.sessions.Sessions",
    "shares": "records.shares.Shares",
    "sources": "records.sources.Sources",
    "summaries": "ledgers.model_calls.ModelSummaries",
    "turns": "records.turns.Turns",
    "vectors": "index.vectors.Vectors",
    "versions": "index.progress.DerivationVersions",
}


class Store:
    """All subjects of a memory, over one engine."""

    if TYPE_CHECKING:
        api_keys: ApiKeys
        bank_merges: BankMerges
        banks: Banks
        concepts: Concepts
        curation: Curations
        derived: DerivedRows
        exports: Exports
        facts: Facts
        failed_tasks: FailedTasks
        forge: ForgeRecords
        git: GitHistory
        graph: Graph
        imports: ImportedRecords
        injections: InjectionLedger
        memories: Memories
        model_calls: ModelCallLedger
        opinions: Opinions
        outbox: Outbox
        overview: Overview
        passages: Passages
        progress: StageProgress
        records: Records
        rules: Rules
        sessions: Sessions
        shares: Shares
        sources: Sources
        summaries: ModelSummaries
        turns: Turns
        vectors: Vectors
        versions: DerivationVersions

    def __init__(
        self, database: Database, full_text: FullTextIndex, vector_index: VectorIndex | None = None
    ) -> None:
        self.database = database
        self.full_text = full_text
        self.vector_index = vector_index

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            place = SUBJECTS.get(name)
            if place is None:
                raise AttributeError(name)
            module, _, subject = place.rpartition(".")
            made = getattr(import_module(f"holdfast.store.{module}"), subject)(self)
            self.__dict__[name] = made  # later lookups do not come here again
            return made

    @property
    def erasure(self) -> Eraser:
        """Erases records and words."""
        raise NotImplementedError

    def transaction(self) -> AbstractContextManager[None]:
        """A context in which all writes are applied, or none."""
        raise NotImplementedError

    def generation(self) -> str:
        """A value that changes with every write, by any process."""
        raise NotImplementedError

    def check_integrity(self) -> IntegrityReport:
        """Read everything and report damage; this may take a while."""
        raise NotImplementedError

    def borrow_reader(self) -> Store | None:
        """Another reader of the same store, for one other thread; None if there can be only one."""
        raise NotImplementedError

    def return_reader(self, reader: Store) -> None:
        """Take back a reader from `borrow_reader`. It may be lent again, and is closed with this
        one."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Abort the query that another thread is running."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the files and connections."""
        raise NotImplementedError


# What only reads says so by this name.
Reader = ReadStore = Writer = Store
