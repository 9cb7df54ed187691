from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.query import Confidence, Hit, Layer, RetrieverReport
from holdfast.model.trust import Trust
from holdfast.research.answering.answer import answer_from_recall
from holdfast.research.answering.quoting import Quote, whole_statements
from holdfast.research.answering.request import AskRequest
from holdfast.settings import Settings
from tests.support.empty_memory import with_empty_memory
from tests.support.transcripts import Script, bug_hunt

NOW = "2026-11-01T00:00:00.000Z"


def open_with(folder: Path, *scripts: Script) -> Holdfast:
    for script in scripts:
        script.write(folder / "p")
    settings = Settings(home=folder / "home", claude_dir=folder)
    memory = Holdfast(with_empty_memory(settings), now=lambda: NOW)
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


@pytest.fixture
def reversal(tmp_path: Path) -> Iterator[Holdfast]:
    early = Script("aaaaaaaa-0000-4000-8000-000000000001")
    early.start = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    early.user("Where do we keep the session tokens?")
    early.assistant("We decided to keep the session tokens in Redis, because it expires them.")
    late = Script("bbbbbbbb-0000-4000-8000-000000000001")
    late.start = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
    late.user("Redis is gone from production.")
    late.assistant("We decided to keep the session tokens in Postgres instead of Redis.")
    with open_with(tmp_path, early, late) as memory:
        yield memory


@pytest.mark.slow
def test_each_sentence_of_an_answer_has_a_citation_that_contains_it(tmp_path: Path) -> None:
    with open_with(tmp_path, bug_hunt()) as memory:
        answer = memory.ask("What was the root cause of the doubled rows?", bank="all")
        assert "retry wrapper" in answer.answer and not answer.abstained
        for number, line in enumerate(answer.answer.split("\n"), start=1):
            assert line.endswith(f"[{number}]")
        assert answer.citations
        for citation in answer.citations:
            assert memory.show(citation.uri).raw is not None
        assert [c.number for c in answer.citations] == list(range(1, len(answer.citations) + 1))


def test_the_later_of_two_decisions_comes_first(reversal: Holdfast) -> None:
    answer = reversal.ask("Where do we keep the session tokens?", bank="all")
    first, second = answer.answer.split("\n")[:2]
    assert "Postgres" in first and first.startswith("1 Sep 2026")
    assert "in Redis, because" in second
    assert any("Several dates" in caveat for caveat in answer.caveats)


@pytest.mark.parametrize(
    ("report", "why"),
    [
        (RetrieverReport("semantic", 5000, 0, timed_out=True), "was too slow."),
        (RetrieverReport("semantic", 1, 0, problem="No model."), "failed: No model."),
    ],
)
def test_an_answer_names_a_search_by_meaning_that_gave_nothing(
    reversal: Holdfast, report: RetrieverReport, why: str
) -> None:
    question = "Where do we keep the session tokens?"
    request, found = AskRequest(None, question, lambda: NOW), reversal.recall(question, bank="all")
    whole = answer_from_recall(reversal.reader, request, found)
    assert not any("Searched by words" in caveat for caveat in whole.caveats)
    answer = answer_from_recall(reversal.reader, request, replace(found, strategies=(report,)))
    assert answer.answer == whole.answer
    assert f"Searched by words only: search by meaning {why}" in answer.caveats


@pytest.mark.slow
@pytest.mark.parametrize(("share", "is_quoted"), [(0.4, False), (0.6, True)])
def test_a_record_that_is_far_from_an_answer_does_not_pad_one(
    reversal: Holdfast, share: float, is_quoted: bool
) -> None:
    question = "Where do we keep the session tokens?"
    found = reversal.recall(question, bank="all")
    hits = [
        replace(
            hit,
            why={**hit.why, "relevance": share * hit.why["needed"]},
            score=0.8 * hit.score,
        )
        if "in Redis, because" in hit.text
        else hit
        for hit in found.hits
    ]
    request = AskRequest(None, question, lambda: NOW)
    answer = answer_from_recall(reversal.reader, request, replace(found, hits=tuple(hits)))
    assert "Postgres" in answer.answer and ("in Redis, because" in answer.answer) is is_quoted


@pytest.mark.slow
def test_a_question_is_not_its_own_answer(reversal: Holdfast) -> None:
    answer = reversal.ask("Where do we keep the session tokens?", bank="all")
    assert "Where do we keep" not in answer.answer.split("\n")[0]


@pytest.mark.slow
def test_an_unknown_subject_is_reported_plainly(reversal: Holdfast) -> None:
    answer = reversal.ask("Which charting library draws the tide tables?", bank="all")
    assert answer.abstained or answer.weak


@pytest.mark.slow
def test_what_may_be_the_answer_is_told_as_perhaps_with_its_source(tmp_path: Path) -> None:
    script = Script()
    script.user("Where do the tide tables come from?")
    script.assistant("The tide tables of the harbour come from the gauge at the north pier.")
    with open_with(tmp_path, script) as memory:
        question = "Which library draws the tide tables?"
        near = memory.ask(question, bank="all")
        nothing = memory.ask("Who maintains kubernetes?", bank="all")
        found = memory.recall(question, bank="all")
        reflected = memory.opinions.reflect(question, bank=memory.banks.all()[0].name)
    assert near.weak and near.confidence is Confidence.LOW and not near.abstained
    assert near.answer.startswith("Perhaps: ") and "north pier" in near.answer, near
    assert near.citations[0].excerpt.startswith("The tide tables of the harbour")
    assert nothing.abstained and nothing.caveats == ()
    assert nothing.answer == "Not known: memory has no record about this."
    assert found.abstained and found.hits
    assert reflected.answer == "Not known: no record clearly answers this."


def test_a_statement_does_not_end_by_announcing_what_is_left_out() -> None:
    hit = Hit(
        "holdfast://turn/1", "turn", Layer.TRANSCRIPTS, 1.0, "", "", "", "b", trust=Trust.ASSISTANT
    )
    quotes = [
        Quote(hit, "The guard is gone. `src/remediation.ts` — two changes:", 1.0, 1.0),
        Quote(hit, "Added a method; **Routes** — two changes:", 1.0, 1.0),
        Quote(hit, "The section will show:", 1.0, 1.0),
        Quote(hit, "The limit is set here: `LIMIT = 3`", 1.0, 1.0),
    ]
    assert [item.sentence for item in whole_statements(quotes)] == [
        "The guard is gone.",
        "Added a method",
        "The limit is set here: `LIMIT = 3`",
    ]
    assert whole_statements(quotes[2:3]) == quotes[2:3], "nothing else is to be had"


@pytest.mark.slow
def test_confidence_is_high_only_with_two_independent_records(tmp_path: Path) -> None:
    said = "We keep the encrypted session tokens of visitors in Postgres"
    once, again = (Script(f"{name * 8}-0000-4000-8000-000000000001") for name in "ab")
    once.user("The tokens are lost.")
    once.assistant(f"{said}, because Redis forgot them.")
    again.user("Who reads them?")
    again.assistant(f"{said}, and only the gateway reads them.")
    question = "Where do we keep the encrypted session tokens of visitors?"
    with open_with(tmp_path / "one", once) as memory:
        assert memory.ask(question, bank="all").confidence is Confidence.MEDIUM
    with open_with(tmp_path / "both", once, again) as memory:
        assert memory.ask(question, bank="all").confidence is Confidence.HIGH
        assert memory.ask("What about tokens?", bank="all").confidence is Confidence.LOW


@pytest.mark.parametrize("question", ["why why why", "what what", "And how was that?"])
def test_a_question_that_names_nothing_is_not_answered(reversal: Holdfast, question: str) -> None:
    assert reversal.ask(question, bank="all").abstained


@pytest.mark.slow
def test_a_question_for_a_time_is_answered_by_its_sessions_alone(tmp_path: Path) -> None:
    old = Script("aaaaaaaa-0000-4000-8000-000000000001")
    old.start = datetime(2026, 9, 2, 9, 0, tzinfo=UTC)
    old.user("Alerts are planned a week ahead, that is done.")
    old.assistant("Alerts are planned a week ahead, all of it is done.")
    new = Script("bbbbbbbb-0000-4000-8000-000000000001")
    new.start = datetime(2026, 10, 21, 9, 0, tzinfo=UTC)
    new.user("Skerry wants tide alerts too.")
    new.assistant("Skerry is watched from now on; all tests are done.")
    with open_with(tmp_path, old, new) as memory:
        answer = memory.ask("What was done last week?", bank="all")
        assert "Skerry" in answer.answer and "a week ahead" not in answer.answer
        assert answer.confidence is Confidence.MEDIUM
        named = memory.ask("Who was on call last week?", bank="all")
        assert named.abstained or named.weak


def test_a_list_is_quoted_with_its_announcement_and_shown_in_the_excerpt(tmp_path: Path) -> None:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    script.user("The sandbox refuses to write.")
    script.assistant(
        "I looked at the program and at its manual for a long while before I found it. "
        * 4
        + "\n\nThe valid values of the sandbox mode are:\n- `read-only` for evaluations\n"
        "- `workspace-write` where it may write\n\nNothing else changed."
    )
    with open_with(tmp_path, script) as memory:
        answer = memory.ask("Which values has the sandbox mode?", bank="all")
        assert "are: `read-only` for evaluations; `workspace-write` where" in answer.answer
        assert any("- `workspace-write`" in citation.excerpt for citation in answer.citations)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Gemini", "tcsh", "S3"])
def test_a_name_that_nobody_mentioned_is_told_and_lowers_confidence(
    reversal: Holdfast, name: str
) -> None:
    known = reversal.ask("Do we keep the session tokens in Postgres?", bank="all")
    assert known.confidence is not Confidence.LOW
    other = reversal.ask(f"Do we keep the session tokens in Redis or in {name}?", bank="all")
    assert other.confidence is Confidence.LOW
    assert other.caveats[0] == f"Nothing in memory mentions {name}."
    assert not any("mentions" in caveat for caveat in known.caveats)


def test_old_evidence_is_marked_as_old(tmp_path: Path) -> None:
    old = Script("cccccccc-0000-4000-8000-000000000001")
    old.start = datetime(2025, 1, 1, tzinfo=UTC)
    old.user("Remember: the staging password rotates on Mondays")
    with open_with(tmp_path, old) as memory:
        answer = memory.ask("when does the staging password rotate", bank="all")
    assert any("days old" in caveat for caveat in answer.caveats)
    assert "One source only." in answer.caveats


@pytest.mark.slow
def test_old_words_that_were_corrected_today_are_not_old(tmp_path: Path) -> None:
    old = Script("cccccccc-0000-4000-8000-000000000002")
    old.start = datetime(2025, 1, 1, tzinfo=UTC)
    old.user("From now on the staging password always rotates on Mondays.")
    old.assistant("Understood.")
    with open_with(tmp_path, old) as memory:
        (fact,) = memory.browse.facts("all")
        memory.correct(f"fact/{fact.id}", "The staging password rotates on Fridays.", who="ada")
        answer = memory.ask("when does the staging password rotate", bank="all")
    assert "Fridays" in answer.answer
    assert not any("days old" in caveat for caveat in answer.caveats)


def test_external_text_is_marked_as_external(tmp_path: Path) -> None:
    script = Script("dddddddd-0000-4000-8000-000000000001")
    script.tool("WebFetch", "ok", url="https://example.com/zebra", prompt="zebra stripe count")
    with open_with(tmp_path, script) as memory:
        answer = memory.ask("output of the zebra stripe count", bank="all")
    assert any("outside the project" in caveat for caveat in answer.caveats)


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("Which heron depot stores the spare anchors?", False),
        ("What was the output for the spare anchors of the heron depot?", True),
        ("Which command lists the spare anchors of the heron depot?", True),
        ("Who keeps the spare anchors of heron_depot.csv?", True),
    ],
)
def test_output_of_tools_is_evidence_only_where_it_is_asked_for(
    tmp_path: Path, question: str, is_answered: bool
) -> None:
    script = Script("eeeeeeee-0000-4000-8000-000000000001")
    script.user("The mailer is slow.")
    script.tool(
        "Bash", "ok", command="python list.py --spare anchors heron_depot.csv # heron depot"
    )
    script.assistant("The mailer waits for the name server.")
    with open_with(tmp_path, script) as memory:
        assert memory.recall(question, bank="all").hits
        assert memory.ask(question, bank="all").abstained is not is_answered


def test_a_citation_links_to_its_page(reversal: Holdfast) -> None:
    answer = reversal.ask("Where do we keep the session tokens?", bank="all")
    for citation in answer.citations:
        assert citation.browse_url.startswith("/sessions/")
        if not citation.uri.startswith("holdfast://digest"):
            assert "#msg-" in citation.browse_url


@pytest.mark.slow
def test_a_question_about_the_latest_work_is_answered_by_the_latest_digests(tmp_path: Path) -> None:
    early = Script("dddddddd-0000-4000-8000-000000000001")
    early.start = datetime(2026, 5, 1, tzinfo=UTC)
    early.user("Please paint the lighthouse door red")
    early.assistant("The lighthouse door is red now, with two coats of paint.")
    late = Script("dddddddd-0000-4000-8000-000000000002")
    late.start = datetime(2026, 6, 1, tzinfo=UTC)
    late.user("Please oil the hinges of the lighthouse door")
    late.assistant("The hinges are oiled. Next step: the lock still needs graphite.")
    with Holdfast(with_empty_memory(Settings(home=tmp_path / "h", claude_dir=tmp_path))) as memory:
        memory.ingest(memory.ingestion.find([early.write(tmp_path), late.write(tmp_path)]))
        answer = memory.ask("what was I working on?", bank="all")
    first, second = answer.answer.split("\n")[:2]
    assert first.startswith("1 Jun 2026") and "hinges" in first
    assert ". Next step: the lock still needs graphite. [1]" in first
    assert second.startswith("1 May 2026") and "Paint the lighthouse door red" in second
    assert not answer.abstained and answer.citations[0].uri.startswith("holdfast://digest/")


@pytest.mark.slow
def test_what_was_done_is_told_by_its_outcome_and_not_by_what_was_said_on_the_way(
    tmp_path: Path,
) -> None:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    script.user("Add support for cursor rules to the scanner.")
    script.assistant("**Step 4: Prompt generator - add cursor support**")
    script.tool("Edit", "ok", file_path="/home/dev/project/scan.py", new_string="x")
    script.assistant(
        "The scanner reads `.cursor/rules` and knows three kinds of cursor rules by their front "
        "matter. All 12 tests of the cursor support pass."
    )
    script.user("Commit the cursor support.")
    script.assistant(
        "There are other changes that are no part of the cursor support. Let me only stage the "
        "files of the cursor support:"
    )
    script.tool("Bash", "ok", command="git add scan.py && git commit -m 'Add cursor support'")
    script.assistant("Committed as `28c3bbd`. All 12 tests of the cursor support pass.")
    with open_with(tmp_path, script) as memory:
        answer = memory.ask("What was done for cursor support?", bank="all")
    first = answer.answer.split("\n")[0]
    assert "reads `.cursor/rules`" in first
    for narrated in ("Let me", "Step 4", "28c3bbd"):
        assert narrated not in answer.answer


@pytest.mark.slow
def test_a_report_is_quoted_where_a_question_asks_for_it(tmp_path: Path) -> None:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    script.user("Add support for cursor rules to the scanner.")
    script.assistant("The scanner reads cursor rules. All 12 tests of the cursor rules pass.")
    with open_with(tmp_path, script) as memory:
        answer = memory.ask("Do the tests of the cursor rules pass?", bank="all")
    assert "All 12 tests of the cursor rules pass." in answer.answer


@pytest.mark.slow
def test_two_records_that_give_the_same_reason_are_no_less_sure_than_one(tmp_path: Path) -> None:
    once, again = (Script(f"{name * 8}-0000-4000-8000-000000000001") for name in "ab")
    once.user("Which one is it?")
    once.assistant("We chose SQLite over Postgres because only one process writes.")
    again.user("Is that still good enough?")
    again.assistant("SQLite stays, and not Postgres, because it is still one process that writes.")
    mention = Script("cccccccc-0000-4000-8000-000000000001")
    mention.user("Which ones are there?")
    mention.assistant("There are SQLite and Postgres.")
    other = Script("dddddddd-0000-4000-8000-000000000001")
    other.user("What is in the list?")
    other.assistant("Postgres and SQLite are in the list of databases.")
    question = "Why SQLite and not Postgres?"
    with open_with(tmp_path / "both", once, again) as memory:
        assert memory.ask(question, bank="all").confidence is Confidence.MEDIUM
    with open_with(tmp_path / "mentions", mention, other) as memory:
        assert memory.ask(question, bank="all").confidence is Confidence.LOW


def test_a_word_that_only_the_path_of_a_folder_has_is_no_answer(tmp_path: Path) -> None:
    script = Script("cccccccc-0000-4000-8000-000000000001")
    script.user(
        "You check the berths after the others. You work ONLY in /home/dev/projects/harbour/src "
        "and in no other folder. Wait until the others have finished their berths."
    )
    script.assistant(
        "In /home/dev/projects/harbour/src the others did not finish their berths yet."
    )
    with open_with(tmp_path, script) as memory:
        answer = memory.ask("What is this project about?", bank="all")
        assert answer.abstained and "/home/dev/projects" not in answer.answer
        assert not memory.ask("What do the others finish with their berths?", bank="all").abstained
