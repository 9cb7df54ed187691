"""Looking through a memory by time, file, concept, keyword, entity or person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.app.core.context import ALL_BANKS, Context, describe_bank, relative_to_project
from holdfast.app.search.recall import Search
from holdfast.errors import InputError, NotFoundError, require_words
from holdfast.model.graph import Entity
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Concept, Fact, FactKind, Kind, Memory, Review, ReviewState
from holdfast.model.query import LAYER_BY_KIND, TimelinePosition
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.ended_words import read_ended_words
from holdfast.recall.core.evidence_turns import find_ended
from holdfast.recall.core.plan import RecallPlan
from holdfast.recall.lookup.entities import EntityDetails, describe_entity, find_entity
from holdfast.recall.lookup.filters import Found, find_work, make_filter
from holdfast.recall.lookup.path import Path, path_through
from holdfast.recall.lookup.timeline import KINDS, Timeline, read_anchor, timeline
from holdfast.recall.lookup.topics import KeywordHits, find_by_keywords, find_concept
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.store.across_tables.lookup import Record
from holdfast.store.knowledge.concepts import Keyword

# The kinds by which facts are listed: their own, and those of what they say.
FACT_KINDS = tuple(dict.fromkeys([*map(str, FactKind), *map(str, Kind)]))
# The largest limit that every store accepts.
_NO_LIMIT = 1 << 31
# How many hits of a query are tried until one has a time to put the timeline around.
_ANCHOR_CANDIDATES = 5


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
    ) -> Timeline:
        """What came before and after an anchor (a URI, the start of an id, a date), or the best
        hit of a query; without either, the latest records. A record that is not in this bank is
        looked for in all banks, and the result names its bank."""
        context = self._context
        id = context.bank_id(bank)
        at: Record | TimelinePosition | None = None
        if anchor:
            at = self._anchor(anchor, id)
        elif query:
            at = self._best_hit(query, bank, kinds)
            if at is None:
                name = context.bank_name(id)
                note = f"No results for {query!r} in {describe_bank(name)}."
                return Timeline(name, "", (), 0, query, (note,))
        if id is not None and at is not None and not isinstance(at, TimelinePosition):
            id = at.bank
        found = timeline(context.store, id, at, kinds, before, after)
        return replace(found, bank=context.bank_name(id), query=query)

    def _anchor(self, text: str, id: str | None) -> Record | TimelinePosition:
        try:
            return read_anchor(self._context.store, id, text)
        except NotFoundError:
            if id is None:
                raise
            return read_anchor(self._context.store, None, text)

    def _best_hit(self, query: str, bank: str | None, kinds: Sequence[str]) -> Record | None:
        """The best hit that has a time: of these kinds, or of any if none is given."""
        layers = tuple(dict.fromkeys(LAYER_BY_KIND[kind] for kind in kinds or KINDS))
        recall, plan = self._search.recall_with_plan, RecallPlan(limit=_ANCHOR_CANDIDATES)
        hits = recall(query, bank, plan._replace(layers=layers)).hits
        hits = hits or (() if kinds else recall(query, bank, plan).hits)
        for hit in hits:
            for record in self._context.store.records.find(
                hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1
            ):
                if hit.time:
                    return record
        return None

    def find(
        self,
        file: str = "",
        concept: str = "",
        type: str = "",
        since: str = "",
        until: str = "",
        bank: str | None = None,
        limit: int = 20,
    ) -> Found:
        """The exchanges and imported records that match every given filter, latest first; by file
        also commits and pull requests."""
        filter = make_filter(file, concept, type, since, until)
        filter = filter._replace(file=relative_to_project(self._context.banks, filter.file))
        id = self._context.bank_id(bank)
        found = find_work(self._context.store, id, filter, limit)
        return replace(found, bank=self._context.bank_name(id))

    def facts(self, bank: str | None = None, kind: str = "", all: bool = False) -> list[Fact]:
        """The facts of a bank, latest first: those in force, or with `all` every one. `kind` is
        that of a fact, or of what it says; an unknown one raises `InputError`."""
        if kind and kind not in FACT_KINDS:
            raise InputError(
                f"There is no kind {kind[:100]!r}.", f"One of: {', '.join(FACT_KINDS)}."
            )
        found = self._context.store.facts.all(self._context.bank_id(bank))
        found = [fact for fact in found if kind in ("", fact.kind, fact.kind.says)]
        return found if all else [fact for fact in found if fact.status not in ENDED_STATUSES]

    def statements(
        self, bank: str | None = None, kind: Kind | str = "", limit: int = 50
    ) -> list[Memory]:
        """What sessions said that is worth remembering, the latest first; of one kind, or any. An
        unknown kind raises `InputError`."""
        read_kinds([kind] if kind else [])
        store = self._context.store
        found: list[Memory] = []
        for id in self._context.bank_ids(bank):
            ended = read_ended_words(store, id)
            found += [
                memory
                for memory in store.memories.retained(id, limit=limit, kind=kind, only_open=True)
                if memory.kind is not None and not find_ended(store, ended, memory, memory.what)
            ]
        return sorted(found, key=lambda m: (m.when, m.id), reverse=True)[:limit]

    def reviews(self, bank: str | None = None, all: bool = False) -> list[Review]:
        """Facts that a person should decide about; with `all` also those decided already."""
        found = self._context.store.facts.reviews(self._context.bank_id(bank))
        return [review for review in found if all or review.state is ReviewState.OPEN]

    def concepts(self, bank: str | None = None, limit: int = 20) -> list[Concept]:
        """The concepts of a bank, the most recently changed first."""
        return self._context.store.concepts.latest(self._context.bank_id(bank), limit)

    def concept(self, name: str, bank: str | None = None) -> Concept:
        """The concept with a name, an id or the start of one; of several with that name, the most
        recently changed."""
        return find_concept(self._context.store, self._context.bank_id(bank), name)

    def keywords(self, bank: str | None = None, limit: int = 50) -> list[Keyword]:
        """The keywords of a bank, the most frequent first."""
        return self._context.store.concepts.keywords(self._context.bank_id(bank), limit)

    def keyword(self, words: str, bank: str | None = None, limit: int = 20) -> KeywordHits:
        """The facts, concepts and exchanges that have these words as keywords."""
        return find_by_keywords(self._context.store, self._context.bank_id(bank), words, limit)

    def path(self, uri: str, bank: str | None = ALL_BANKS) -> Path:
        """The path through a record: facts, concepts, exchanges, turns and raw lines."""
        return path_through(self._context.store, self._context.bank_id(bank), uri)

    def entities(self, bank: str | None = None, kind: str = "", limit: int = 50) -> list[Entity]:
        """The entities of a bank, those in most records first."""
        found = self._context.store.graph.entities(self._context.bank_id(bank), _NO_LIMIT)
        return [entity for entity in found if kind in ("", entity.kind)][:limit]

    def entity(self, name: str, bank: str | None = None) -> Entity:
        """An entity by a URI, an id, or any of its spellings."""
        return find_entity(self._context.store, self._context.bank_id(bank), name)

    def about_entity(self, name: str, bank: str | None = None, limit: int = 10) -> EntityDetails:
        """An entity with the records that mention it, the entities beside it, and its links."""
        from holdfast.recall.links.similar_records import SimilarRecords

        entity = self.entity(name, bank)
        similar = SimilarRecords(self._context.store, entity.bank, self._context.settings.vectors)
        return describe_entity(self._context.store, entity, limit, similar)

    def who_knows(self, about: str, bank: str | None = None, limit: int = 5) -> list[Expert]:
        """The people who know most about a file, a folder/ or a topic, best first."""
        require_words(about, "name")
        context = self._context
        return rank_experts(context.store, context.bank_id(bank), about, context.now(), limit)
