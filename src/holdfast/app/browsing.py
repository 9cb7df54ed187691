"""A memory to look around in: what came before and after, and what touched a file or a concept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from holdfast.app.reading import Reading, here
from holdfast.errors import NotFoundError
from holdfast.model.query import LAYER_OF, Moment
from holdfast.recall.finding import Found, find, make_filter
from holdfast.recall.timeline import KINDS, Timeline, read_anchor, timeline
from holdfast.research.expertise import Expert, experts
from holdfast.settings import Settings, load_settings
from holdfast.store.protocol import Record


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
        hits = self.recall(query, bank, layers, limit=5).hits
        hits = hits or (() if kinds else self.recall(query, bank, limit=5).hits)
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

    def who_knows(self, about: str, bank: str | None = None, limit: int = 5) -> list[Expert]:
        """The people who know most about a file, a folder/ or a matter, best first."""
        return experts(self._store, self.bank_id(bank), about, self._now(), limit)


def open_browsing(settings: Settings | None = None) -> Browsing:
    """Open the memory of this user, or of the given settings, to look around."""
    return Browsing(settings or load_settings())
