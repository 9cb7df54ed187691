"""What there is in a memory, counted and listed; and whether every line of it is accounted for."""

from __future__ import annotations

from dataclasses import replace

from holdfast.errors import StoreError
from holdfast.model.accounts import Chore, Injection
from holdfast.model.knowledge import Fact, Review, ReviewState
from holdfast.model.ledger import Balance
from holdfast.model.records import Digest, Exchange
from holdfast.model.trust import ENDED
from holdfast.settings import Settings
from holdfast.store.protocol import Counts, Record, Store


class Stock:
    """The stock of a memory that somebody opened."""

    settings: Settings
    _store: Store

    def bank_id(self, bank: str | None = None) -> str | None:
        """The id of the bank that is meant; None means all of them."""
        raise NotImplementedError

    def bank_names(self) -> dict[str, str]:
        """How banks are called, by their ids."""
        return {bank.id: bank.name for bank in self._store.banks()}

    def facts(self, bank: str | None = None, kind: str = "", all: bool = False) -> list[Fact]:
        """The facts of a bank, the latest first: those in force, or all there ever were."""
        found = self._store.facts(self.bank_id(bank))
        found = [fact for fact in found if kind in ("", fact.kind.value)]
        return found if all else [fact for fact in found if fact.status not in ENDED]

    def reviews(self, bank: str | None = None, all: bool = False) -> list[Review]:
        """What people should decide, and with `all` what they have decided."""
        found = self._store.reviews(self.bank_id(bank))
        return [review for review in found if all or review.state is ReviewState.OPEN]

    def injections(self, bank: str | None = None, limit: int = 50) -> list[Injection]:
        """What was put into sessions, the latest first, and what became of it."""
        return self._store.injections(self.bank_id(bank), limit=limit)

    def by_rules(self, record: Record) -> Exchange | Digest | None:
        """What rules alone make of an exchange or a session, to hold a model's words against."""
        from holdfast.refine.sessions import without_model

        return without_model.by_rules(self._store, record)

    def balance(self, bank: str | None = "all") -> Balance:
        """The ledger, with the lines on disk that are still to be read: of all banks together
        also those of transcripts that were never looked at."""
        id = self.bank_id(bank)
        found = self._store.balance(id)
        from holdfast.refine.ingest import discovery
        from holdfast.refine.ingest import pending as counting

        where = discovery.where_of(self.settings)
        inputs = discovery.find_all(where, []) if id is None else ()
        pending = counting.find_pending(self._store, id, inputs)
        return replace(
            found,
            pending=pending.lines,
            lines=found.lines + pending.lines,
            files=found.files + pending.files,
            problems=(*found.problems, *pending.problems),
        )

    def chores(self) -> list[Chore]:
        """Background work that failed and is tried again."""
        try:
            return self._store.chores()
        except StoreError:
            return []  # a memory of an older version that cannot be written

    def counts(self, bank: str | None = "all") -> Counts:
        """How much there is."""
        return self._store.counts(self.bank_id(bank))
