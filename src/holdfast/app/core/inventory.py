"""How much a memory holds, and whether every input line is accounted for."""

from __future__ import annotations

from dataclasses import replace

from holdfast.app.core.context import Context
from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.injections import Injection
from holdfast.model.ledgers.lines import Balance
from holdfast.model.records import Digest, Exchange
from holdfast.store.across_tables.lookup import Counts, Record


class Inventory:
    """Counts and ledgers of an open memory."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def counts(self, bank: str | None = "all") -> Counts:
        """How many records of each kind there are."""
        return self._context.store.records.counts(self._context.bank_id(bank))

    def balance(self, bank: str | None = "all") -> Balance:
        """The ledger of input lines, including lines on disk that are still to be read. For all
        banks together that includes transcripts that were never ingested."""
        from holdfast.refine.ingest import discovery, read_plan

        store, id = self._context.store, self._context.bank_id(bank)
        found = store.sources.balance(id)
        where = discovery.user_environment(self._context.settings)
        inputs = discovery.find_all_transcripts(where, []) if id is None else ()
        unread = read_plan.find_pending(store, id, inputs)
        return replace(
            found,
            pending=unread.lines,
            lines=found.lines + unread.lines,
            files=found.files + unread.files,
            problems=(*found.problems, *unread.problems),
        )

    def injections(self, bank: str | None = None, limit: int = 50) -> list[Injection]:
        """The texts injected into sessions and their outcomes, latest first."""
        return self._context.store.injections.latest(self._context.bank_id(bank), limit=limit)

    def failed_tasks(self) -> list[FailedTask]:
        """Background tasks that failed and will be tried again."""
        return self._context.store.failed_tasks.all()

    def without_model(self, record: Record) -> Exchange | Digest | None:
        """An exchange or digest as the rules alone make it, to compare with a model's version."""
        from holdfast.refine.sessions.derive import rebuild_by_rules

        return rebuild_by_rules(self._context.store, record)
