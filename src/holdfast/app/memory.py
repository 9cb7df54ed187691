"""The public API: one open memory, with the common verbs and a part for each capability.

    from holdfast import open_memory

    with open_memory() as memory:
        memory.recall("why do we pin onnxruntime")
        memory.curation.merge("holdfast://fact/1a2b", into="holdfast://fact/3c4d")

A part is imported when it is first used, so that a question does not pay for ingest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Self

from holdfast.app.core.context import ALL_BANKS, Context, utc_now
from holdfast.app.search.recall import Search
from holdfast.errors import require_words
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind, Network
from holdfast.model.trust import Trust
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import Settings, load_settings

if TYPE_CHECKING:
    from holdfast.app.answers.answers import Answers
    from holdfast.app.briefs.briefing import Briefs
    from holdfast.app.core.inventory import Inventory
    from holdfast.app.curation.bank_profiles import BankProfiles
    from holdfast.app.curation.erasure import Erasure
    from holdfast.app.curation.opinions import Opinions
    from holdfast.app.curation.records import RecordCuration
    from holdfast.app.curation.rule_files import RuleFiles
    from holdfast.app.curation.rule_proposals import RuleProposals
    from holdfast.app.curation.rule_teaching import RuleTeaching
    from holdfast.app.ingest.bank_merging import BankMerging
    from holdfast.app.ingest.ingestion import Ingestion
    from holdfast.app.search.browse import Browse
    from holdfast.app.transfer.imports import Imports
    from holdfast.app.transfer.sharing import Sharing
    from holdfast.model.curation import Curation
    from holdfast.model.knowledge import Memory
    from holdfast.model.opinions import Reflection
    from holdfast.model.query import Answer, Layer, RecallResult
    from holdfast.principal import Principal
    from holdfast.recall.lookup.timeline import Timeline
    from holdfast.recall.lookup.trace import Trace
    from holdfast.refine.ingest.ingest_report import IngestReport
    from holdfast.refine.ingest.read_plan import Input
    from holdfast.store.protocol import Reader, Store


class Holdfast:
    """One open memory.

    `bank` arguments take a name or an id; None is the project of the working directory, "all" is
    every bank. An `id` is a URI (`holdfast://fact/…`), an id, or the start of one. `who` is the
    person a decision is logged for, by default the user of this machine.
    """

    def __init__(
        self, settings: Settings, now: Callable[[], str] = utc_now, create: bool = True
    ) -> None:
        """Open the memory of these settings. `now` is the clock; without `create` a memory that
        does not exist is read as an empty one."""
        self.context = Context(settings, now, create)
        self.context.after_change = self._after_change
        self.search = Search(self.context)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self.context.close()

    # The common verbs.

    def recall(
        self,
        query: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        limit: int = 10,
        budget: Budget = Budget.MID,
        networks: Sequence[Network] = (),
        branch: str = "",
        local: bool = False,
        agent: str = "",
        kinds: Sequence[Kind | str] = (),
    ) -> RecallResult:
        """The records that match a query, best first; those below the threshold of relevance are
        `weak`, and the result has `abstained` if all are. With `networks` only
        memories are found, with `kinds` only memories, facts and rules that say something of such a
        kind; with `local` no remote server is queried."""
        plan = RecallPlan(
            tuple(layers),
            limit,
            budget,
            networks=tuple(networks),
            branch=branch,
            remotes=not local,
            agent=agent,
            knowledge=read_kinds(kinds),
            weak=True,
        )
        return self.search.recall_with_plan(require_words(query, "query"), bank, plan)

    def ask(
        self,
        question: str,
        bank: str | None = None,
        layers: Sequence[Layer] = (),
        quickly: bool = False,
        as_of: str = "",
        budget: Budget = Budget.MID,
        providers: bool = False,
        model: bool = True,
        session: str = "",
        local: bool = False,
        kinds: Sequence[Kind | str] = (),
    ) -> Answer:
        """A cited answer, or an abstention. `quickly` loads a model only if words do not find
        enough; `as_of` is a time to look back from; `budget` is how hard to search if the first
        search does not suffice; with `providers` plugins are queried; `model` allows the model
        service of the settings; `session` continues an earlier one; with `local` no remote server
        is queried; with `kinds` only what says something of such a kind is cited."""
        from holdfast.app.answers.ask import AskOptions

        options = AskOptions(
            question,
            bank,
            tuple(layers),
            quickly,
            as_of,
            Budget(budget),
            providers,
            model=model,
            remotes=not local,
            kinds=read_kinds(kinds),
        )
        return self.answers.investigate(options, session).answer()

    def show(self, uri: str, bank: str | None = ALL_BANKS, as_of: str = "") -> Trace:
        """A record and the chain from it down to its raw line; with `as_of` its state then."""
        return self.search.show(uri, bank, as_of)

    def timeline(
        self,
        anchor: str = "",
        query: str = "",
        bank: str | None = None,
        kinds: Sequence[str] = (),
        before: int = 5,
        after: int = 5,
    ) -> Timeline:
        """What came before and after a record, a date, or the best hit of a query."""
        return self.browse.timeline(anchor, query, bank, kinds, before, after)

    def remember(
        self, text: str, bank: str | None = None, who: str = "", trust: Trust = Trust.USER
    ) -> Memory:
        """Store a text as a memory, without secrets."""
        return self.curation.remember(text, bank, who, trust)

    def retain(
        self,
        text: str,
        network: Network | str = "",
        confidence: float | None = None,
        where: str = "",
        why: str = "",
        bank: str | None = None,
        who: str = "",
    ) -> Memory:
        """Store a text as a memory of a network, or of the one that its words propose; an opinion
        has a confidence from 0 to 1. When, where and why are read from the text."""
        return self.opinions.retain(text, network, confidence, where, why, bank, who)

    def correct(self, id: str, text: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Replace the words of a record; the old ones are kept as superseded."""
        return self.curation.correct(id, text, bank, who)

    def forget(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Hide a record, and everything derived from it, in every result until it is restored."""
        return self.curation.forget(id, bank, who)

    def restore(self, id: str, bank: str | None = ALL_BANKS, who: str = "") -> Curation:
        """Bring back a record that was forgotten or merged."""
        return self.curation.restore(id, bank, who)

    def undo(
        self, count: int = 1, bank: str | None = ALL_BANKS, who: str = "", seq: int = 0
    ) -> list[Curation]:
        """Undo the latest decisions that can be undone, or the one with the number `seq` if nothing
        later depends on it; returns them, the latest first."""
        from holdfast.app.curation.undo import Undo

        undo = Undo(self.context, self.teaching, self.banks, self.merging)
        return undo.undo(count, bank, who, seq)

    def ingest(self, inputs: Sequence[Input], workers: int = 1) -> IngestReport:
        """Read transcripts, found by `ingestion.find`, and derive everything above them. Also
        prepares the briefs of the next sessions."""
        report = self.ingestion.ingest(inputs, workers)
        self.briefs.prepare()
        return report

    def reflect(self, query: str, bank: str | None = None, store: bool = True) -> Reflection:
        """Weigh the evidence on a question through the disposition of a bank."""
        return self.opinions.reflect(query, bank, store)

    # The parts.

    @cached_property
    def browse(self) -> Browse:
        """Records by time, file, concept, keyword, entity or person."""
        from holdfast.app.search.browse import Browse

        return Browse(self.context, self.search)

    @cached_property
    def answers(self) -> Answers:
        """Questions answered with citations, and feedback on answers."""
        from holdfast.app.answers.answers import Answers

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
    def rules(self) -> RuleProposals:
        """Rules that are proposed, and their approval or rejection."""
        from holdfast.app.curation.rule_proposals import RuleProposals

        return RuleProposals(self.context, self._rule_files)

    @cached_property
    def teaching(self) -> RuleTeaching:
        """Rules that people and agents teach."""
        from holdfast.app.curation.rule_teaching import RuleTeaching

        return RuleTeaching(self.context, self._rule_files, self.rules, self.browse)

    @cached_property
    def _rule_files(self) -> RuleFiles:
        from holdfast.app.curation.rule_files import RuleFiles

        return RuleFiles(self.context)

    @cached_property
    def opinions(self) -> Opinions:
        """Retained memories, opinions and reflection."""
        from holdfast.app.curation.opinions import Opinions

        return Opinions(self.context, self.search)

    @cached_property
    def banks(self) -> BankProfiles:
        """Banks: disposition, background, aliases, retention."""
        from holdfast.app.curation.bank_profiles import BankProfiles

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
