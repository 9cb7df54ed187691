"""Passages: the texts that a search finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.kinds import record_kind
from holdfast.model.knowledge import Memory
from holdfast.model.query import Passage, TimelinePosition
from holdfast.model.trust import Status
from holdfast.store.sql import labels, rows, timeline
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, placeholders_for
from holdfast.store.sql.table import PASSAGE

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.model.forge import Issue, Pull, Remark
    from holdfast.model.team import Commit

    # What is of no session and has a passage of its own.
    StandaloneRecord = Commit | Memory | Pull | Issue | Remark
else:
    Protocol = object


class Match(NamedTuple):
    """One full-text match; a higher `score` is better."""

    passage: Passage
    score: float


class LayerLimit(NamedTuple):
    """How many passages to find in some layers; no layers are all of them."""

    layers: Sequence[str]
    limit: int


class NumberedPassage(NamedTuple):
    """What the index has of a passage, by its number."""

    number: int
    scope: str
    body: str
    context: str


class FullTextIndex(Protocol):
    """The engine's index of words: FTS5, or PostgreSQL's text search."""

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str,
        until: str,
    ) -> list[list[Match]]:
        """As `Passages.search_each`."""
        ...

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        """As `Passages.term_frequencies`."""
        ...

    def add(self, passages: Sequence[Passage]) -> None:
        """Add rows of passages, and their words."""
        ...

    def add_parts(self, bank: str, passages: Sequence[NumberedPassage]) -> None:
        """Add the parts of words of passages of a bank that were written without them."""
        ...

    def rebuild(self) -> None:
        """Make the index, or what is counted for it, from the passages."""
        ...

    def faults(self) -> list[str]:
        """What is wrong with the index."""
        ...


# Passages whose parts are added in one transaction: few enough that others need not wait for long.
_PARTS_BATCH = 500


class Passages(Subject):
    """Searches and lists passages."""

    _full_text: FullTextIndex

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str] = (),
        limit: int = 50,
        since: str = "",
        until: str = "",
    ) -> list[Match]:
        """Passages with any of the terms, best first, from `since` up to `until`. A term is a word
        or a phrase, taken literally: nothing in it is an operator. Only a word with an ellipsis
        after it means all words that begin like that (`word_forms.is_start`). Parts of words are
        found as well (`word_forms.index_parts`)."""
        return self.search_each(bank, terms, [LayerLimit(layers, limit)], since, until)[0]

    def search_each(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str = "",
        until: str = "",
    ) -> list[list[Match]]:
        """The results of `search` for each of these sets of layers. The first has those of all
        others; ranking it takes most of the time, and the others take little more."""
        if self._db.within is None:
            return self._full_text.search(bank, terms, wanted, since, until)
        # The index can search one bank or all.
        found: list[list[Match]] = [[] for _ in wanted]
        for one in (one for one in self._db.within if bank in (None, one)):
            each = self._full_text.search(one, terms, wanted, since, until)
            for some, more in zip(found, each, strict=True):
                some += more
        return [
            sorted(some, key=lambda match: -match.score)[: one.limit]
            for some, one in zip(found, wanted, strict=True)
        ]

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        """In how many passages each term occurs, counted up to `most`."""
        if self._db.within is None:
            return self._full_text.term_frequencies(bank, terms, most)
        # The index is no table, so it is not the engine that keeps other banks apart here.
        meant = [one for one in self._db.within if bank in (None, one)]
        counted = [self._full_text.term_frequencies(one, terms, most) for one in meant]
        return [min(sum(each), most) for each in zip(*counted, strict=True)] or [0] * len(terms)

    def count(self, bank: str | None, most: int) -> int:
        """How many passages there are, counted up to `most`."""
        where, values = self._db.in_bank(bank)
        row = self._db.one(
            f"SELECT count(*) FROM (SELECT 1 FROM passage WHERE {where} LIMIT ?)", (*values, most)
        )
        return row[0] if row else 0

    def kinds_present(self, bank: str | None, kinds: Sequence[str]) -> set[str]:
        """Those of the kinds of which there is any passage."""
        where, values = self._db.in_bank(bank)
        wanted = ", ".join("(?)" for _ in kinds)
        found = self._db.all(
            f"SELECT wanted.column1 FROM (VALUES {wanted}) AS wanted WHERE EXISTS "
            f"(SELECT 1 FROM passage WHERE {where} AND kind = wanted.column1)",
            (*kinds, *values),
        )
        return {row[0] for row in found}

    def recent(
        self, bank: str | None, kind: str, limit: int = 5, since: str = "", until: str = ""
    ) -> list[Passage]:
        """The latest passages of a kind, from `since` up to `until`."""
        where, values = self._db.in_bank(bank)
        span, times = time_condition(since, until)
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage WHERE {where} AND kind = ? AND {span} "
            "ORDER BY time DESC, id LIMIT ?",
            (*values, kind, *times, limit),
        )
        return PASSAGE.records(found)

    def of_turns(self, bank: str, places: Iterable[tuple[str, int]]) -> list[Passage]:
        """The passages of the turns at some places, each a session and a number in it, in order."""
        found: list[Passage] = []
        # A join: for a list of pairs SQLite would look through all sessions of the bank.
        for some in batches(sorted(set(places))):
            found += [
                PASSAGE.record(row)
                for row in self._db.all(
                    f"WITH place (named, n) AS (VALUES {', '.join(['(?, ?)'] * len(some))}) "
                    f"SELECT {PASSAGE.columns} FROM place {self._db.dialect.ordered_join} passage "
                    "ON bank = ? AND session = named AND kind = 'turn' AND seq = n "
                    "ORDER BY session, seq",
                    (*chain.from_iterable(some), bank),
                )
            ]
        return found

    def of_records(self, bank: str, kind: str, ids: Sequence[str]) -> list[Passage]:
        """The passages of some records of a kind, by id; those without one are left out."""
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage WHERE bank = ? AND kind = ? "
            f"AND id IN ({placeholders_for(ids)}) ORDER BY id",
            (bank, kind, *ids),
        )
        return PASSAGE.records(found)

    def known_hashes(self, bank: str, hashes: Sequence[str]) -> set[str]:
        """Those of some hashes of texts that passages have."""
        found: set[str] = set()
        for some in batches(hashes):
            found |= {
                hash
                for (hash,) in self._db.all(
                    "SELECT DISTINCT hash FROM passage WHERE bank = ? AND hash IN "
                    f"({placeholders_for(some)})",
                    (bank, *some),
                )
            }
        return found

    def containing(self, bank: str | None, text: str, limit: int) -> list[Passage]:
        """The passages with this very text in them, the last ones first. Reads all of a bank."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage WHERE {where} "
            f"AND {self._db.dialect.position}(body, ?) > 0 ORDER BY number DESC LIMIT ?",
            (*values, rows.text(text).replace("\x00", ""), limit),
        )
        return PASSAGE.records(found)

    def around(
        self,
        bank: str | None,
        position: TimelinePosition,
        kinds: Sequence[str],
        before: int,
        after: int,
    ) -> list[Passage]:
        """The nearest passages of these kinds before and after a position, in order: by time, then
        kind, id and bank. Passages at the position itself, and those without a time, are left out.
        """
        return timeline.around(self._db, self._db.bank_ids(bank), position, kinds, before, after)

    def count_undated(self, bank: str | None, kinds: Sequence[str], most: int) -> int:
        """How many passages of these kinds have no time, counted up to `most`."""
        return timeline.undated(self._db, self._db.bank_ids(bank), kinds, most)

    def replace(self, record: StandaloneRecord, passage: Passage | None) -> None:
        """Replace the passage by which a record is found; None removes it."""
        name = (record.bank, record_kind(record), record.id)
        self._db.run("DELETE FROM passage WHERE bank = ? AND kind = ? AND id = ?", name)
        self._db.run("DELETE FROM record_labels WHERE bank = ? AND kind = ? AND id = ?", name)
        if passage is not None:
            self.add([passage])
            if isinstance(record, Memory):
                # The words that a person chose, not those that were made of them.
                if record.status is Status.VERIFIED:
                    labels.put_labels(self._db, replace(record, what=passage.body))
            elif labels.has_labels(record):
                labels.put_labels(self._db, record)

    def add(self, passages: Sequence[Passage]) -> None:
        """Add passages."""
        self._full_text.add(passages)

    def mark_parts_missing(self) -> None:
        """Let `add_missing_parts` go through all passages."""
        self._db.run("DELETE FROM unindexed_parts")
        self._db.run(
            "INSERT INTO unindexed_parts SELECT bank, max(number) FROM passage GROUP BY bank"
        )

    def add_missing_parts(self, limit: int = _PARTS_BATCH) -> int:
        """Index the parts of words of up to `limit` passages that were written by a version that
        did not, the latest first; returns how many passages were looked at, 0 if none is left. To
        be called in a transaction."""
        behind = self._db.one("SELECT bank, number FROM unindexed_parts ORDER BY bank LIMIT 1")
        if behind is None:
            return 0
        bank, highest = behind
        found = self._db.all(
            "SELECT number, scope, body, context FROM passage WHERE bank = ? AND number <= ? "
            "ORDER BY number DESC LIMIT ?",
            (bank, highest, limit),
        )
        self._full_text.add_parts(bank, [NumberedPassage(*row) for row in found])
        if len(found) < limit:
            self._db.run("DELETE FROM unindexed_parts WHERE bank = ?", (bank,))
        else:
            self._db.run(
                "UPDATE unindexed_parts SET number = ? WHERE bank = ?", (found[-1][0] - 1, bank)
            )
        return max(1, len(found))


def time_condition(since: str, until: str) -> tuple[str, tuple[str, ...]]:
    """The condition for a period of time, and its values."""
    parts = [("time >= ?", since)] * bool(since) + [("time < ?", until)] * bool(until)
    if not parts:
        return "true", ()
    return " AND ".join(["time <> ''", *(p for p, _ in parts)]), tuple(v for _, v in parts)
