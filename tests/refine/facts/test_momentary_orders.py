from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import FactKind
from holdfast.model.query import RecordFilter
from holdfast.refine.facts.momentary_orders import is_for_the_moment, orders_steps
from tests.support.opinion_sessions import ingest_and_update, open_dated_memory, session_on_day

FOR_THE_MOMENT = (
    "Let's go with option B.",
    "We go with option B, because it is cheaper.",
    "Let's go with option B from your list, it is the smaller change.",
    "Use the second approach, it looks simpler than the other one.",
    "Don't create a PR.",
    "Don't create a PR for this, I want to look at it first.",
    "Please don't commit just yet.",
    "Don't merge it now.",
    "Do not push anything yet, I need to review it.",
    "Don't touch the importer, I want to check something in it first.",
    "Write tests for checkout.",
    "Write tests for checkout, don't touch the other modules.",
    "Let's drop it for this PR.",
    "No, don't delete that file, only rename it.",
    "Don't create a new branch, work on this one.",
    "Do not edit any files, just tell me what you think.",
    "Don't stop until it works.",
    "Don't write code, only make a plan.",
    "Reply with exactly OK.",
    "Do not add markdown or explanation.",
    "Do not inspect or edit files, answer from what you know.",
    "[query] Respond with only the marker READY.",
    "Do not take any actions beyond analysing and reporting back.",
    "DO NOT JUMP TO IMPLEMENTATION",
    "Please don't gaslight me.",
    "Never mind, do not touch the config just yet because Anna works on it.",
)
LASTING = (
    "Never create a PR without a green build.",
    "Don't use sudo in scripts, because CI has none.",
    "Do not commit generated files.",
    "Don't create PRs from forks.",
    "Don't add comments to generated files.",
    "Don't edit the code in vendor by hand.",
    "Always write tests for new endpoints.",
    "Write tests for public functions.",
    "Let's go with option B: PostgreSQL, because of JSON columns.",
    "We decided to go with option B of the RFC because of transactions.",
    "From now on don't create a PR before I have seen the diff.",
    "Use version 3 of the billing API.",
    "Reply to reviews with a commit.",
    "The upload limit is 20 MB now.",
    "As of today we use pnpm.",
)


@pytest.mark.parametrize(
    "said",
    ["run tests and install", "adb install, take a screen and verify", "ok, commit and push",
     "I don't see a change. Run the tests."],
)  # fmt: skip
def test_an_order_of_the_next_steps_is_one(said: str) -> None:
    assert orders_steps(said)


@pytest.mark.parametrize(
    "said",
    ["commit lockfiles", "install pnpm 9", "run the tests before every commit", "build nightly",
     "run the worker under systemd", "push images to the registry of the cluster"],
)  # fmt: skip
def test_what_may_be_to_last_orders_no_steps(said: str) -> None:
    assert not orders_steps(said)


def brief_of(memory: Holdfast) -> str:
    with Holdfast(memory.settings, create=False) as briefing:
        return briefing.briefs.session_brief().text


@pytest.mark.parametrize("said", FOR_THE_MOMENT)
def test_an_order_for_the_moment_is_recognised(said: str) -> None:
    assert is_for_the_moment(said)


@pytest.mark.parametrize("said", LASTING)
def test_what_holds_from_then_on_is_no_order_for_the_moment(said: str) -> None:
    assert not is_for_the_moment(said)


@pytest.mark.slow
def test_orders_for_the_moment_are_no_rules_decisions_or_patterns(tmp_path: Path) -> None:
    said = [*FOR_THE_MOMENT, *FOR_THE_MOMENT[:8]]
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, *(session_on_day(n, text) for n, text in enumerate(said)))
        (bank,) = memory.reader.banks.all()
        facts = memory.reader.facts.all(bank.id)
        assert [f.content for f in facts if f.kind is FactKind.RULE] == []
        assert [p.content for p in memory.reader.rules.patterns(bank.id)] == []
        decided = memory.reader.records.filter(bank.id, RecordFilter(type="decision"), 99)
        assert [record.id for record in decided] == []
        assert "Decided here" not in brief_of(memory)


def test_lasting_orders_are_still_told_as_decided(tmp_path: Path) -> None:
    rule = "Don't use sudo in scripts, because CI has none."
    with open_dated_memory(tmp_path) as memory:
        ingest_and_update(memory, session_on_day(1, rule), session_on_day(2, "Don't create a PR."))
        told = brief_of(memory).partition("Decided here")[2]
        assert rule in told and "create a PR" not in told.partition("Recent work")[0]
