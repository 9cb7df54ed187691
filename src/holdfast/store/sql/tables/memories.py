"""Memories retained from sessions, stances and opinions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.model.bank import Bank
from holdfast.model.corrections import corrected_memory
from holdfast.model.knowledge import Memory
from holdfast.model.opinions import (
    MemoryOccurrence,
    Opinion,
    OpinionRevision,
    SessionOccurrence,
    Stance,
)
from holdfast.model.query import Passage
from holdfast.store.sql.rows import records
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import (
    insert,
    insert_missing,
    placeholders,
    placeholders_for,
    upsert,
)
from holdfast.store.sql.tables.curation import REMEMBERED_MEMORY, CurationWriter

_STAGES = ("retain", "reflect")
_SHOWN = (
    "NOT EXISTS (SELECT 1 FROM hidden_record WHERE hidden_record.bank = {0}.bank AND kind = "
    "'memory' "
    "AND hidden_record.id = {0}.id)"
)


class MemoryReader(StatementRunner):
    """Reads memories and opinions."""

    def remembered(self, bank: str, limit: int = 100) -> list[Memory]:
        found = self._all(
            f"SELECT {REMEMBERED_MEMORY} WHERE remembered_memory.bank = ? AND "
            f"{_SHOWN.format('remembered_memory')} "
            "ORDER BY time DESC, remembered_memory.id LIMIT ?",
            *(bank, limit),
        )
        return self._corrected_memories(bank, [records.memory_of(row) for row in found])

    def retained(self, bank: str, network: str = "", limit: int = 100) -> list[Memory]:
        found = self._all(
            "SELECT bank, id, time, who, what, network, place, why, confidence, trust, 'observed', "
            "evidence, '[]', seen FROM retained_memory WHERE bank = ? AND ? IN ('', network) "
            f"AND {_SHOWN.format('retained_memory')} ORDER BY time DESC, id LIMIT ?",
            *(bank, network, limit),
        )
        return self._corrected_memories(bank, [records.memory_of(row) for row in found])

    def opinions(self, bank: str) -> list[Opinion]:
        found = self._all(
            f"SELECT {records.OPINION} FROM opinion WHERE bank = ? AND {_SHOWN.format('opinion')} "
            "ORDER BY confidence DESC, id",
            bank,
        )
        corrections = self._corrections(bank)
        opinions = [records.opinion_of(row) for row in found]
        return [replace(o, what=corrections[o.id]) if o.id in corrections else o for o in opinions]

    def opinion_history(self, bank: str, opinion: str) -> list[OpinionRevision]:
        found = self._all(
            "SELECT time, confidence, favour, against, note FROM opinion_revision "
            "WHERE bank = ? AND opinion = ? ORDER BY number",
            *(bank, opinion),
        )
        return [OpinionRevision(*row) for row in found]

    def _corrections(self, bank: str) -> dict[str, str]:
        return dict(
            self._all(
                "SELECT id, text FROM curation_state WHERE bank = ? AND kind = 'memory' AND text "
                "<> ''",
                bank,
            )
        )

    def _corrected_memories(self, bank: str, memories: list[Memory]) -> list[Memory]:
        corrections = self._corrections(bank)
        return [
            corrected_memory(m, corrections[m.id]) if m.id in corrections else m for m in memories
        ]


class MemoryWriter(CurationWriter):
    """Writes them."""

    def occurrences(self, bank: str, session: str) -> list[MemoryOccurrence]:
        found = self._all(
            f"SELECT {records.OCCURRENCE} FROM memory_occurrence WHERE bank = ? AND session = ? "
            "ORDER "
            "BY key",
            *(bank, session),
        )
        return [records.occurrence_of(row) for row in found]

    def stances(self, bank: str, session: str | None = None) -> list[Stance]:
        found = self._all(
            f"SELECT {records.STANCE} FROM stance WHERE bank = ? AND session = coalesce(?, "
            "session) "
            "ORDER BY time, session, seq, uri, target, aspect",
            *(bank, session),
        )
        return [records.stance_of(row) for row in found]

    def put_retained(
        self,
        bank: str,
        session: str,
        occurrences: Iterable[MemoryOccurrence],
        stances: Iterable[Stance],
    ) -> None:
        self._clear_retained(bank, session, 0)
        self._run_many(
            f"INSERT INTO memory_occurrence (bank, session, {records.OCCURRENCE}) "
            f"VALUES (?, ?, {placeholders(records.OCCURRENCE)})",
            [(bank, session, *records.occurrence_row(occurrence)) for occurrence in occurrences],
        )
        self._hide_keys(bank, session, 0)
        self._run_many(
            upsert("stance", f"bank, {records.STANCE}", "bank, session, uri, target, aspect"),
            [(bank, *records.stance_row(stance)) for stance in stances],
        )

    def changed_memory_keys(self, bank: str) -> list[str]:
        found = self._all("SELECT key FROM stale_memory WHERE bank = ? ORDER BY key", bank)
        return [key for (key,) in found]

    def occurrences_of_key(self, bank: str, key: str) -> list[SessionOccurrence]:
        found = self._all(
            f"SELECT session, {records.OCCURRENCE} FROM memory_occurrence WHERE bank = ? AND key "
            "= ? "
            "ORDER BY time, session",
            *(bank, key),
        )
        return [SessionOccurrence(row[0], records.occurrence_of(row[1:])) for row in found]

    def put_retained_memory(
        self, bank: str, key: str, memory: Memory | None, passage: Passage | None
    ) -> None:
        self._run("DELETE FROM stale_memory WHERE bank = ? AND key = ?", bank, key)
        if memory is None:
            return
        self._run(
            "DELETE FROM retained_memory WHERE bank = ? AND (id = ? OR key = ?)",
            *(memory.bank, memory.id, key),
        )
        self._run(
            insert("retained_memory", records.RETAINED),
            *records.retained_row(key, memory),
        )
        self.put_passage(memory, passage)

    def refresh_retained(self, bank: str, id: str) -> str | None:
        row = self._one("SELECT key, what FROM retained_memory WHERE bank = ? AND id = ?", bank, id)
        if row is None:
            return None
        self._run(insert_missing("stale_memory", "bank, key"), bank, row[0])
        return row[1]

    def _clear_retained(self, bank: str, session: str, first: int) -> None:
        """Remove what was retained from a session from a turn on, and the memories made of it; the
        stage makes them again from what is left."""
        self._hide_keys(bank, session, first)
        for table in ("memory_occurrence", "stance"):
            self._run(
                f"DELETE FROM {table} WHERE bank = ? AND session = ? AND seq >= ?",
                *(bank, session, first),
            )

    def _hide_keys(self, bank: str, session: str, first: int) -> None:
        keys = "SELECT key FROM memory_occurrence WHERE bank = ? AND session = ? AND seq >= ?"
        own = (bank, bank, session, first)
        self._run(
            "DELETE FROM passage WHERE bank = ? AND kind = 'memory' AND id IN "
            f"(SELECT id FROM retained_memory WHERE bank = ? AND key IN ({keys}))",
            *(bank, *own),
        )
        self._run(f"DELETE FROM retained_memory WHERE bank = ? AND key IN ({keys})", *own)

    def _drop_retained(self) -> None:
        self._run(
            "DELETE FROM passage WHERE kind = 'memory' AND EXISTS (SELECT 1 FROM retained_memory "
            "WHERE retained_memory.bank = passage.bank AND retained_memory.id = passage.id)"
        )
        for table in ("memory_occurrence", "stance", "retained_memory", "stale_memory"):
            self._run(f"DELETE FROM {table}")
        self._run(f"DELETE FROM stage_progress WHERE stage IN {_STAGES}")

    def _forget_dimensions(self, bank: str, id: str) -> None:
        self._run("DELETE FROM memory_dimension WHERE bank = ? AND id = ?", bank, id)

    def all_opinions(self, bank: str) -> list[Opinion]:
        found = self._all(f"SELECT {records.OPINION} FROM opinion WHERE bank = ? ORDER BY id", bank)
        return [records.opinion_of(row) for row in found]

    def put_opinion(
        self, opinion: Opinion, revision: OpinionRevision | None, passage: Passage | None
    ) -> None:
        o = opinion
        self._run(
            upsert("opinion", records.OPINION, "bank, id"),
            *records.opinion_row(o),
        )
        if revision is not None:
            self._run(
                "INSERT INTO opinion_revision SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ?, "
                "?, ?, ? "
                "FROM opinion_revision WHERE bank = ? AND opinion = ?",
                *(o.bank, o.id, *revision, o.bank, o.id),
            )
        self._show(o.bank, o.id, passage)

    def drop_opinion(self, bank: str, id: str) -> None:
        self._run("DELETE FROM opinion WHERE bank = ? AND id = ?", bank, id)
        self._run("DELETE FROM opinion_revision WHERE bank = ? AND opinion = ?", bank, id)
        self._show(bank, id, None)

    def _show(self, bank: str, id: str, passage: Passage | None) -> None:
        self._run("DELETE FROM passage WHERE bank = ? AND kind = 'memory' AND id = ?", bank, id)
        if passage is not None:
            self.put_passages([passage])

    def update_bank(self, bank: Bank) -> None:
        d = bank.disposition
        self._run(
            "UPDATE bank SET background = ?, skepticism = ?, literalism = ?, empathy = ?, "
            "retention = ? WHERE id = ?",
            *(bank.background, d.skepticism, d.literalism, d.empathy, bank.retention, bank.id),
        )
        self._run(
            "DELETE FROM bank_alias WHERE bank = ? AND NOT coalesce(alias IN "
            f"({placeholders_for(bank.aliases)}), false)",
            *(bank.id, *bank.aliases),
        )
        self._run_many(
            insert_missing("bank_alias", "alias, bank"),
            [(alias, bank.id) for alias in bank.aliases],
        )
