"""Which work items replace which."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.decision_versions import replaces
from holdfast.brief.work_items import DecisionQuote, WorkItem, WorkItems
from holdfast.model.trust import Trust
from holdfast.refine.facts.decision_sentences import FIRM_STRENGTH, find_decision_sentences
from holdfast.settings import Settings
from tests.support.transcripts import Script
from tests.support.watched_calls import watched_calls

EARLIER = "We decided to keep sign-ins alive for thirty days."
LATER = "We decided that sign-ins end after twelve hours, no longer after thirty days."
NARRATED = "That deferred install never re-touches the sign-ins that were alive for thirty days."


def item(sentence: str, day: int, by_person: bool, explicit: bool = True) -> WorkItem:
    time = f"2026-03-{day:02}T09:00:00.000Z"
    who = "user" if by_person else "assistant"
    quote = DecisionQuote(
        sentence, who, time, f"holdfast://turn/{day}", FIRM_STRENGTH, False, (0, 0), by_person,
        explicit,
    )  # fmt: skip
    return WorkItem("exchange", str(day), time, "", Trust.USER, lambda: [quote], session=str(day))


@pytest.mark.parametrize(
    ("later", "earlier", "is_replaced"),
    [
        (item(LATER, 2, by_person=True), item(EARLIER, 1, by_person=True), True),
        (item(LATER, 2, by_person=True), item(EARLIER, 1, by_person=False), True),
        (item(LATER, 2, by_person=False), item(EARLIER, 1, by_person=True), False),
        (item(LATER, 2, by_person=False), item(EARLIER, 1, by_person=False), False),
        (item(LATER, 2, by_person=True), item(EARLIER, 1, False, explicit=False), False),
        (item(NARRATED, 2, False, explicit=False), item(EARLIER, 1, by_person=True), False),
    ],
)
def test_only_a_person_changes_a_decision(
    later: WorkItem, earlier: WorkItem, is_replaced: bool
) -> None:
    assert replaces(later, earlier) is is_replaced


@pytest.mark.parametrize("by_person", [True, False])
def test_whoever_says_the_same_again_replaces_it(by_person: bool) -> None:
    assert replaces(item(EARLIER, 2, by_person), item(EARLIER, 1, by_person=True))


@pytest.mark.slow
def test_what_people_decided_is_found_without_reading_what_agents_said(
    tmp_path: Path,
) -> None:
    script = Script("55555555-0000-4000-8000-000000000001")
    for answer in ("We decided to use Redis instead of files, because they are slow.", "Done."):
        script.user(f"{EARLIER} It must never be longer, because auditors look at it.")
        script.assistant(f"{answer} We decided to never retry, because rows double otherwise.")
    script.write(tmp_path / "projects")
    with Holdfast(Settings(tmp_path / "home", tmp_path, embed_model="none")) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "projects"]))
        bank = memory.reader.banks.all()[0].id
        exchanges = list(memory.store.sessions.bank_exchanges(bank))
        made = [WorkItems(memory.reader, bank).from_record(x) for x in exchanges]
        with watched_calls(find_decision_sentences) as read:
            decided = [one.decided for one in made]
        assert read and all(call.variables["text"].startswith(EARLIER) for call in read)
        assert decided == [tuple(d for d in one.decisions if d.decides) for one in made]
    assert any(decided)
