"""A memory to look around in: what came before and after, and what touched a file or a concept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from holdfast.app.search.old_recall import ALL_BANKS, Reading, here
from holdfast.errors import NotFoundError
from holdfast.model.graph import Entity
from holdfast.model.knowledge import Concept
from holdfast.model.query import LAYER_OF, Moment
from holdfast.recall.lookup.entities import About, about, find_entity
from holdfast.recall.lookup.filters import Found, find, make_filter
from holdfast.recall.lookup.path import Path, path
from holdfast.recall.lookup.timeline import KINDS, Timeline, read_anchor, timeline
from holdfast.recall.lookup.topics import Leads, find_concept, leads
from holdfast.research.history.expertise import Expert, rank_experts
from holdfast.settings import Settings, load_settings
from holdfast.store.protocol import Record
from holdfast.store.protocol.concepts import Keyword

_ALL = 1 << 31


class Browsing(Reading):
    """Questions by time and by label, beside those by words."""

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
        hit of a query; without either, the latest. A record that is not in the bank of this
        folder is looked for in all, and its own bank is told."""
        id = self.bank_id(bank)
        at: Record | Moment | None = None
        if anchor:
            at = self._anchor(anchor, bank, id)
        elif query:
            at = self._best(query, bank, kinds)
            if at is None:
                where = self.bank_name(id) if id is not None else "any bank"
                note = f"Nothing in {where} speaks of {query!r}."
                return Timeline(self.bank_name(id), "", (), 0, query, (note,))
        if bank is None and at is not None and not isinstance(at, Moment):
            id = at.bank
        told = timeline(self._store, id, at, kinds, before, after)
        return replace(told, bank=self.bank_name(id), query=query)

    def _anchor(self, text: str, bank: str | None, id: str | None) -> Record | Moment:
        try:
            return read_anchor(self._store, id, text)
        except NotFoundError:
            if bank is not None or id is None:
                raise
            return read_anchor(self._store, None, text)

    def _best(self, query: str, bank: str | None, kinds: Sequence[str]) -> Record | None:
        """The best hit that has a time: of the kinds asked for, else of any."""
        layers = list(dict.fromkeys(LAYER_OF[kind] for kind in kinds or KINDS))
        hits = self.recall(query, bank, layers, limit=5, local=True).hits
        hits = hits or (() if kinds else self.recall(query, bank, limit=5, local=True).hits)
        for hit in hits:
            for record in self._store.find(hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1):
                if hit.time:
                    return record
        return None

    def sift(
        self,
        file: str = "",
        concept: str = "",
        type: str = "",
        since: str = "",
        until: str = "",
        bank: str | None = None,
        limit: int = 20,
    ) -> Found:
        """The exchanges that touched a file, are about a concept, are of a type, or of a time;
        by file also the commits. The latest first."""
        filter = make_filter(file, concept, type, since, until)
        if os.path.isabs(filter.file):  # noqa: PTH117 - a slash at the end must stay
            root = self._banks.project(here()).root
            filter = filter._replace(file=filter.file.removeprefix(root.rstrip("/") + "/"))
        id = self.bank_id(bank)
        return replace(find(self._store, id, filter, limit), bank=self.bank_name(id))

    def concepts(self, bank: str | None = None, limit: int = 20) -> list[Concept]:
        """The concepts of a bank, the one that was touched last first."""
        return self._store.concepts(self.bank_id(bank), limit)

    def concept(self, name: str, bank: str | None = None) -> Concept:
        """The concept of a name, an id or the start of one; of several that fit the name, the one
        that was touched last."""
        return find_concept(self._store, self.bank_id(bank), name)

    def keywords(self, bank: str | None = None, limit: int = 50) -> list[Keyword]:
        """The keywords of a bank, the most frequent first."""
        return self._store.keywords(self.bank_id(bank), limit)

    def keyword(self, words: str, bank: str | None = None, limit: int = 20) -> Leads:
        """What words lead to: facts, concepts, exchanges."""
        return leads(self._store, self.bank_id(bank), words, limit)

    def path(self, uri: str, bank: str | None = ALL_BANKS) -> Path:
        """The path through a record: facts, concepts, exchanges, turns and raw lines."""
        return path(self._store, self.bank_id(bank), uri)

    def entities(self, bank: str | None = None, kind: str = "", limit: int = 50) -> list[Entity]:
        """Who and what is involved, those in most records first."""
        found = self._store.entities(self.bank_id(bank), _ALL)
        return [entity for entity in found if kind in ("", entity.kind)][:limit]

    def entity(self, name: str, bank: str | None = None) -> Entity:
        """One of them, by a URI, an id, or any of its spellings."""
        return find_entity(self._store, self.bank_id(bank), name)

    def about_entity(self, name: str, bank: str | None = None, limit: int = 10) -> About:
        """One of them, with what mentions it, what occurs with it, and how that is linked."""
        entity = self.entity(name, bank)
        from holdfast.recall.links import similar_records

        nearest = similar_records.Alike(self._store, entity.bank, self.settings.vectors)
        return about(self._store, entity, limit, nearest)

    def communities(self, bank: str | None = None) -> list[list[Entity]]:
        """Entities that occur together more than with others, the largest groups first."""
        from holdfast.app.search import communities

        found: list[list[Entity]] = communities.communities(self._store, self.bank_id(bank))
        return found

    def who_knows(self, about: str, bank: str | None = None, limit: int = 5) -> list[Expert]:
        """The people who know most about a file, a folder/ or a matter, best first."""
        return rank_experts(self._store, self.bank_id(bank), about, self._now(), limit)


def open_browsing(settings: Settings | None = None) -> Browsing:
    """Open the memory of this user, or of the given settings, to look around."""
    return Browsing(settings or load_settings())
