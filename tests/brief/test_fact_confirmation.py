"""Using an injected record confirms the facts that it states."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.background.steps import STEPS
from holdfast.app.memory import Holdfast
from holdfast.brief.injection_outcomes import settle_injections
from holdfast.model.knowledge import EvidenceKind, Fact
from holdfast.model.ledgers.injections import Injection, InjectionKind
from holdfast.model.uris import uri
from tests.support.memory_dump import dump
from tests.support.refine_banks import (
    find_fact,
    ingest_scripts,
    open_filled,
    session_on,
    session_saying,
)
from tests.support.transcripts import Script

OVER = "2026-12-20T12:00:00.000Z"
RULE = "Always encrypt walrus archives with the harbour certificate before uploading."
APPLIED = "I encrypt the walrus archives with the harbour certificate before uploading them."


def later(day: str, number: int, *replies: str) -> Script:
    """A session that asks for something else, and what the agent says in it."""
    script = session_on(day, number)
    for reply in replies:
        script.user("Please make the nightly copy.")
        script.assistant(reply)
    return script


def inject(memory: Holdfast, script: Script, *records: str) -> None:
    """A session into which some records were injected at its start, as its transcript shows."""
    session = script.session
    text = f'<holdfast-brief id="start-{session[:8]}">…</holdfast-brief>'
    attachment = {"type": "hook_additional_context", "content": [text]}
    script.add({"type": "attachment", "sessionId": session, "attachment": attachment})
    ingest_scripts(memory, [script])
    (bank,) = memory.reader.banks.all()
    time = next(s.started for s in memory.reader.sessions.latest(bank.id) if s.host == session)
    id = f"start-{session[:8]}.{session}.1"
    note = Injection(id, bank.id, session, time, InjectionKind.START, 700, records)
    with memory.store.transaction():
        memory.store.injections.add(note)


def confirmed_fact(memory: Holdfast) -> Fact:
    """The rule, after every verdict."""
    settle_injections(memory.store, OVER)
    memory.ingestion.update()
    return find_fact(memory, "walrus archives")


@pytest.mark.slow
def test_use_of_an_injected_fact_confirms_it(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, RULE)) as memory:
        before = find_fact(memory, "walrus archives")
        inject(memory, later("2026-10-05", 2, APPLIED, APPLIED), uri("fact", before.id))
        after = confirmed_fact(memory)
        assert before.last_validated.startswith("2026-09-01")
        assert after.last_validated.startswith("2026-10-05")
        assert after.confidence > before.confidence
        assert after.evidence == before.evidence and after.status is before.status
        hows = [b.how for b in memory.reader.facts.evidence(after.bank, after.id)]
        assert hows == [EvidenceKind.STATED, EvidenceKind.USED], "once a session"
        kept = dump(tmp_path / "memory.db")
        memory.ingestion.rebuild()
        assert dump(tmp_path / "memory.db") == kept
        memory.forget("holdfast://session/00000002-0000-4000-8000-000000000001")
        assert find_fact(memory, "walrus archives") == before
        memory.undo()
        assert find_fact(memory, "walrus archives") == after


def test_citing_the_id_of_a_fact_or_of_its_turn_confirms_it(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, RULE)) as memory:
        fact = find_fact(memory, "walrus archives")
        cited = f"As fact/{fact.id[:8]} wants it, done."
        inject(memory, later("2026-10-06", 3, cited), uri("fact", fact.id))
        assert confirmed_fact(memory).last_validated.startswith("2026-10-06")
        turn = fact.evidence[0].rpartition("/")[2]
        inject(memory, later("2026-10-07", 4, f"See turn/{turn[:8]}."), fact.evidence[0])
        assert confirmed_fact(memory).last_validated.startswith("2026-10-07")


def test_use_of_an_injected_memory_confirms_it(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, "Hello there.")) as memory:
        made = memory.remember(RULE)
        before = find_fact(memory, "walrus archives")
        inject(memory, later("2026-12-05", 2, APPLIED), uri("memory", made.id))
        after = confirmed_fact(memory)
        assert after.last_validated.startswith("2026-12-05")
        assert after.confidence > before.confidence


def test_an_ignored_contradicted_or_undelivered_fact_is_not_confirmed(tmp_path: Path) -> None:
    with open_filled(tmp_path, session_saying("2026-09-01", 1, RULE)) as memory:
        before = find_fact(memory, "walrus archives")
        name = uri("fact", before.id)
        inject(memory, later("2026-10-05", 2, "The copy is made."), name)
        gainsaid = later("2026-10-06", 3, APPLIED)
        gainsaid.user("No, that's outdated.")
        inject(memory, gainsaid, name)
        lost = later("2026-10-07", 4, APPLIED)
        ingest_scripts(memory, [lost])
        (bank,) = memory.reader.banks.all()
        note = Injection(
            "start-lost.x.1", bank.id, lost.session, "2026-10-07T09:00:00.000Z",
            InjectionKind.START, 700, (name,),
        )  # fmt: skip
        with memory.store.transaction():
            memory.store.injections.add(note)
        assert confirmed_fact(memory).confidence == before.confidence
        assert confirmed_fact(memory).last_validated == before.last_validated


def test_a_worker_records_injection_outcomes_before_it_updates_facts() -> None:
    names = [step.name for step in STEPS]
    assert names.index("settle") < names.index("know")
