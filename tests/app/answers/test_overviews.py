"""Questions without a subject are answered by what is known of that kind, with citations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.answers.ask import AskOptions
from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.model.curation import Verdict
from holdfast.model.knowledge import Kind
from holdfast.model.query import Answer, Confidence, Layer
from holdfast.model.uris import uri
from holdfast.settings import Settings
from tests.brief.test_known_statements import RULE, TODO, brief_of, group, retain, session
from tests.brief.test_verdicts import name_of
from tests.support.empty_memory import with_empty_memory
from tests.support.refine_banks import open_filled_at_once
from tests.support.sample_rankings import BANK, NOW, SESSIONS
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

UTC = "UTC everywhere, local time only in what people read"
RETRY = "never retry a 4xx"
UNITS = "always put the unit in a column's name"
PHONE = "a phone number for their harbour master"


def open_at(home: Path, *, bank: str = BANK) -> Holdfast:
    settings = Settings(home=home, claude_dir=home / "claude", bank=bank, embed_model="none")
    return Holdfast(with_empty_memory(settings), now=lambda: NOW)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    with open_at(tmp_path_factory.mktemp("sample")) as memory:
        memory.ingest(memory.ingestion.find([SESSIONS]))
        yield memory


def lines(answer: Answer) -> list[str]:
    return answer.answer.splitlines()


def test_what_is_not_allowed_lists_what_people_forbade(sample: Holdfast) -> None:
    for question in ("What is not allowed?", "What must I not do?"):
        answer = sample.ask(question, BANK)
        assert [RETRY in line for line in lines(answer)] == [True], answer
        assert answer.confidence is Confidence.MEDIUM
        assert [one.uri.partition("://")[2].partition("/")[0] for one in answer.citations] == [
            "fact"
        ]


def test_rules_are_listed_with_the_latest_first(sample: Holdfast) -> None:
    found = lines(sample.ask("What are the rules here?", BANK))
    places = [next(n for n, line in enumerate(found) if text in line) for text in (UTC, UNITS)]
    assert places == sorted(places) and any(RETRY in line for line in found)


def test_decisions_include_what_replaced_another_and_not_what_was_replaced(
    sample: Holdfast,
) -> None:
    answer = sample.ask("What did we decide?", BANK)
    assert UTC in lines(answer)[0]
    assert "We no longer cache API responses in Redis" in answer.answer
    assert "We cache API responses in Redis" not in answer.answer


def test_what_is_open_lists_what_the_last_session_left(sample: Holdfast) -> None:
    answer = sample.ask("What is still open?", BANK)
    assert [PHONE in line for line in lines(answer)] == [True], answer
    assert answer.confidence is Confidence.LOW


def test_what_one_has_to_know_has_something_of_each_kind(sample: Holdfast) -> None:
    said = sample.ask("What do I have to know?", BANK).answer
    for part in (UTC, "fixed: We no longer cache API responses", PHONE):
        assert part in said


def test_a_time_limits_what_is_listed(sample: Holdfast) -> None:
    found = lines(sample.ask("What went wrong in October?", BANK))
    assert found and all("Oct 2026: " in line for line in found)
    answer = sample.ask("What went wrong last week?", BANK)
    assert answer.answer == "Not known: memory has no record of faults of that time."
    assert answer.abstained and answer.confidence is Confidence.NONE
    # All that was done is a better answer here than nothing.
    assert "A second harbour" in sample.ask("What was decided last week?", BANK).answer


def test_a_subject_is_searched_for(sample: Holdfast) -> None:
    assert lines(sample.ask("What is not allowed in column names?", BANK)) != lines(
        sample.ask("What is not allowed?", BANK)
    )
    assert sample.ask("What is not allowed in the kitchen?", BANK).abstained


def test_a_limited_question_is_searched_for(sample: Holdfast) -> None:
    options = AskOptions("What is not allowed?", BANK, layers=(Layer.RULES,))
    assert sample.answers.investigate(options).answer().abstained


def test_all_banks_are_asked_without_one(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        memory.remember("Never push to the main branch.", "shop")
        memory.remember("Never deploy on a Friday.", "mill")
        answer = memory.answers.investigate(AskOptions("What is forbidden?", ALL_BANKS)).answer()
        assert {one.bank for one in answer.citations} == {"shop", "mill"}, answer


def test_files_of_rules_and_what_people_asked_to_remember_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    (project / "CLAUDE.md").write_text(
        "# Shop\n\n## Git\n\nWork on branches. Never force-push to a shared branch.\n"
    )
    script = Script(cwd=str(project))
    script.user("Add a basket to the shop page.")
    script.assistant("The shop page has a basket now, in `basket.py`.")
    script.write(tmp_path / "claude" / "projects")
    with open_at(tmp_path, bank="") as memory:
        memory.ingest(memory.ingestion.find([]))
        bank = memory.reader.banks.all()[0].name
        memory.remember("Prices are never stored as floats.", bank)
        monkeypatch.chdir(project)
        found = lines(memory.ask("What is not allowed?"))
    assert ["floats" in found[0], "Never force-push" in found[1], len(found)] == [True, True, 2]
    assert "Work on branches" not in found[1]


def test_an_empty_bank_knows_of_nothing(tmp_path: Path) -> None:
    with open_at(tmp_path) as memory:
        memory.remember("The quay is 80 metres long.", "shop")
        answer = memory.ask("What is still open?", "shop")
    assert answer.answer == "Not known: memory has no record of open tasks."


DECIDED, OPEN = "What did we decide?", "What is still open?"
CRANES = [f"Crane {n} lifts {n} tons, since its chain was made for pier {n}." for n in range(10)]


@pytest.fixture
def reviewable(tmp_path: Path) -> Iterator[Holdfast]:
    """A memory with a decision, an open task and statements that an agent may judge."""
    scripts = (
        session("2026-09-01", 1, RULE, " ".join(CRANES)),
        session("2026-09-02", 2, "Look at the quay, please.", TODO),
    )
    with open_filled_at_once(tmp_path, *scripts) as memory:
        retain(memory, RULE, Kind.RULE)
        retain(memory, TODO, Kind.TODO)
        for text in CRANES:
            retain(memory, text, Kind.FACT)
        yield memory


def answers(memory: Holdfast) -> tuple[str, str]:
    return memory.ask(DECIDED, "proj").answer, memory.ask(OPEN, "proj").answer


def test_what_is_not_needed_at_a_start_is_listed_and_what_is_outdated_is_not(
    reviewable: Holdfast,
) -> None:
    before = answers(reviewable)
    assert RULE in before[0] and TODO in before[1]
    facts = reviewable.reader.facts.all(reviewable.context.bank_id())
    names = [name_of(RULE), name_of(TODO), *(uri("fact", one.id) for one in facts)]
    reviewable.curation.judge(names, Verdict.UNNEEDED)
    assert TODO not in brief_of(reviewable) and answers(reviewable) == before
    reviewable.curation.judge(names[:2], Verdict.OUTDATED)
    decided, left_open = answers(reviewable)
    assert RULE not in decided and TODO not in left_open


def test_a_review_by_an_agent_hides_nothing_from_a_list(reviewable: Holdfast) -> None:
    before = answers(reviewable)
    judged = [name_of(text) for text in CRANES]
    reviewable.curation.judge(judged, Verdict.UNNEEDED, who="agent (claude-code)")
    assert TODO not in group(brief_of(reviewable), "Left open") and TODO in before[1]
    assert answers(reviewable) == before
