from __future__ import annotations

import pytest

from holdfast.model.curation import (
    Action,
    Curation,
    Judgement,
    Verdict,
    in_effect,
    is_agent,
    judgements,
    person_name,
    read_judgement,
    verdict_text,
)

RECORD = "holdfast://memory/1"
AGENT = "agent (claude-code)"


def entry(
    seq: int, action: Action, text: str = "", target: str = RECORD, who: str = "ada"
) -> Curation:
    return Curation(seq, "bank", f"2026-05-0{seq}", action, target, text, who)


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("why", ["", "the cache was removed: see `cache.py`"])
def test_a_verdict_and_its_reason_are_read_from_the_log_as_they_were_written(
    verdict: Verdict, why: str
) -> None:
    made = entry(1, Action.JUDGE, verdict_text(verdict, why))
    assert read_judgement(made) == Judgement(verdict, "2026-05-01", "ada", why)


def test_other_decisions_and_erased_texts_have_no_verdict() -> None:
    assert read_judgement(entry(1, Action.CORRECT, "useful")) is None
    assert read_judgement(entry(1, Action.JUDGE, "")) is None


def test_the_latest_verdict_counts_until_it_is_undone() -> None:
    log = [entry(1, Action.JUDGE, "useful"), entry(2, Action.JUDGE, "outdated: gone")]
    assert judgements(in_effect(log))[RECORD].verdict is Verdict.OUTDATED
    log.append(entry(3, Action.UNDO, target="2"))
    assert judgements(in_effect(log))[RECORD].verdict is Verdict.USEFUL
    log.append(entry(4, Action.UNDO, target="1"))
    assert judgements(in_effect(log)) == {}


@pytest.mark.parametrize("verdict", Verdict)
def test_a_later_correction_ends_a_verdict_and_an_earlier_one_does_not(verdict: Verdict) -> None:
    judged, corrected = entry(1, Action.JUDGE, verdict.value), entry(2, Action.CORRECT, "new words")
    assert judgements([judged, corrected]) == {}
    assert judgements([corrected, judged])[RECORD].verdict is verdict
    undone = [judged, corrected, entry(3, Action.UNDO, target="2")]
    assert judgements(in_effect(undone))[RECORD].verdict is verdict


def test_who_confirms_a_record_says_that_it_is_not_outdated() -> None:
    confirmed = entry(2, Action.CONFIRM)
    assert judgements([entry(1, Action.JUDGE, "outdated"), confirmed]) == {}
    for verdict in (Verdict.USEFUL, Verdict.UNNEEDED):
        kept = judgements([entry(1, Action.JUDGE, verdict.value), confirmed])
        assert kept[RECORD].verdict is verdict


@pytest.mark.parametrize("action", [Action.REMEMBER, Action.CORRECT, Action.CONFIRM])
def test_the_verdict_of_an_agent_does_not_count_after_what_a_person_decided(action: Action) -> None:
    decided, agents = entry(1, action, "words"), entry(2, Action.JUDGE, "outdated", who=AGENT)
    assert judgements([decided, agents]) == {}
    assert judgements([decided, entry(2, Action.JUDGE, "outdated")]) != {}
    undone = [decided, agents, entry(3, Action.UNDO, target="1")]
    assert judgements(in_effect(undone))[RECORD].who == AGENT
    by_agent = [entry(1, action, "words", who=AGENT), agents]
    assert judgements(by_agent)[RECORD].who == AGENT


@pytest.mark.parametrize("name", ["agent", "agent (claude-code)", "agent (http)"])
def test_a_person_with_the_name_of_an_agent_is_not_taken_for_one(name: str) -> None:
    assert is_agent(name) and not is_agent(person_name(name))
    assert person_name("agentsmith") == "agentsmith" and not is_agent("agentsmith")
