"""One open memory: what operations work on. It has a part for each capability, which is imported
when it is first used, so that a question does not pay for ingest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from holdfast.app.core.context import ALL_BANKS, Context, utc_now
from holdfast.app.search.recall import Search
from holdfast.errors import require_words
from holdfast.recall.core.plan import RecallPlan
from holdfast.settings import Settings, load_settings

if TYPE_CHECKING:
    from holdfast.app.answers.research_sessions import Answers
    from holdfast.app.briefs.briefing import Briefs
    from holdfast.app.core.inventory import Inventory
    from holdfast.app.curation.banks import BankProfiles
    from holdfast.app.curation.erasure import Erasure
    from holdfast.app.curation.opinions import Opinions
    from holdfast.app.curation.records import RecordCuration
    from holdfast.app.curation.rules import Rules
    from holdfast.app.ingest.bank_merging import BankMerging
    from holdfast.app.ingest.ingestion import Ingestion
    from holdfast.app.search.browse import Browse
    from holdfast.app.transfer.imports import Imports
    from holdfast.app.transfer.sharing import Sharing
    from holdfast.model.curation import Curation
    from holdfast.model.knowledge import Network
    from holdfast.model.query import Answer, Layer, RecallResult
    from holdfast.principal import Principal
    from holdfast.refine.ingest.ingest_report import IngestReport
    from holdfast.refine.ingest.read_plan import Input
    from holdfast.store.protocol import Reader, Store


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Forwarded(Generic[Parameters, Result]):
    """A method of a part, as one of the memory."""

    def __init__(self, find: Callable[[Holdfast], Callable[Parameters, Result]]) -> None:
        self._find = find

    def __get__(self, memory: Holdfast, owner: type) -> Callable[Parameters, Result]:
        return self._find(memory)


class Holdfast:
    """One open memory.

    `bank` arguments take a name or an id; None is the project of the working directory, "all" is
    every bank. An `id` is a URI (`holdfast://fact/…`), an id, or the start of one. `who` is the
    person a decision is logged for, by default the user of this machine.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], str] = utc_now,
        create: bool = True,
        only_reads: bool = False,
    ) -> None:
        """Open the memory of these settings. `now` is the clock; without `create` a memory that
        does not exist is read as an empty one. One that `only_reads` cannot be changed, and asks
        neither plugins nor servers."""
        self.context = Context(settings, now, create, only_reads)
        self.context.after_change = self._after_change
        self.search = Search(self.context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.context.close()

    # The common verbs, for the pages, the worker and evaluation. Faces ask operations.

    show = Forwarded(lambda memory: memory.search.show)
    timeline = Forwarded(lambda memory: memory.browse.timeline)
    remember = Forwarded(lambda memory: memory.curation.remember)
    retain = Forwarded(lambda memory: memory.opinions.retain)
    correct = Forwarded(lambda memory: memory.curation.correct)
    forget = Forwarded(lambda memory: memory.curation.forget)
    restore = Forwarded(lambda memory: memory.curation.restore)

    def recall(
        self,
        query: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        limit: int = 10,
        networks: Sequence[Network] = (),
        local: bool = False,
        **plan: Any,
    ) -> RecallResult:
        """The records that match a query, best first; with `local` no remote server is queried.
        What else is given is of the `RecallPlan`."""
        made = RecallPlan(tuple(layers), limit, networks=tuple(networks), weak=True, **plan)
        made = made._replace(remotes=not local)
        return self.search.recall_with_plan(require_words(query, "query"), bank, made)

    def ask(
        self,
        question: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        session: str = "",
        local: bool = False,
        **options: Any,
    ) -> Answer:
        """A cited answer, or an abstention; `session` continues an earlier one. What else is given
        is of the `AskOptions`."""
        from holdfast.app.answers.ask import AskOptions

        asked = AskOptions(question, bank, tuple(layers), remotes=not local, **options)
        return self.answers.investigate(asked, session).answer()

    def undo(
        self, count: int = 1, bank: str | None = ALL_BANKS, who: str = "", seq: int = 0
    ) -> list[Curation]:
        """Undo the latest decisions that can be undone, or the one with the number `seq` if nothing
        later depends on it; returns them, the latest first."""
        from holdfast.app.curation.undo import undo_decisions

        return undo_decisions(self.context, self.rules, self.merging, count, bank, who, seq)

    def ingest(self, inputs: Sequence[Input], workers: int = 1) -> IngestReport:
        """Read transcripts, found by `ingestion.find`, and derive everything above them. Also
        prepares the briefs of the next sessions."""
        report = self.ingestion.ingest(inputs, workers)
        self.briefs.prepare()
        return report

    # The parts.

    @cached_property
    def browse(self) -> Browse:
        """Records by time, file, concept, keyword, entity or person."""
        from holdfast.app.search.browse import Browse

        return Browse(self.context, self.search)

    @cached_property
    def answers(self) -> Answers:
        """Questions answered with citations, and feedback on answers."""
        from holdfast.app.answers.research_sessions import Answers

        return Answers(self.context, self.search)

    @cached_property
    def briefs(self) -> Briefs:
        """The context that is injected into sessions."""
        from holdfast.app.briefs.briefing import Briefs

        return Briefs(self.context, self.search)

    @cached_property
    def inventory(self) -> Inventory:
        """How much there is, and whether every input line is accounted for."""
        from holdfast.app.core.inventory import Inventory

        return Inventory(self.context)

    @cached_property
    def curation(self) -> RecordCuration:
        """Decisions about records: correct, forget, merge, confirm, review."""
        from holdfast.app.curation.records import RecordCuration

        return RecordCuration(self.context, self.browse)

    @cached_property
    def erasure(self) -> Erasure:
        """Erasing records and texts permanently."""
        from holdfast.app.curation.erasure import Erasure

        return Erasure(self.context)

    @cached_property
    def rules(self) -> Rules:
        """Rules that are taught or proposed, and their approval or rejection."""
        from holdfast.app.curation.rules import Rules

        return Rules(self.context)

    @cached_property
    def opinions(self) -> Opinions:
        """Retained memories, opinions and reflection."""
        from holdfast.app.curation.opinions import Opinions

        return Opinions(self.context, self.search)

    @cached_property
    def banks(self) -> BankProfiles:
        """Banks: disposition, background, aliases, retention."""
        from holdfast.app.curation.banks import BankProfiles

        return BankProfiles(self.context)

    @cached_property
    def merging(self) -> BankMerging:
        """Banks that are one project: merging them, undoing that, and what could be merged."""
        from holdfast.app.ingest.bank_merging import BankMerging

        return BankMerging(self.context)

    @cached_property
    def sharing(self) -> Sharing:
        """Records shared with a team on a git branch."""
        from holdfast.app.transfer.sharing import Sharing

        return Sharing(self.context)

    @cached_property
    def ingestion(self) -> Ingestion:
        """Transcripts, git histories and forges read into the memory."""
        from holdfast.app.ingest.ingestion import Ingestion

        return Ingestion(self.context, self.search)

    @cached_property
    def imports(self) -> Imports:
        """What other programs remembered, and exports read back."""
        from holdfast.app.transfer.imports import Imports

        return Imports(self.context, self.ingestion)

    # What the parts share.

    @property
    def settings(self) -> Settings:
        """The settings this memory was opened with."""
        return self.context.settings

    @property
    def reader(self) -> Reader:
        """The store, read-only."""
        return self.context.store

    @property
    def store(self) -> Store:
        """The store."""
        return self.context.store

    def now(self) -> str:
        """The current time by this memory's clock."""
        return self.context.now()

    def scoped_to(self, principal: Principal) -> AbstractContextManager[None]:
        """Within this block every read and write is limited to what the principal may do."""
        return self.context.scoped_to(principal)

    def _after_change(self) -> None:
        """Bring up to date what depends on records that people just changed."""
        from holdfast.app.curation.records import refresh_derived

        refresh_derived(self.context)
        self.rules.propose_all()


def open_memory(settings: Settings | None = None, create: bool = True) -> Holdfast:
    """Open the memory of this user, or of the given settings. Without `create` nothing is written
    where there is no memory yet."""
    return Holdfast(settings or load_settings(), create=create)
