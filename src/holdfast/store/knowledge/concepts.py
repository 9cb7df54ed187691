"""Concepts, their members, and keywords."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.language import words
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Concept, ConceptEvent
from holdfast.model.query import Passage
from holdfast.model.uris import parse_uri, uri
from holdfast.store.index.passages import Passages
from holdfast.store.sql import labels, rows
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import insert, upsert
from holdfast.store.sql.table import PASSAGE, Table


class Keyword(NamedTuple):
    """A keyword of a bank as it is spelled, its stem, and how many records of each kind have it."""

    word: str
    stem: str
    counts: Mapping[str, int]


class KeywordMatch(NamedTuple):
    """A record that has a keyword."""

    bank: str
    kind: str
    id: str
    time: str


class DerivedConcept(NamedTuple):
    """A concept, its passage (None: it cannot be found), and for each member the id of the concept
    that the member would form by itself."""

    concept: Concept
    passage: Passage | None
    aliases: tuple[str, ...]


# Records that are read to find how a keyword is usually written.
_RECORDS_READ_FOR_SPELLING = 12

_MAX_RECORDS_PER_WORD = 100_000


def _named(member: str) -> tuple[str, str]:
    named = parse_uri(member)
    assert named is not None
    return named.kind, named.id


def _stored(passage: Passage | None) -> Passage | None:
    """A passage as it would be read back."""
    if passage is None:
        return None
    return passage._replace(body=rows.text(passage.body), context=rows.text(passage.context))


def _history(cell: str) -> tuple[ConceptEvent, ...]:
    return tuple(ConceptEvent(*event) for event in json.loads(cell))


# The members are in a table of their own.
CONCEPT = Table(
    "concept",
    Concept,
    fields="bank id name summary founded updated trust files keywords history".split(),
    visible="visible_concept",
    convert={"history": (rows.dumps, _history)},
)


class Concepts(Subject):
    """Reads concepts and keywords."""

    _passages: Passages

    def latest(self, bank: str | None, limit: int = 20) -> list[Concept]:
        """Concepts, the most recently updated first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {CONCEPT.columns} FROM visible_concept WHERE {where} "
            "ORDER BY updated DESC, id, bank LIMIT ?",
            (*values, limit),
        )
        return [self._with_members(row) for row in found]

    def of_record(self, bank: str, kind: str, id: str) -> Concept | None:
        """The concept that a record is in."""
        row = self._db.one(
            f"SELECT {CONCEPT.columns} FROM visible_concept WHERE bank = ? AND id = "
            "(SELECT concept FROM concept_member WHERE concept_member.bank = ? AND kind = ? "
            "AND concept_member.id = ?)",
            (bank, bank, kind, id),
        )
        return self._with_members(row) if row else None

    def _with_members(self, row: rows.Row) -> Concept:
        found = self._db.all(
            "SELECT kind, id FROM concept_member WHERE bank = ? AND concept = ? ORDER BY position",
            row[:2],
        )
        return replace(CONCEPT.record(row), members=tuple(uri(kind, id) for kind, id in found))

    def by_id(self, bank: str | None, id: str, limit: int) -> list[Concept]:
        """By id or the start of one; else by the id of a concept that was merged into another."""
        where, values = self._db.in_bank(bank)
        span = (rows.text(id), rows.text(id) + "\U0010ffff")
        found = self._db.all(
            f"SELECT {CONCEPT.columns} FROM visible_concept WHERE {where} AND id >= ? AND id < ? "
            "ORDER BY id LIMIT ?",
            (*values, *span, limit),
        )
        if not found:
            found = self._db.all(
                f"SELECT {CONCEPT.columns} FROM visible_concept WHERE {where} AND EXISTS (SELECT 1 "
                "FROM concept_member AS m WHERE m.bank = visible_concept.bank "
                "AND m.concept = visible_concept.id AND m.alias = ?) LIMIT ?",
                (*values, rows.text(id), limit),
            )
        return [self._with_members(row) for row in found]

    def keywords(self, bank: str | None, limit: int = 50) -> list[Keyword]:
        """The keywords that most records have, the most frequent first."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT text, count(*) FROM label AS l {self._db.dialect.ordered_join} "
            "labelled_record AS r ON r.label = l.id "
            f"WHERE {where} AND l.kind = 'concept' GROUP BY text ORDER BY 2 DESC, 1 LIMIT ?",
            (*values, limit),
        )
        return [self._keyword(bank, text) for text, _ in found]

    def _keyword(self, bank: str | None, text: str) -> Keyword:
        where, values = self._db.in_bank(bank)
        own = (
            f"FROM label AS l {self._db.dialect.ordered_join} labelled_record AS r "
            f"ON r.label = l.id WHERE {where} AND l.kind = 'concept' AND text = ?"
        )
        counts = self._db.all(
            f"SELECT r.kind, count(*) {own} GROUP BY r.kind ORDER BY 1", (*values, text)
        )
        latest = self._db.all(
            f"SELECT l.bank, r.kind, r.id {own} AND r.kind IN ('exchange', 'concept', 'fact') "
            "ORDER BY time DESC, r.kind, r.id LIMIT ?",
            (*values, text, _RECORDS_READ_FOR_SPELLING),
        )
        spelled: Counter[str] = Counter()
        for home, kind, id in latest:
            said = "content" if kind == "fact" else "keywords"
            row = self._db.one(f"SELECT {said} FROM {kind} WHERE bank = ? AND id = ?", (home, id))
            words_of = (row[0],) if row and kind == "fact" else rows.as_tuple(row[0]) if row else ()
            # A whole keyword as it is spelled, or the part of one.
            parts = (*(word for word in words_of if word.isalnum()), *words(" ".join(words_of)))
            spelled.update(w for w in parts if labels.keyword_stems(w) == [text])
        word = min(spelled, key=lambda w: (-spelled[w], w), default=text)
        return Keyword(word, text, dict(counts))

    def records_with_keywords(
        self, bank: str | None, words: str, limit: int = 50
    ) -> list[KeywordMatch]:
        """The records whose keywords contain all of some words, in any form, the latest first."""
        where, values = self._db.in_bank(bank)
        found: set[KeywordMatch] | None = None
        for stem in labels.keyword_stems(words):
            listed = self._db.all(
                "SELECT l.bank, r.kind, r.id, time FROM label AS l "
                f"{self._db.dialect.ordered_join} labelled_record AS r "
                f"ON r.label = l.id WHERE {where} AND l.kind = 'concept' AND text = ? "
                "ORDER BY time DESC LIMIT ?",
                (*values, stem, _MAX_RECORDS_PER_WORD),
            )
            own = {KeywordMatch(*row) for row in listed}
            found = own if found is None else found & own
        ordered = sorted(found or (), key=lambda b: (b.kind, b.id, b.bank))
        return sorted(ordered, key=lambda b: b.time, reverse=True)[:limit]

    def features(self, bank: str) -> dict[str, str]:
        """What was kept of each exchange to group it by; without those that were never read."""
        found = self._db.all(
            "SELECT id, features FROM exchange WHERE bank = ? AND features <> ''", (bank,)
        )
        return dict(found)

    def put_features(self, bank: str, features: Mapping[str, str]) -> None:
        """Keep what exchanges are grouped by. It goes when the exchange is derived anew."""
        self._db.run_many(
            "UPDATE exchange SET features = ? WHERE bank = ? AND id = ?",
            [(text, bank, id) for id, text in features.items()],
        )

    def put(self, bank: str, concepts: Iterable[DerivedConcept]) -> int:
        """Replace all concepts of a bank; unchanged ones are not written. Returns how many were
        written or removed."""
        known = {
            row[1]: row
            for row in self._db.all(
                f"SELECT {CONCEPT.columns} FROM concept WHERE bank = ?", (bank,)
            )
        }
        members = self._members(bank)
        changed = 0
        kept: set[str] = set()
        for one in concepts:
            kept.add(one.concept.id)
            changed += self._put_one_concept(one, known.get(one.concept.id), members)
        for id in known.keys() - kept:
            self._remove_concept(bank, id)
            changed += 1
        return changed

    def _members(self, bank: str) -> dict[str, list[tuple[str, str, str]]]:
        found: dict[str, list[tuple[str, str, str]]] = {}
        for concept, kind, id, alias in self._db.all(
            "SELECT concept, kind, id, alias FROM concept_member WHERE bank = ? ORDER BY position",
            (bank,),
        ):
            found.setdefault(concept, []).append((kind, id, alias))
        return found

    def _put_one_concept(
        self,
        made: DerivedConcept,
        known: rows.Row | None,
        members: dict[str, list[tuple[str, str, str]]],
    ) -> bool:
        concept, passage, aliases = made
        row = CONCEPT.row(concept)
        own = [
            (*_named(member), alias) for member, alias in zip(concept.members, aliases, strict=True)
        ]
        shown = self._db.one(
            f"SELECT {PASSAGE.columns} FROM passage WHERE bank = ? AND kind = 'concept' AND id = ?",
            row[:2],
        )
        same = (PASSAGE.record(shown) if shown else None) == _stored(passage)
        if known == row and members.get(concept.id) == own and same:
            return False
        self._remove_concept(concept.bank, concept.id)
        self._db.run(insert("concept", CONCEPT.columns), row)
        self._db.run_many(
            upsert("concept_member", "bank, kind, id, concept, alias, position", "bank, kind, id"),
            [
                (concept.bank, kind, id, concept.id, alias, place)
                for place, (kind, id, alias) in enumerate(own)
            ],
        )
        if passage is not None:
            self._passages.add([passage])
            labels.put_labels(self._db, concept)
        return True

    def _remove_concept(self, bank: str, id: str) -> None:
        self._db.run("DELETE FROM concept WHERE bank = ? AND id = ?", (bank, id))
        self._db.run("DELETE FROM concept_member WHERE bank = ? AND concept = ?", (bank, id))
        for table in ("passage", "record_labels"):
            self._db.run(
                f"DELETE FROM {table} WHERE bank = ? AND kind = 'concept' AND id = ?", (bank, id)
            )

    def drop(self, bank: str | None = None) -> None:
        """Remove all concepts of a bank, or of all banks; the stage makes them again."""
        where, values = self._db.in_bank(bank)
        for table in ("concept", "concept_member"):
            self._db.run(f"DELETE FROM {table} WHERE {where}", values)
        for table in ("passage", "record_labels"):
            self._db.run(f"DELETE FROM {table} WHERE {where} AND kind = 'concept'", values)
        self._db.run(f"DELETE FROM stage_progress WHERE {where} AND stage = 'concepts'", values)

    def save_members(self, bank: str, concept: str) -> None:
        """Keep which members a concept has now."""
        if self._db.one("SELECT 1 FROM concept WHERE bank = ? AND id = ?", (bank, concept)) is None:
            return
        self._db.run("DELETE FROM concept_anchor WHERE bank = ? AND concept = ?", (bank, concept))
        self._db.run(
            "INSERT INTO concept_anchor SELECT bank, concept, position, kind, id "
            "FROM concept_member WHERE bank = ? AND concept = ?",
            (bank, concept),
        )

    def saved_members(self, bank: str) -> dict[str, list[str]]:
        """By concept, the URIs of the members that it had when they were last saved."""
        found: dict[str, list[str]] = {}
        for concept, kind, id in self._db.all(
            "SELECT concept, kind, id FROM concept_anchor WHERE bank = ? ORDER BY concept, "
            "position",
            (bank,),
        ):
            found.setdefault(concept, []).append(uri(kind, id))
        return found
