"""An agent corrects and forgets records in its own name: in its own project, never in the words of
a person, and below what a person decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import Holdfast
from holdfast.interfaces.mcp.servers import Engine
from holdfast.model.curation import Action, Verdict
from holdfast.model.knowledge import FactKind
from holdfast.model.query import Layer
from holdfast.model.records import Exchange, Turn
from holdfast.model.trust import Status, Trust
from holdfast.model.uris import uri
from holdfast.settings import load_settings
from tests.interfaces.mcp.test_main import KEY, call, opened
from tests.support.refine_banks import open_filled, session_on

Json = dict[str, Any]
WHO = "agent (a client)"
RULE = "Never commit generated files to the repository."
WRONG = "Always commit generated files to the repository."


@pytest.fixture
def yard(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a memory in which a person stated a rule and an agent told what it did."""
    monkeypatch.setenv("HOLDFAST_BANK", "proj")
    script = session_on("2026-09-01", 1)
    script.user(f"{RULE} Then look at the crane, please.")
    script.assistant("The crane stops because its brake is worn, so I ordered a new brake.")
    home = load_settings().home
    open_filled(home, script).close()
    return home


def remembered(text: str) -> str:
    with opened() as memory:
        return uri("memory", memory.remember(text).id)


def refused(told: Json, words: str) -> None:
    assert told["isError"] and words in told["content"][0]["text"]


def test_an_agent_corrects_in_its_own_name_and_a_person_can_undo_it(
    engine: Engine, project: Path
) -> None:
    name = remembered("We decided to run the courier at noon.")
    told = call(engine, "correct", id=name, text=f"We run the courier at midnight with {KEY}.")
    assert told["structuredContent"] == {"action": "correct", "uri": name, "who": WHO}
    assert "A person can undo it" in told["content"][0]["text"]
    with opened() as memory:
        entry = memory.store.curation.log(memory.context.bank_id() or "")[-1]
        assert (entry.action, entry.who) == (Action.CORRECT, WHO) and KEY not in entry.text
        hit = memory.recall("courier").hits[0]
        assert "midnight" in hit.text and hit.trust is Trust.ASSISTANT
        assert hit.corrected.startswith(f"by {WHO}")
        assert "noon" in memory.show(name).superseded
        assert len(memory.undo()) == 1
        hit = memory.recall("courier").hits[0]
        assert "noon" in hit.text and hit.trust is Trust.USER


def test_an_agent_forgets_in_its_own_name_and_a_person_can_undo_it(
    engine: Engine, project: Path
) -> None:
    name = remembered("We decided to run the courier at noon.")
    told = call(engine, "forget", id=name)["structuredContent"]
    assert told == {"action": "forget", "uri": name, "who": WHO}
    with opened() as memory:
        assert not memory.recall("courier").hits
        assert len(memory.undo()) == 1
        assert memory.recall("courier").hits[0].uri == name


def test_a_correction_by_an_agent_lays_nothing_down(engine: Engine, project: Path) -> None:
    name = remembered("We decided to deploy the courier on Tuesdays.")
    call(engine, "correct", id=name, text="From now on always deploy the courier on Sundays.")
    with opened() as memory:
        brief = memory.briefs.session_brief().text
        goal = memory.briefs.goal_brief("On which day shall I deploy the courier now?").text
        assert not memory.browse.facts()
        (kept,) = memory.store.memories.shown_remembered(memory.context.bank_id() or "")
        assert (kept.who, kept.trust, kept.status) == (WHO, Trust.ASSISTANT, Status.OBSERVED)
    decided, _, noted = brief.partition("Noted here (kept by an agent")
    assert "Sundays" not in decided and f"{WHO}: “From now on" in noted
    assert "noted, not decided" in goal and "Tuesdays" not in goal


def test_what_a_person_said_or_wrote_is_not_corrected_by_an_agent(
    engine: Engine, yard: Path
) -> None:
    with opened() as memory:
        (turn,) = turns(memory, RULE)
    told = call(engine, "correct", id=uri("turn", turn.id), text=WRONG)
    refused(told, "a person said or wrote")
    with opened() as memory:
        assert turns(memory, RULE) == [turn] and not turns(memory, WRONG)


def test_a_correction_of_an_agents_words_stays_an_agents(engine: Engine, yard: Path) -> None:
    with opened() as memory:
        (turn,) = turns(memory, "brake is worn")
    call(engine, "correct", id=uri("turn", turn.id), text=WRONG)
    with opened() as memory:
        (now,) = turns(memory, WRONG)
        assert now.trust is Trust.ASSISTANT
        hit = memory.recall("generated files", layers=[Layer.TRANSCRIPTS]).hits[0]
        assert hit.status is not Status.VERIFIED
        assert_only_the_rule_is_a_persons(memory)


def test_a_corrected_fact_is_no_longer_a_persons_rule(engine: Engine, yard: Path) -> None:
    with opened() as memory:
        (fact,) = [one for one in memory.browse.facts() if one.kind is FactKind.RULE]
        assert fact.trust is Trust.USER
    call(engine, "correct", id=uri("fact", fact.id), text=WRONG)
    with opened() as memory:
        (now,) = [one for one in memory.browse.facts() if one.id == fact.id]
        assert (now.content, now.trust, now.status) == (WRONG, Trust.ASSISTANT, Status.OBSERVED)
        assert WRONG not in memory.briefs.session_brief().text
        assert not promoted(memory)
        memory.correct(fact.id, WRONG, who="ada")
        (now,) = [one for one in memory.browse.facts() if one.id == fact.id]
        assert (now.trust, now.status) == (Trust.USER, Status.VERIFIED)


def test_a_corrected_exchange_has_the_agents_words_beside_those_of_the_person(
    engine: Engine, yard: Path
) -> None:
    with opened() as memory:
        (exchange,) = exchanges(memory)
    call(engine, "correct", id=uri("exchange", exchange.id), text=f"We decided: {WRONG}")
    with opened() as memory:
        (now,) = exchanges(memory)
        assert WRONG in now.title + now.summary
        assert now.trust is Trust.ASSISTANT and now.status is not Status.VERIFIED
        assert_only_the_rule_is_a_persons(memory)
        goal = memory.briefs.goal_brief("Shall I commit the generated files?").text
        assert all(WHO in line for line in goal.splitlines() if WRONG in line)


def test_an_agents_correction_ends_no_verdict_that_a_person_gave_against_a_record(
    engine: Engine, project: Path
) -> None:
    names = [remembered(f"The {colour} berth is for ferries.") for colour in ("red", "blue")]
    with opened() as memory:
        memory.curation.judge(names[:1], Verdict.OUTDATED, who="ada")
        memory.curation.judge(names[1:], Verdict.USEFUL, who="ada")
    for name in names:
        call(engine, "correct", id=name, text=f"The berth {name[-4:]} is for tankers.")
    with opened() as memory:
        judged = memory.reader.curation.judgements(memory.context.bank_id() or "")
        assert {name: one.verdict for name, one in judged.items()} == {names[0]: Verdict.OUTDATED}


def test_an_agent_that_takes_back_its_own_note_ends_no_rule_of_a_person(
    engine: Engine, yard: Path
) -> None:
    note = call(engine, "remember", text=RULE)["structuredContent"]["uri"]
    call(engine, "correct", id=note, text=WRONG)
    with opened() as memory:
        assert_only_the_rule_is_a_persons(memory)
    call(engine, "forget", id=note)
    with opened() as memory:
        assert_only_the_rule_is_a_persons(memory)


def correct_again(memory: Holdfast, name: str) -> None:
    memory.correct(name, "We run the courier at dawn.", who="ada")


def bring_back(memory: Holdfast, name: str) -> None:
    memory.restore(name, who="ada")


@pytest.mark.parametrize(
    ("tool", "given", "decide", "words"),
    [
        ("correct", {"text": "We run the courier at midnight."}, correct_again, "dawn"),
        ("forget", {}, bring_back, "noon"),
    ],
)
def test_a_later_decision_of_a_person_stands_above_that_of_an_agent(
    engine: Engine,
    project: Path,
    tool: str,
    given: Json,
    decide: Callable[[Holdfast, str], None],
    words: str,
) -> None:
    name = remembered("We decided to run the courier at noon.")
    call(engine, tool, id=name, **given)
    with opened() as memory:
        decide(memory, name)
        hit = memory.recall("courier").hits[0]
        assert words in hit.text and hit.trust is Trust.USER
        decided = memory.briefs.session_brief().text.partition("Noted here")[0]
        assert words in decided


@pytest.mark.parametrize(("tool", "given"), [("correct", {"text": "Mine now."}), ("forget", {})])
def test_a_record_of_another_project_is_neither_corrected_nor_forgotten(
    engine: Engine, project: Path, tool: str, given: Json
) -> None:
    remembered("The pier is green.")
    with opened() as memory:
        other = memory.remember("The lighthouse is white.", bank="other")
    for name in (uri("memory", other.id), other.id, other.id[:8]):
        refused(call(engine, tool, id=name, **given), "no record")
    with opened() as memory:
        assert memory.recall("lighthouse", bank="other").hits[0].text == other.what
        assert [e.action for e in memory.store.curation.log(other.bank)] == [Action.REMEMBER]


def test_an_agent_of_no_single_project_decides_about_no_record(
    engine: Engine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = remembered("The pier is green.")
    monkeypatch.setenv("HOLDFAST_BANK", "all")
    for tool, given in (("correct", {"text": "Mine."}), ("forget", {})):
        refused(call(engine, tool, id=name, **given), "needs one bank")
    told = call(engine, "review", verdict="useful", ids=[name])
    refused(told, "needs one bank")


def turns(memory: Holdfast, text: str) -> list[Turn]:
    bank = memory.context.bank_id() or ""
    (session,) = memory.reader.sessions.latest(bank)
    return [one for one in memory.reader.turns.of_session(bank, session.id) if text in one.text]


def exchanges(memory: Holdfast) -> list[Exchange]:
    bank = memory.context.bank_id() or ""
    (session,) = memory.reader.sessions.latest(bank)
    return list(memory.reader.sessions.exchanges(bank, session.id))


def promoted(memory: Holdfast) -> list[str]:
    """What is proposed as a rule, and what counts as a person's statement for it."""
    bank = memory.context.bank_id() or ""
    patterns = [str(one) for one in memory.reader.rules.patterns(bank)]
    proposed = [one.text for one in memory.rules.proposals(bank)]
    return [text for text in (*patterns, *proposed) if WRONG in text]


def assert_only_the_rule_is_a_persons(memory: Holdfast) -> None:
    bank = memory.context.bank_id() or ""
    claims = memory.store.facts.claims(bank)
    by_people = {one.text for one in claims if one.by_person}
    assert RULE in by_people and not [text for text in by_people if WRONG in text]
    trusted = [one for one in memory.browse.facts() if one.trust is Trust.USER]
    assert RULE in json.dumps([one.content for one in trusted])
    assert not [one for one in trusted if WRONG in one.content] and not promoted(memory)
    decided = memory.briefs.session_brief().text.partition("Decided here")[2]
    assert RULE in decided
    assert not [line for line in decided.splitlines() if WRONG in line and WHO not in line]
