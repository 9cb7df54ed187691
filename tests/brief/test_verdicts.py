"""What verdicts change in briefs. Whose they are and what ends them is in `model/test_curation`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.brief.known_statements import StatementLimits
from holdfast.brief.session_brief import BriefLimits
from holdfast.errors import InputError
from holdfast.model.curation import Verdict
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Kind, Memory, Network
from holdfast.model.trust import Trust
from holdfast.model.uris import uri
from holdfast.principal import Principal
from holdfast.refine.core.passages import memory_passage
from tests.brief.test_known_statements import FILLER, TODO, brief_of, group, retain, session
from tests.support.refine_banks import NOW, ingest_scripts, open_filled, open_filled_at_once

KNOWN, DECIDED = "Known from earlier sessions", "Decided here"
KEPT = "Each berth keeps its own queue of ships, since the harbour master moves them at night."
OTHER = "Each crane keeps its own list of loads, since the dock foreman swaps them by day."


def name_of(text: str) -> str:
    """The URI of a statement that `retain` made."""
    return uri("memory", content_id("known", text))


def bank_of(memory: Holdfast) -> str:
    return memory.context.bank_id() or ""


def two_statements(home: Path) -> Holdfast:
    memory = open_filled(
        home,
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, "Look at the cranes, please.", OTHER),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    )
    retain(memory, KEPT, Kind.FACT)
    retain(memory, OTHER, Kind.FACT, worth=3.0)
    return memory


@pytest.mark.parametrize("verdict", [Verdict.UNNEEDED, Verdict.OUTDATED])
def test_what_is_unneeded_or_outdated_is_not_told_until_that_is_undone(
    tmp_path: Path, verdict: Verdict
) -> None:
    with two_statements(tmp_path) as memory:
        assert KEPT in group(brief_of(memory), KNOWN)
        memory.curation.judge([name_of(KEPT)], verdict)
        assert KEPT not in brief_of(memory)
        assert OTHER in brief_of(memory)
        memory.undo()
        assert KEPT in group(brief_of(memory), KNOWN)


def test_what_is_useful_comes_first(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        known = group(brief_of(memory), KNOWN)
        assert known.index(OTHER) < known.index(KEPT)
        memory.curation.judge([name_of(KEPT)], Verdict.USEFUL)
        known = group(brief_of(memory), KNOWN)
        assert 0 < known.index(KEPT) < known.index(OTHER)


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        (KEPT, -3.0),
        ("I keep a queue of ships for each berth, since the harbour master moves them.", 2.0),
        ("Let me say it: each berth still has a queue today.", 0.1),
    ],
)
def test_what_is_useful_is_told_whatever_it_is_estimated_to_be_worth(
    tmp_path: Path, text: str, worth: float
) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, text)) as memory:
        retain(memory, text, Kind.FACT, worth=worth)
        assert text not in group(brief_of(memory), KNOWN)
        memory.curation.judge([name_of(text)], Verdict.USEFUL)
        assert text in group(brief_of(memory), KNOWN)


@pytest.mark.slow
def test_a_useful_statement_is_told_however_many_came_after_it(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        bank, writer = memory.context.bank_id() or "", memory.store
        later = [
            Memory(bank, str(n), Network.WORLD, f"Ship {n} left.", Trust.ASSISTANT, NOW)
            for n in range(StatementLimits().read)
        ]
        with writer.transaction():
            for one in later:
                writer.memories.put_retained(bank, one.id, one, memory_passage(one, ""))
        assert KEPT not in group(brief_of(memory), KNOWN)
        memory.curation.judge([name_of(KEPT)], Verdict.USEFUL)
        assert KEPT in group(brief_of(memory), KNOWN)


def test_a_useful_statement_that_a_person_replaced_is_not_told(tmp_path: Path) -> None:
    old, new = "Berths are always booked by radio.", "Berths are no longer booked by radio."
    with open_filled(
        tmp_path,
        session("2026-09-01", 1, old, "Understood."),
        session("2026-09-02", 2, new, "Understood."),
    ) as memory:
        facts = {fact.content: fact for fact in memory.reader.facts.all(memory.context.bank_id())}
        memory.curation.judge([uri("fact", facts[old].id)], Verdict.USEFUL)
        assert old not in brief_of(memory) and new in brief_of(memory)


def test_a_fact_that_is_unneeded_is_not_told_as_another_record_that_says_it(
    tmp_path: Path,
) -> None:
    rule = "Always book berths by radio, never by telephone."
    with open_filled(tmp_path, session("2026-09-01", 1, rule, "Understood.")) as memory:
        retain(memory, rule, Kind.RULE)
        (fact,) = memory.reader.facts.all(memory.context.bank_id())
        assert f"fact/{fact.id[:8]}" in group(brief_of(memory), DECIDED)
        memory.curation.judge([uri("fact", fact.id)], Verdict.UNNEEDED)
        assert rule not in group(brief_of(memory), DECIDED)
        assert rule not in group(brief_of(memory), KNOWN)


def test_a_note_and_a_session_that_are_unneeded_are_not_told(tmp_path: Path) -> None:
    asked = "Repair the lamp of the pier, please."
    with open_filled(tmp_path, session("2026-09-01", 1, asked, "The lamp was repaired.")) as memory:
        note = memory.curation.remember("The pier was painted.", bank="proj")
        session_id = memory.reader.sessions.latest(note.bank)[0].id
        digest = memory.reader.sessions.digest(note.bank, session_id)
        assert digest is not None
        assert note.what in brief_of(memory) and f"digest/{digest.id[:8]}" in brief_of(memory)
        memory.curation.judge([note.id, uri("digest", digest.id)], Verdict.UNNEEDED)
        told = brief_of(memory)
    assert note.what not in told and f"digest/{digest.id[:8]}" not in told


def test_a_useful_task_is_told_although_it_is_old(tmp_path: Path) -> None:
    later = [
        session(f"2026-09-{day:02}", day, f"Paint pier number {day} green.", f"Painted pier {day}.")
        for day in range(2, 16)
    ]
    first = session("2026-09-01", 1, FILLER, TODO)
    with open_filled_at_once(tmp_path, first, *later) as memory:
        retain(memory, TODO, Kind.TODO)
        assert TODO not in brief_of(memory)
        memory.curation.judge([name_of(TODO)], Verdict.USEFUL)
        assert TODO in group(brief_of(memory), "Left open")


def test_only_what_briefs_tell_can_be_judged_and_a_reason_is_one_sentence(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        bank = memory.context.bank_id() or ""
        turn = memory.reader.turns.of_session(bank, memory.reader.sessions.latest(bank)[0].id)[0]
        with pytest.raises(InputError, match="do not tell a turn"):
            memory.curation.judge([name_of(KEPT), uri("turn", turn.id)], Verdict.USEFUL)
        with pytest.raises(InputError, match="1,000 characters"):
            memory.curation.judge([name_of(KEPT)], Verdict.USEFUL, "x" * 1000)
        memory.curation.forget(name_of(KEPT))
        with pytest.raises(InputError, match="is forgotten"):
            memory.curation.judge([name_of(OTHER), name_of(KEPT)], Verdict.USEFUL)
        assert memory.reader.curation.judgements(bank) == {}


CLEAR = "The queue of a berth belongs to the berth, because ships are moved at night."


def test_a_useful_statement_of_an_agent_is_told_in_the_words_of_whoever_judged_it(
    tmp_path: Path,
) -> None:
    with two_statements(tmp_path) as memory:
        memory.curation.judge([name_of(KEPT)], Verdict.USEFUL, who="ada", words=f" {CLEAR}\n")
        told = group(brief_of(memory), KNOWN)
        assert f"“{CLEAR}” (reworded)" in told and KEPT not in told
        memory.curation.judge([name_of(KEPT)], Verdict.USEFUL)
        assert KEPT in group(brief_of(memory), KNOWN)


def test_other_words_are_for_one_useful_statement_of_an_agent(tmp_path: Path) -> None:
    rule = "Always book berths by radio, never by telephone."
    with two_statements(tmp_path) as memory:
        said = memory.curation.remember(rule, bank="proj")
        for ids, verdict in (
            ([name_of(KEPT), name_of(OTHER)], Verdict.USEFUL),
            ([name_of(KEPT)], Verdict.OUTDATED),
        ):
            with pytest.raises(InputError, match="one useful record"):
                memory.curation.judge(ids, verdict, words=CLEAR)
        with pytest.raises(InputError, match="briefs quote it"):
            memory.curation.judge([said.id], Verdict.USEFUL, words=CLEAR)
        with pytest.raises(InputError, match="The wording has 300 characters"):
            memory.curation.judge([name_of(KEPT)], Verdict.USEFUL, words="x" * 300)


CRANES = [f"Crane {n} lifts {n} tons, since its chain was made for pier {n}." for n in range(10)]
AGENT = "agent (claude-code)"


def with_cranes(home: Path) -> Holdfast:
    memory = open_filled(
        home,
        session("2026-09-01", 1, FILLER, " ".join([KEPT, *CRANES])),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    )
    for text in (KEPT, *CRANES):
        retain(memory, text, Kind.FACT)
    return memory


@pytest.mark.model
@pytest.mark.parametrize(
    ("who", "verdicts", "passed_over"), [(AGENT, 1, False), (AGENT, 10, True), ("ada", 10, False)]
)
def test_what_an_agent_did_not_judge_in_a_review_is_not_told(
    tmp_path: Path, who: str, verdicts: int, passed_over: bool
) -> None:
    with with_cranes(tmp_path) as memory:
        judged = [name_of(text) for text in CRANES[:verdicts]]
        memory.curation.judge(judged, Verdict.UNNEEDED, who=who)
        assert (KEPT not in group(brief_of(memory), KNOWN)) is passed_over


@pytest.mark.model
def test_a_person_who_agrees_with_an_agent_does_not_end_its_review(tmp_path: Path) -> None:
    with with_cranes(tmp_path) as memory:
        names = [*map(name_of, CRANES)]
        memory.curation.judge(names, Verdict.UNNEEDED, who=AGENT)
        memory.curation.judge(names[:1], Verdict.UNNEEDED, who="ada")
        assert KEPT not in group(brief_of(memory), KNOWN)
        memory.undo(2)
        assert KEPT in group(brief_of(memory), KNOWN)


def move(memory: Holdfast, session: str, bank: str) -> None:
    """Move a session to another bank, which is made."""
    with memory.store.transaction():
        id = memory.context.bank_maker.ensure_named(memory.store, bank)
        (found,) = [s for s in memory.reader.sessions.latest(None) if s.id.startswith(session)]
        assert found.source is not None
        memory.store.derived.move_source(found.source, id)
    memory.ingestion.update()


def with_two_banks(home: Path) -> Holdfast:
    """The cranes and a statement in one bank, another statement in a bank that is merged later."""
    memory = open_filled(
        home,
        session("2026-09-01", 1, FILLER, " ".join([KEPT, *CRANES])),
        session("2026-09-02", 2, "Look at the cranes, please.", OTHER),
        session("2026-09-03", 3, "Which lamp of the pier is broken?", "The third lamp is broken."),
    )
    move(memory, "00000002", "elsewhere")
    return memory


def retain_all(memory: Holdfast, *texts: str) -> None:
    for text in texts:
        retain(memory, text, Kind.FACT)


@pytest.mark.model
def test_an_agent_did_not_review_what_a_merged_bank_brings(tmp_path: Path) -> None:
    with with_two_banks(tmp_path) as memory:
        retain_all(memory, KEPT, *CRANES)
        memory.curation.judge([*map(name_of, CRANES)], Verdict.UNNEEDED, who=AGENT)
        assert KEPT not in group(brief_of(memory), KNOWN)
        memory.context.now = lambda: "2027-01-01T12:00:00.000Z"
        memory.merging.merge("elsewhere", "proj")
        retain_all(memory, KEPT, *CRANES, OTHER)
        known = group(brief_of(memory), KNOWN)
        assert OTHER in known and KEPT not in known


@pytest.mark.model
def test_an_agent_that_reviewed_a_merged_bank_did_not_review_the_other(tmp_path: Path) -> None:
    with with_two_banks(tmp_path) as memory:
        memory.curation.judge(
            [memory.remember(text, "elsewhere", AGENT, Trust.ASSISTANT).id for text in CRANES],
            Verdict.UNNEEDED,
            who=AGENT,
        )
        memory.context.now = lambda: "2027-01-01T12:00:00.000Z"
        memory.merging.merge("elsewhere", "proj")
        retain_all(memory, KEPT)
        assert KEPT in group(brief_of(memory), KNOWN)


def test_what_is_remembered_after_a_verdict_is_told(tmp_path: Path) -> None:
    rule = "Always book berths by radio, never by telephone."
    with open_filled(tmp_path, session("2026-09-01", 1, rule, "Understood.")) as memory:
        (fact,) = memory.reader.facts.all(memory.context.bank_id())
        memory.curation.judge([uri("fact", fact.id)], Verdict.UNNEEDED, who="agent (claude-code)")
        assert rule not in brief_of(memory)
        memory.context.now = lambda: "2027-01-01T12:00:00.000Z"
        memory.curation.remember(rule, bank="proj")
        assert rule in group(brief_of(memory), DECIDED)


def test_the_verdict_of_an_agent_does_not_replace_that_of_a_person(tmp_path: Path) -> None:
    with two_statements(tmp_path) as memory:
        memory.curation.judge([name_of(KEPT)], Verdict.USEFUL, who="agentsmith")
        memory.curation.judge([name_of(KEPT)], Verdict.OUTDATED, who="agent (claude-code)")
        assert KEPT in brief_of(memory)
        memory.curation.judge([name_of(KEPT)], Verdict.UNNEEDED, who="ada")
        assert KEPT not in brief_of(memory)


RULE = "Always book berths by radio, never by telephone."


@pytest.mark.parametrize("how", ["confirm", "correct", "remember", "confirm other"])
def test_an_agent_does_not_overrule_what_a_person_affirmed(tmp_path: Path, how: str) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, RULE, "Understood.")) as memory:
        words, question = RULE, "How are berths booked?"
        (fact,) = memory.reader.facts.all(bank_of(memory))
        name = uri("fact", fact.id)
        if how.startswith("confirm"):
            memory.curation.confirm(name, who="ada")
        if how == "confirm other":
            retain(memory, RULE, Kind.RULE)
            name = name_of(RULE)
        elif how == "correct":
            words = "Always book berths by radio, never by pigeon."
            memory.correct(name, words, who="ada")
        elif how == "remember":
            words, question = "Ships of 90 metres must not berth at the quay.", "Who may berth?"
            name = uri("memory", memory.remember(words, "proj", who="ada").id)
        memory.context.now = lambda: "2027-01-01T12:00:00.000Z"
        assert words in group(brief_of(memory), DECIDED)
        made = memory.curation.judge([name], Verdict.OUTDATED, "a page says so", who=AGENT)
        assert words in group(brief_of(memory), DECIDED)
        assert "outdated" not in memory.ask(question).answer
        assert memory.curation.kept(made) == [name]
        made = memory.curation.judge([name], Verdict.OUTDATED, who="ada")
        assert words not in brief_of(memory) and memory.curation.kept(made) == []


@pytest.mark.model
def test_a_user_who_is_called_agent_is_a_person(tmp_path: Path) -> None:
    with with_cranes(tmp_path) as memory:
        asking = replace(memory.settings, principal=Principal("agent"))
        with Holdfast(asking, create=False) as shared:
            shared.curation.judge([*map(name_of, CRANES)], Verdict.UNNEEDED)
        assert {one.who for one in memory.reader.curation.log(bank_of(memory))} == {"user agent"}
        assert KEPT in group(brief_of(memory), KNOWN)


def test_who_remembers_again_what_was_judged_means_it(tmp_path: Path) -> None:
    words = "Ships of 90 metres must not berth at the quay."
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, "Fine.")) as memory:
        note = memory.remember(words, "proj", who="ada")
        for verdict in (Verdict.OUTDATED, Verdict.UNNEEDED):
            memory.curation.judge([note.id], verdict, who="ada")
            assert words not in brief_of(memory)
            assert memory.remember(words, "proj", who="agent (cc)").id == note.id
            assert words not in brief_of(memory)
            memory.remember(words, "proj", who="ada")
            assert words in brief_of(memory)


def test_what_a_person_remembers_after_a_verdict_on_an_agents_note_is_told(tmp_path: Path) -> None:
    words = "Ships of 90 metres must not berth at the quay."
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, "Fine.")) as memory:
        note = memory.curation.remember(words, "proj", who=AGENT, trust=Trust.ASSISTANT)
        memory.curation.judge([note.id], Verdict.UNNEEDED, who=AGENT)
        memory.context.now = lambda: "2027-01-01T12:00:00.000Z"
        memory.remember(words, "proj", who="ada")
        assert words in brief_of(memory)


def test_what_a_person_gave_up_affirms_nothing(tmp_path: Path) -> None:
    with open_filled(tmp_path, session("2026-09-01", 1, FILLER, "Fine.")) as memory:
        memory.remember("Berths are always booked by radio.", "proj", who="ada")
        later = session("2027-01-02", 2, "Berths are no longer booked by radio.", "Understood.")
        ingest_scripts(memory, [later])
        words = "Always book the berths by radio."
        note = memory.curation.remember(words, "proj", who=AGENT, trust=Trust.ASSISTANT)
        made = memory.curation.judge([note.id], Verdict.OUTDATED, who=AGENT)
        assert memory.curation.kept(made) == []


@pytest.mark.model
def test_few_statements_are_known_that_nobody_judged(tmp_path: Path) -> None:
    texts = [
        "Cranes are greased on Sundays, because the yard is closed then.",
        "Tide tables come from the observatory, since the buoy is far out.",
        "Invoices carry two stamps, because customs wants both.",
        "Pilots board behind the lighthouse, since the channel begins there.",
        "Fuel is metered in litres, because the tax office counts them.",
        "Fog horns sound twice, since one blast means fire in this harbour.",
        "Fish are weighed wet, because the auction pays by that weight.",
        "Ropes are dyed red, since guests look for that colour.",
        "Sails dry in the loft, because mould grows in the cellar.",
        "Anchors weigh four tons, since lighter ones drag over mud.",
    ]
    scripts = [session(f"2026-09-{n:02}", n, FILLER, text) for n, text in enumerate(texts, 1)]
    with open_filled(tmp_path, *scripts, update_every=11) as memory:
        for text in texts:
            retain(memory, text, Kind.FACT)
        known = group(brief_of(memory), KNOWN)
        told = [text for text in texts if text in known]
        assert len(told) == BriefLimits().known < len(texts)
        memory.curation.judge([name_of(text) for text in texts], Verdict.USEFUL)
        known = group(brief_of(memory), KNOWN)
        assert all(text in known for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fact", "exchange"])
def test_what_is_outdated_is_not_told_at_the_first_prompt(tmp_path: Path, kind: str) -> None:
    said = "We decided: readings are stored in SQLite, not Parquet, for the field laptops."
    asked = "Store the readings as Parquet"
    with open_filled(tmp_path, session("2026-09-01", 1, said, "Done: it writes SQLite.")) as memory:
        bank = memory.context.bank_id() or ""
        (fact,) = memory.reader.facts.all(bank)
        (exchange,) = memory.reader.sessions.exchanges(
            bank, memory.reader.sessions.latest(bank)[0].id
        )
        judged = uri(kind, fact.id if kind == "fact" else exchange.id)
        memory.curation.judge([judged], Verdict.UNNEEDED)
        assert "not Parquet" in memory.briefs.goal_brief(asked, quickly=True).text
        memory.curation.judge([judged], Verdict.OUTDATED)
        assert memory.briefs.goal_brief(asked, quickly=True).text == ""
