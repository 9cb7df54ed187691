"""The parts of a store over one database: a reader of each subject, or a writer of each."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.store.across_tables.bank_merges import BankMerges
from holdfast.store.across_tables.derived import DerivedWriter
from holdfast.store.across_tables.lookup import RecordReader
from holdfast.store.across_tables.overview import OverviewReader, TableSize
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
from holdfast.store.ledgers.model_calls import ModelCallLedger, ModelSummaries
from holdfast.store.records.banks import BankReader, BankWriter
from holdfast.store.records.clues import ClueReader, ClueWriter
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

TableSizes = Callable[[], list[TableSize]]


class ReaderParts:
    """A reader of each subject. Nothing in here writes."""

    def __init__(
        self,
        database: Database,
        index: FullTextIndex,
        vector_index: VectorIndex | None,
        table_sizes: TableSizes,
    ) -> None:
        db = self.database = database
        self.banks = BankReader(db)
        self.clues = ClueReader(db)
        self.concepts = ConceptReader(db)
        self.curation = CurationReader(db)
        self.exports = ExportReader(db)
        self.facts = FactReader(db)
        self.forge = ForgeReader(db, self.curation)
        self.git = GitHistoryReader(db)
        self.graph = GraphReader(db)
        self.imports = ImportReader(db)
        self.memories = MemoryReader(db)
        self.opinions = OpinionReader(db)
        self.outbox = OutboxReader(db)
        self.overview = OverviewReader(db, table_sizes)
        self.passages = PassageReader(db, index)
        self.records = RecordReader(db, self.concepts, self.curation, self.forge)
        self.rules = RuleReader(db)
        self.sessions = SessionReader(db)
        self.shares = ShareReader(db)
        self.sources = SourceReader(db)
        self.turns = TurnReader(db, self.curation)
        self.vectors = VectorReader(db, vector_index)


class WriterParts:
    """A writer of each subject, which reads as well, and the ledgers."""

    def __init__(
        self,
        database: Database,
        index: FullTextIndex,
        vector_index: VectorIndex | None,
        table_sizes: TableSizes,
    ) -> None:
        db = self.database = database
        self.progress = progress = StageProgress(db)
        self.passages = passages = PassageWriter(db, index)
        self.curation = CurationWriter(db, progress)
        self.api_keys = ApiKeys(db)
        self.banks = BankWriter(db)
        self.clues = ClueWriter(db)
        self.concepts = ConceptWriter(db, passages)
        self.exports = ExportWriter(db, progress)
        self.facts = FactWriter(db, passages)
        self.failed_tasks = FailedTasks(db)
        self.forge = ForgeWriter(db, self.curation, passages, progress)
        self.git = GitHistoryWriter(db, passages, progress)
        self.graph = GraphWriter(db)
        self.imports = ImportWriter(db, passages, progress)
        self.injections = InjectionLedger(db)
        self.memories = MemoryWriter(db, self.curation, passages, progress)
        self.model_calls = ModelCallLedger(db)
        self.opinions = OpinionWriter(db, passages)
        self.outbox = OutboxWriter(db)
        self.overview = OverviewReader(db, table_sizes)
        self.records = RecordReader(db, self.concepts, self.curation, self.forge)
        self.rules = RuleWriter(db, passages, progress)
        self.sessions = SessionWriter(db)
        self.shares = ShareWriter(db, passages, progress)
        self.sources = SourceWriter(db)
        self.summaries = ModelSummaries(db)
        self.turns = TurnWriter(db, self.curation)
        self.vectors = VectorWriter(db, vector_index)
        self.versions = DerivationVersions(db)
        self.derived = DerivedWriter(
            db,
            self.concepts,
            self.curation,
            self.facts,
            self.graph,
            index,
            self.memories,
            passages,
            progress,
            self.rules,
            self.sources,
            self.turns,
        )
        self.bank_merges = BankMerges(
            db, self.banks, self.curation, self.derived, passages, progress, self.vectors
        )
