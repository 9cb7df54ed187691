"""The parts of a store over one database: a reader of each subject, or a writer of each.

A part is made, and its module imported, when it is first used: a search needs a third of them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    # To type checkers these are properties, as the protocol has them.
    from builtins import property as cached_property

    from holdfast.store.across_tables.bank_merges import BankMerges
    from holdfast.store.across_tables.derived import DerivedWriter
    from holdfast.store.across_tables.lookup import RecordReader
    from holdfast.store.across_tables.overview import OverviewReader
    from holdfast.store.index.passages import FullTextIndex, PassageReader, PassageWriter
    from holdfast.store.index.progress import DerivationVersions, StageProgress
    from holdfast.store.index.vectors import VectorIndex, VectorReader, VectorWriter
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
    from holdfast.store.sql.database import Database
else:
    from functools import cached_property


class ReaderParts:
    """A reader of each subject. Nothing in here writes."""

    def __init__(
        self,
        database: Database,
        index: FullTextIndex,
        vector_index: VectorIndex | None,
    ) -> None:
        self.database = database
        self._full_text = index
        self._vector_index = vector_index

    @cached_property
    def banks(self) -> BankReader:
        from holdfast.store.records.banks import BankReader

        return BankReader(self.database)

    @cached_property
    def concepts(self) -> ConceptReader:
        from holdfast.store.knowledge.concepts import ConceptReader

        return ConceptReader(self.database)

    @cached_property
    def curation(self) -> CurationReader:
        from holdfast.store.records.curation import CurationReader

        return CurationReader(self.database)

    @cached_property
    def exports(self) -> ExportReader:
        from holdfast.store.records.exports import ExportReader

        return ExportReader(self.database)

    @cached_property
    def facts(self) -> FactReader:
        from holdfast.store.knowledge.facts import FactReader

        return FactReader(self.database)

    @cached_property
    def forge(self) -> ForgeReader:
        from holdfast.store.records.forge import ForgeReader

        return ForgeReader(self.database, self.curation)

    @cached_property
    def git(self) -> GitHistoryReader:
        from holdfast.store.records.git_history import GitHistoryReader

        return GitHistoryReader(self.database)

    @cached_property
    def graph(self) -> GraphReader:
        from holdfast.store.knowledge.graph import GraphReader

        return GraphReader(self.database)

    @cached_property
    def imports(self) -> ImportReader:
        from holdfast.store.records.imports import ImportReader

        return ImportReader(self.database)

    @cached_property
    def memories(self) -> MemoryReader:
        from holdfast.store.knowledge.memories import MemoryReader

        return MemoryReader(self.database)

    @cached_property
    def opinions(self) -> OpinionReader:
        from holdfast.store.knowledge.opinions import OpinionReader

        return OpinionReader(self.database)

    @cached_property
    def outbox(self) -> OutboxReader:
        from holdfast.store.records.outbox import OutboxReader

        return OutboxReader(self.database)

    @cached_property
    def overview(self) -> OverviewReader:
        from holdfast.store.across_tables.overview import OverviewReader

        return OverviewReader(self.database)

    @cached_property
    def passages(self) -> PassageReader:
        from holdfast.store.index.passages import PassageReader

        return PassageReader(self.database, self._full_text)

    @cached_property
    def records(self) -> RecordReader:
        from holdfast.store.across_tables.lookup import RecordReader

        return RecordReader(self.database, self.concepts, self.curation, lambda: self.forge)

    @cached_property
    def rules(self) -> RuleReader:
        from holdfast.store.knowledge.rules import RuleReader

        return RuleReader(self.database)

    @cached_property
    def sessions(self) -> SessionReader:
        from holdfast.store.records.sessions import SessionReader

        return SessionReader(self.database)

    @cached_property
    def shares(self) -> ShareReader:
        from holdfast.store.records.shares import ShareReader

        return ShareReader(self.database)

    @cached_property
    def sources(self) -> SourceReader:
        from holdfast.store.records.sources import SourceReader

        return SourceReader(self.database)

    @cached_property
    def summaries(self) -> ModelSummaryReader:
        from holdfast.store.ledgers.model_calls import ModelSummaryReader

        return ModelSummaryReader(self.database)

    @cached_property
    def turns(self) -> TurnReader:
        from holdfast.store.records.turns import TurnReader

        return TurnReader(self.database, self.curation)

    @cached_property
    def vectors(self) -> VectorReader:
        from holdfast.store.index.vectors import VectorReader

        return VectorReader(self.database, self._vector_index)


class WriterParts:
    """A writer of each subject, which reads as well, and the ledgers."""

    def __init__(
        self,
        database: Database,
        index: FullTextIndex,
        vector_index: VectorIndex | None,
    ) -> None:
        self.database = database
        self._full_text = index
        self._vector_index = vector_index

    @cached_property
    def api_keys(self) -> ApiKeys:
        from holdfast.store.ledgers.api_keys import ApiKeys

        return ApiKeys(self.database)

    @cached_property
    def bank_merges(self) -> BankMerges:
        from holdfast.store.across_tables.bank_merges import BankMerges

        return BankMerges(
            self.database,
            self.banks,
            self.curation,
            self.derived,
            self.passages,
            self.progress,
            self.vectors,
        )

    @cached_property
    def banks(self) -> BankWriter:
        from holdfast.store.records.banks import BankWriter

        return BankWriter(self.database)

    @cached_property
    def concepts(self) -> ConceptWriter:
        from holdfast.store.knowledge.concepts import ConceptWriter

        return ConceptWriter(self.database, self.passages)

    @cached_property
    def curation(self) -> CurationWriter:
        from holdfast.store.records.curation import CurationWriter

        return CurationWriter(self.database, self.progress)

    @cached_property
    def derived(self) -> DerivedWriter:
        from holdfast.store.across_tables.derived import DerivedWriter

        return DerivedWriter(
            self.database,
            self.concepts,
            self.curation,
            self.facts,
            self.graph,
            self._full_text,
            self.memories,
            self.passages,
            self.progress,
            self.rules,
            self.sources,
            self.turns,
        )

    @cached_property
    def exports(self) -> ExportWriter:
        from holdfast.store.records.exports import ExportWriter

        return ExportWriter(self.database, self.progress)

    @cached_property
    def facts(self) -> FactWriter:
        from holdfast.store.knowledge.facts import FactWriter

        return FactWriter(self.database, self.passages)

    @cached_property
    def failed_tasks(self) -> FailedTasks:
        from holdfast.store.ledgers.injections import FailedTasks

        return FailedTasks(self.database)

    @cached_property
    def forge(self) -> ForgeWriter:
        from holdfast.store.records.forge import ForgeWriter

        return ForgeWriter(self.database, self.curation, self.passages, self.progress)

    @cached_property
    def git(self) -> GitHistoryWriter:
        from holdfast.store.records.git_history import GitHistoryWriter

        return GitHistoryWriter(self.database, self.passages, self.progress)

    @cached_property
    def graph(self) -> GraphWriter:
        from holdfast.store.knowledge.graph import GraphWriter

        return GraphWriter(self.database)

    @cached_property
    def imports(self) -> ImportWriter:
        from holdfast.store.records.imports import ImportWriter

        return ImportWriter(self.database, self.passages, self.progress)

    @cached_property
    def injections(self) -> InjectionLedger:
        from holdfast.store.ledgers.injections import InjectionLedger

        return InjectionLedger(self.database)

    @cached_property
    def memories(self) -> MemoryWriter:
        from holdfast.store.knowledge.memories import MemoryWriter

        return MemoryWriter(self.database, self.curation, self.passages, self.progress)

    @cached_property
    def model_calls(self) -> ModelCallLedger:
        from holdfast.store.ledgers.model_calls import ModelCallLedger

        return ModelCallLedger(self.database)

    @cached_property
    def opinions(self) -> OpinionWriter:
        from holdfast.store.knowledge.opinions import OpinionWriter

        return OpinionWriter(self.database, self.passages)

    @cached_property
    def outbox(self) -> OutboxWriter:
        from holdfast.store.records.outbox import OutboxWriter

        return OutboxWriter(self.database)

    @cached_property
    def overview(self) -> OverviewReader:
        from holdfast.store.across_tables.overview import OverviewReader

        return OverviewReader(self.database)

    @cached_property
    def passages(self) -> PassageWriter:
        from holdfast.store.index.passages import PassageWriter

        return PassageWriter(self.database, self._full_text)

    @cached_property
    def progress(self) -> StageProgress:
        from holdfast.store.index.progress import StageProgress

        return StageProgress(self.database)

    @cached_property
    def records(self) -> RecordReader:
        from holdfast.store.across_tables.lookup import RecordReader

        return RecordReader(self.database, self.concepts, self.curation, lambda: self.forge)

    @cached_property
    def rules(self) -> RuleWriter:
        from holdfast.store.knowledge.rules import RuleWriter

        return RuleWriter(self.database, self.passages, self.progress)

    @cached_property
    def sessions(self) -> SessionWriter:
        from holdfast.store.records.sessions import SessionWriter

        return SessionWriter(self.database)

    @cached_property
    def shares(self) -> ShareWriter:
        from holdfast.store.records.shares import ShareWriter

        return ShareWriter(self.database, self.passages, self.progress)

    @cached_property
    def sources(self) -> SourceWriter:
        from holdfast.store.records.sources import SourceWriter

        return SourceWriter(self.database)

    @cached_property
    def summaries(self) -> ModelSummaries:
        from holdfast.store.ledgers.model_calls import ModelSummaries

        return ModelSummaries(self.database)

    @cached_property
    def turns(self) -> TurnWriter:
        from holdfast.store.records.turns import TurnWriter

        return TurnWriter(self.database, self.curation)

    @cached_property
    def vectors(self) -> VectorWriter:
        from holdfast.store.index.vectors import VectorWriter

        return VectorWriter(self.database, self._vector_index)

    @cached_property
    def versions(self) -> DerivationVersions:
        from holdfast.store.index.progress import DerivationVersions

        return DerivationVersions(self.database)
