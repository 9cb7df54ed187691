from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.refine.core.status_reports import reports_status
from holdfast.refine.facts.decision_sentences import find_decision_sentences
from holdfast.refine.facts.directives import find_directives
from tests.support.refine_banks import open_filled_at_once, session_saying

REPORTS = """\
taking over the double alerts from ben
ada. taking over the double alerts, never saw them before
hi, it's ben, picking up the cache again, it is always cold
he ruled out second process, gateway and retries; always 60 min apart
she tried both and reverted, it never worked
ben took over the alerts, they always come in pairs""".splitlines()
LAID_DOWN = """\
Never take over a branch without asking.
taking over from ben: from now on we never send twice
he must never get two alerts for one tide
Legal ruled out cookies, we must never set them.
Rule: taking over a ticket needs a note in it.
We ruled out Kafka, never bring it back.""".splitlines()


@pytest.mark.parametrize("sentence", REPORTS)
def test_a_report_on_who_does_what_is_no_rule_and_no_decision(sentence: str) -> None:
    assert reports_status(sentence)
    assert find_directives(sentence) == []
    assert find_decision_sentences(sentence, by_person=True) == []


@pytest.mark.parametrize("sentence", LAID_DOWN)
def test_what_is_laid_down_about_somebody_is_no_report(sentence: str) -> None:
    assert not reports_status(sentence)
    assert find_decision_sentences(sentence, by_person=True)


def test_a_report_before_a_rule_is_left_out_of_it(tmp_path: Path) -> None:
    said = (
        "ada. taking over the double alerts from ben. he ruled out retries; always 60 min apart",
        "ada. taking over the dashboard. from now on charts always show UTC on the axis",
    )
    with open_filled_at_once(tmp_path, session_saying("2026-03-02", 1, *said)) as memory:
        facts = [fact.content for fact in memory.browse.facts(all=True)]
    assert facts == ["from now on charts always show UTC on the axis"]
