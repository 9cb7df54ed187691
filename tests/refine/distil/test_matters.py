from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.model.curation import CurationState
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind, Memory, Network
from holdfast.model.opinions import MemoryOccurrence
from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.matters import matter_of
from holdfast.refine.distil.standalone import with_context
from holdfast.refine.memories.memory_stage import publish_changed_memories
from holdfast.refine.memories.retention_rules import distinct, make_occurrence
from holdfast.refine.memories.salience import stems
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day

RULE = "We never deploy the harbour service on a Friday afternoon."
RULE_AGAIN = (
    "Once more: we NEVER deploy the **harbour service** on a Friday afternoon!",
    "On Friday afternoons, please never deploy our harbour service.",
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The upload limit is 10 MB", "The upload limit is 20 MB"),
        ("Version v1.2 is broken", "Version v1.3 is broken"),
        ("Use npm for the client", "Do not use npm for the client"),
        ("The flag can be removed", "The flag cannot be removed"),
        ("Retry with a backoff", "Retry without a backoff"),
        ("Use npm instead of yarn", "Use yarn instead of npm"),
        ("The billing service restarts at night", "The shipping service restarts at night"),
        ("Settings are in src/a/settings.py", "Settings are in src/b/settings.py"),
        ("Secrets are in .env", "Secrets are in env"),
        ("Call parse_config at the start", "Call parseConfig at the start"),
        ("Use `--amend` for the last commit", "Use `--no-amend` for the last commit"),
        ("The importer calls the exporter", "The exporter calls the importer"),
        ("Ask Ada before a release", "Ask Grace before a release"),
        ("Run lint before the tests", "Run the tests before lint"),
        ("Move the rows from A to B", "Move the rows from B to A"),
        ("Copy A to B, and C to D", "Copy A to D, and C to B"),
        ("The cache is on", "The cache is off"),
        ("Only admins may delete a bank", "Admins may delete a bank"),
        ("Uploads must be retried", "Uploads are retried"),
        ("The importer fails at night", "The import fails at night"),
        ("The flag is set in production", "The flag is set in the products"),
    ],
)
def test_another_number_name_path_or_negation_is_another_matter(one: str, other: str) -> None:
    assert matter_of(one) != matter_of(other)


@pytest.mark.slow
@given(st.text(max_size=80))
def test_spaces_around_any_text_do_not_change_its_matter(text: str) -> None:
    assert matter_of(f"  {text} ") == matter_of(text)


def exchange_on(day: int) -> Exchange:
    time = f"2026-01-{day:02}T09:00:00.000Z"
    return Exchange(
        "b", f"exchange{day}", f"session{day}", 1, 2, time, time, ExchangeType.FEATURE, "", "", "",
        Outcome.DONE, Trust.ASSISTANT,
    )  # fmt: skip


def occurrence(day: int, what: str, trust: Trust, **more: Any) -> MemoryOccurrence:
    return make_occurrence(exchange_on(day), Network.WORLD, what, trust=trust, **more)


def publish(memory: Holdfast, *occurrences: tuple[int, MemoryOccurrence]) -> list[Memory]:
    """Store occurrences, each with the number of its session, and what they become."""
    store = memory.store
    with store.transaction():
        for day, one in occurrences:
            store.memories.put_occurrences("b", f"session{day}", [one])
        publish_changed_memories(store, "b")
    return store.memories.retained("b")


def test_what_is_to_be_done_is_kept_from_what_was_done() -> None:
    keys = {
        make_occurrence(exchange_on(1), Network.EXPERIENCE, text, kind=kind).key
        for text, kind in [
            ("Add a retry to the uploader", Kind.TODO),
            ("Added a retry to the uploader", Kind.OUTCOME),
        ]
    }
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("one", "other", "kept"),
    [
        ("at most 10 MB", "at most 20 MB", 2),
        ("never more than 10 MB", "more than 10 MB", 2),
        ("at most 10 MB", "at most 10 MB please", 1),
    ],
)
def test_a_session_keeps_statements_apart_that_differ_in_a_number_or_a_negation(
    one: str, other: str, kept: int
) -> None:
    start = "The uploader of the portal takes parcels of the harbour office, each of them"
    said = [occurrence(1, f"{start} {text}.", Trust.ASSISTANT) for text in (one, other)]
    assert len(distinct(said)) == kept


def test_the_subject_of_a_session_makes_no_other_matter() -> None:
    subject = "Uploads to the portal fail at night"
    said = "The retry wrapper swallows every timeout of the uploader."
    shown = with_context(said, subject)
    assert shown == f"{said} ({subject})"
    one = occurrence(1, shown, Trust.ASSISTANT, said=said)
    assert one.key == occurrence(2, said, Trust.ASSISTANT).key and one.what == shown


def test_what_an_agent_repeats_stays_the_words_of_a_person(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        (kept,) = publish(
            memory,
            (1, occurrence(1, RULE, Trust.USER, who="user")),
            (2, occurrence(2, f"As agreed: {RULE.lower()}", Trust.ASSISTANT)),
        )
        assert (kept.what, kept.trust, kept.who, kept.seen) == (RULE, Trust.USER, "user", 2)
        assert kept.when.startswith("2026-01-02") and len(kept.evidence_for) == 2


def test_a_decision_about_a_memory_under_its_older_id_holds(tmp_path: Path) -> None:
    older = content_id("memory", f"world:{content_id(*sorted(stems(RULE)))}")
    with open_dated_memory(tmp_path) as memory:
        (before,) = publish(memory, (1, occurrence(1, RULE, Trust.USER)))
        assert before.id != older
        with memory.store.transaction():
            memory.store.curation.put_state(CurationState("b", "memory", older, "", forgotten=True))
        assert publish(memory, (2, occurrence(2, RULE, Trust.USER))) == []


def the_rule(memory: Holdfast) -> Memory:
    (bank,) = memory.banks.all()
    found = memory.reader.memories.retained(bank.id, limit=1000)
    (kept,) = (one for one in found if "friday" in one.what.lower())
    return kept


@pytest.mark.slow
def test_a_rule_in_three_sessions_is_one_memory_with_three_sources(tmp_path: Path) -> None:
    with open_dated_memory(tmp_path) as memory:
        said = (RULE, *RULE_AGAIN)
        for day, text in enumerate(said, 1):
            ingest_and_update(memory, session_on_day(day, text))
        kept = the_rule(memory)
        assert (kept.seen, kept.who, kept.trust) == (3, "user", Trust.USER)
        assert kept.what == RULE_AGAIN[1], "the words of the latest"
        sessions = {
            found.session
            for name in kept.evidence_for
            for found in memory.reader.records.find(None, "turn", name.rpartition("/")[2])
            if isinstance(found, Turn) and found.role is Role.USER
        }
        assert len(sessions) == 3
        memory.forget(memory.reader.sessions.latest(None)[0].id)
        assert (the_rule(memory).seen, the_rule(memory).what) == (2, RULE_AGAIN[0])
        memory.undo()
        assert the_rule(memory) == kept
        memory.ingestion.rebuild()
        assert the_rule(memory) == kept


@pytest.mark.slow
def test_near_duplicates_join_alike_in_every_order_of_reading(tmp_path: Path) -> None:
    other = "We never deploy the ferry service on a Friday afternoon."
    scripts = [session_on_day(day, text) for day, text in enumerate((RULE, *RULE_AGAIN, other), 1)]
    found: list[list[Memory]] = []
    for number, order in enumerate([*permutations(scripts)][::7]):
        with open_dated_memory(tmp_path / str(number)) as memory:
            for script in order:
                ingest_and_update(memory, script)
            (bank,) = memory.banks.all()
            found.append(memory.reader.memories.retained(bank.id, limit=1000))
    assert {one.seen for one in found[0] if "Friday" in one.what} == {1, 3}
    assert all(one == found[0] for one in found)
