"""Looking through a memory by time, file, concept, keyword, entity or person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.app.core.context import Context, describe_bank, relative_to_project
from holdfast.app.core.foreign_uris import resolve_uri
from holdfast.app.search.recall import Search
from holdfast.errors import NotFoundError, require_words
from holdfast.model.graph import Entity
from holdfast.model.knowledge import Concept, Fact, Review, ReviewState
from holdfast.model.query import LAYER_BY_KIND, TimelinePosition
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.lookup.entities import find_entity
from holdfast.recall.lookup.filters import Work, make_filter, matching_work
from holdfast.recall.lookup.timeline import (
    KINDS,
    TimedRecord,
    Timeline,
    events_of,
    read_anchor,
    timeline,
)
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.store.across_tables.lookup import Record
from holdfast.times import format_time

# The largest limit that every store accepts.
_NO_LIMIT = 1 << 31
# How many hits of a query are tried until one has a time to put the timeline around.
_ANCHOR_CANDIDATES = 5
# The same where those that are too old do not count.
_MANY_CANDIDATES = 50


def days_before(now: str, days: int) -> str:
    """The time so many days before now; "" for 0, and before the first year of the calendar."""
    try:
        return format_time(datetime.fromisoformat(now) - timedelta(days=days)) if days else ""
    except OverflowError:
        return ""


def left_out_note(left: int, days: int) -> str:
    """What to tell of so many records that are older than that."""
    return f"{left} more are outside of the last {days} days: ask with days 0."


class Browse:
    """Lists and looks up records. `bank` arguments are as for `Context`."""

    def __init__(self, context: Context, search: Search) -> None:
        self._context = context
        self._search = search

    def timeline(
        self,
        anchor: str = "",
        query: str = "",
        bank: str | None = None,
        kinds: Sequence[str] = (),
        before: int = 5,
        after: int = 5,
        days: int = 0,
        choice: int = 0,
    ) -> Timeline:
        """What came before and after an anchor (a URI, the start of an id, a date), or the best
        hit of a query; without either, the latest records. A record that is not in this bank is
        looked for in all banks, and the result names its bank. A query looks at the last `days`
        alone, if that is not 0; with a `choice` its best hits are listed, so many at most."""
        context = self._context
        id = context.bank_id(bank)
        at: Record | TimelinePosition | None = None
        notes: tuple[str, ...] = ()
        if anchor:
            at = self._anchor(anchor, id)
        elif query:
            hits, notes = self._dated_hits(query, bank, kinds, days, choice)
            name = context.bank_name(id)
            if not hits:
                note = f"No results for {query!r} in {describe_bank(name)}."
                return Timeline(name, "", (), 0, query, (note, *notes))
            if choice:
                notes = ("Give the URI of one as the anchor of a timeline.", *notes)
                return Timeline(name, "", events_of(context.store, hits), 0, query, notes)
            at = hits[0]
        if id is not None and at is not None and not isinstance(at, TimelinePosition):
            id = at.bank
        found = timeline(context.store, id, at, kinds, before, after)
        return replace(found, bank=context.bank_name(id), query=query, notes=notes)

    def _anchor(self, text: str, id: str | None) -> Record | TimelinePosition:
        if "://" in text:
            text = resolve_uri(self._context.store, id, text)
        try:
            return read_anchor(self._context.store, id, text)
        except NotFoundError:
            if id is None:
                raise
            return read_anchor(self._context.store, None, text)

    def _dated_hits(
        self, query: str, bank: str | None, kinds: Sequence[str], days: int, choice: int
    ) -> tuple[list[TimedRecord], tuple[str, ...]]:
        """The best hits that have a time, of these kinds, or of any if none is given; and a note on
        those that are too old."""
        layers = tuple(dict.fromkeys(LAYER_BY_KIND[kind] for kind in kinds or KINDS))
        most = max(choice, _MANY_CANDIDATES if days else _ANCHOR_CANDIDATES)
        recall, plan = self._search.recall_with_plan, RecallPlan(limit=most)
        hits = recall(query, bank, plan._replace(layers=layers)).hits
        hits = hits or (() if kinds else recall(query, bank, plan).hits)
        first = days_before(self._context.now(), days)
        found = [
            record
            for hit in hits
            if hit.time >= (first or "0")
            for record in self._context.store.records.find(
                hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1
            )
            if isinstance(record, TimedRecord)
        ]
        left = sum(bool(hit.time) and hit.time < first for hit in hits)
        return found[: choice or 1], ((left_out_note(left, days),) if left else ())

    def work(
        self,
        file: str = "",
        concept: str = "",
        type: str = "",
        since: str = "",
        until: str = "",
        bank: str | None = None,
        limit: int = 20,
    ) -> list[Work]:
        """The exchanges and imported records that match every given filter, latest first; by file
        also commits and pull requests."""
        filter = make_filter(file, concept, type, since, until)
        filter = filter._replace(file=relative_to_project(self._context.banks, filter.file))
        return matching_work(self._context.store, self._context.bank_id(bank), filter, limit)

    def facts(self, bank: str | None = None, kind: str = "", all: bool = False) -> list[Fact]:
        """The facts of a bank, latest first: those in force, or with `all` every one. `kind` is
        that of a fact, or of what it says."""
        found = self._context.store.facts.all(self._context.bank_id(bank))
        found = [fact for fact in found if kind in ("", fact.kind, fact.kind.says)]
        return found if all else [fact for fact in found if fact.status not in ENDED_STATUSES]

    def reviews(self, bank: str | None = None, all: bool = False) -> list[Review]:
        """Facts that a person should decide about; with `all` also those decided already."""
        found = self._context.store.facts.reviews(self._context.bank_id(bank))
        return [review for review in found if all or review.state is ReviewState.OPEN]

    def concepts(self, bank: str | None = None, limit: int = 20) -> list[Concept]:
        """The concepts of a bank, the most recently changed first."""
        return self._context.store.concepts.latest(self._context.bank_id(bank), limit)

    def entities(self, bank: str | None = None, kind: str = "", limit: int = 50) -> list[Entity]:
        """The entities of a bank, those in most records first."""
        found = self._context.store.graph.entities(self._context.bank_id(bank), _NO_LIMIT)
        return [entity for entity in found if kind in ("", entity.kind)][:limit]

    def entity(self, name: str, bank: str | None = None) -> Entity:
        """An entity by a URI, an id, or any of its spellings."""
        return find_entity(self._context.store, self._context.bank_id(bank), name)

    def who_knows(self, about: str, bank: str | None = None, limit: int = 5) -> list[Expert]:
        """The people who know most about a file, a folder/ or a topic, best first."""
        require_words(about, "name")
        context = self._context
        return rank_experts(context.store, context.bank_id(bank), about, context.now(), limit)
