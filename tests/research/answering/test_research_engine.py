"""Research until confident: what several records say together is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.memory import Holdfast
from holdfast.model.query import Answer, Confidence, Layer, RecallResult
from holdfast.model.research import ResearchEvent, ResearchStage
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.research.answering.engine import EFFORTS, InvestigationInputs, investigate
from holdfast.research.answering.evidence import may_answer
from holdfast.research.answering.evidence_chains import Link
from holdfast.research.answering.fixed_states import LEAD
from holdfast.research.answering.next_queries import LeadLimits, find_bridges
from holdfast.research.answering.request import AskRequest
from tests.support.prepared_home import PreparedHome
from tests.support.recall_bank import open_home, open_with_sessions, talk
from tests.support.transcripts import Script

pytestmark = pytest.mark.slow

OTHERS = tuple(
    (
        f"2026-0{1 + n % 8}-1{n % 9}",
        f"Please look after the {thing}.",
        f"{who} wrote the {thing}; its tests run on the build host without warnings.",
    )
    for n, (who, thing) in enumerate(
        [
            ("Olga", "scheduler"), ("Tariq", "renderer"), ("Ines", "uploader"),
            ("Jonas", "watcher"), ("Priya", "indexer"), ("Felix", "exporter"),
        ]
    )
)  # fmt: skip
WHO = ("2026-03-02", "Who takes the mailer?", "Maria wrote the mailer; it is called tidegauge.")
WHERE = (
    "2026-05-20",
    "The old machine goes away on Monday.",
    "Then tidegauge runs on host heron-04 from Monday on.",
)
ASKED = "On which host does the mailer that Maria wrote run?"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> PreparedHome:
    said = [talk(n, *session) for n, session in enumerate((WHO, WHERE, *OTHERS), start=1)]
    return PreparedHome(
        tmp_path_factory.mktemp("prepared"),
        lambda folder: open_with_sessions(folder, *said).close(),
    )


@pytest.fixture
def memory(prepared: PreparedHome) -> Iterator[Holdfast]:
    with open_home(prepared.fresh()) as memory:
        yield memory


def events(memory: Holdfast, question: str, budget: Budget = Budget.MID) -> list[ResearchEvent]:
    return list(steps(memory.context, memory.search, AskOptions(question, "all", budget=budget)))


def test_a_fact_that_needs_two_records_is_found_by_a_follow_up_search(memory: Holdfast) -> None:
    assert "heron" not in memory.ask(ASKED, "all", budget=Budget.LOW).answer
    answer = memory.ask(ASKED, "all")
    first, second, *_ = answer.answer.split("\n")
    assert "Maria wrote the mailer" in first and first.endswith("[1]")
    assert "heron-04" in second and second.endswith("[2]")
    assert answer.confidence is Confidence.MEDIUM
    assert any("linked by “tidegauge”" in caveat for caveat in answer.caveats)
    assert all(memory.show(c.uri).raw is not None for c in answer.citations)


def test_a_linked_record_of_what_was_changed_since_is_marked(tmp_path: Path) -> None:
    where = talk(9, *WHERE[:2], "Then tidegauge runs on host heron-04 and fails at midnight.")
    where.user("please change that")
    where.tool("Edit", "ok", file_path="/home/dev/proj/gauge.py", old_string="a", new_string="b")
    where.assistant("I moved it, so that nothing fails at midnight.")
    said = [talk(n, *session) for n, session in enumerate((WHO, *OTHERS), start=1)]
    with open_with_sessions(tmp_path, where, *said) as memory:
        answer = memory.ask(ASKED, "all")
    first, second = answer.answer.split("\n")
    assert LEAD not in first and f"{LEAD}Then tidegauge runs on host heron-04" in second
    assert any("[1] and [2] are linked by “tidegauge”" in caveat for caveat in answer.caveats)


def test_every_step_is_reported_and_the_last_has_the_answer(memory: Holdfast) -> None:
    told = events(memory, ASKED)
    stages = [event.stage for event in told]
    assert stages[:4] == [
        ResearchStage.PLANNED,
        ResearchStage.SEARCHING,
        ResearchStage.FOUND,
        ResearchStage.READING,
    ]
    assert stages[-1] is ResearchStage.DONE and told[-1].answer is not None
    assert all(event.answer is None for event in told[:-1])
    assert max(event.round for event in told) == 2
    assert any("tidegauge" in event.query for event in told if event.round == 2)


@pytest.mark.parametrize(
    "question",
    [
        "On which host does the indexer that Maria wrote run?",
        "On which host does the mailer that Wilhelmina wrote run?",
        "Which licence does the mailer that Maria wrote have?",
        "On which floor does the mailer that Maria wrote run?",
    ],
)
def test_further_rounds_do_not_turn_an_abstention_into_an_answer(
    memory: Holdfast, question: str
) -> None:
    first = memory.ask(question, "all", budget=Budget.LOW)
    whole = memory.ask(question, "all", budget=Budget.HIGH)
    assert "heron" not in whole.answer
    assert (whole.abstained, whole.confidence) == (first.abstained, first.confidence)


def test_a_good_first_answer_ends_the_investigation(memory: Holdfast) -> None:
    question = "Where does tidegauge run from Monday on?"
    told = events(memory, question)
    assert [event.stage for event in told if event.stage is ResearchStage.SEARCHING] == [
        ResearchStage.SEARCHING
    ]
    first = memory.ask(question, "all", budget=Budget.LOW)
    assert told[-1].answer is not None
    assert told[-1].answer.answer == first.answer and "heron-04" in first.answer


def test_three_records_form_a_chain(tmp_path: Path) -> None:
    port = ("2026-06-01", "Open the firewall.", "Done: heron-04 has its gate at socket 7431.")
    said = [talk(n, *s) for n, s in enumerate((WHO, WHERE, port, *OTHERS), start=1)]
    question = "Which gate socket has the host on which the mailer that Maria wrote runs?"
    with open_with_sessions(tmp_path, *said) as memory:

        def search(query: str) -> RecallResult:
            plan = RecallPlan(limit=50, include_repeats=True)
            return memory.search.recall_with_plan(query, "all", plan)

        # Three rounds take longer than the time they have on a busy machine, so the clock stands.
        request, effort = AskRequest(None, question, memory.now), EFFORTS[Budget.MID]
        inputs = InvestigationInputs(memory.reader, request, search, effort, clock=lambda: 0.0)
        *_, done = investigate(inputs)
    assert done.answer is not None and "7431" in done.answer.answer
    assert len(done.answer.citations) >= 3


def test_forgotten_records_are_not_used_as_links(memory: Holdfast) -> None:
    cited = memory.ask(ASKED, "all").citations
    memory.forget(cited[1].uri)
    assert "heron" not in memory.ask(ASKED, "all").answer


def test_an_as_of_date_leaves_out_later_records(memory: Holdfast) -> None:
    assert "heron" not in memory.ask(ASKED, "all", as_of="2026-04-01T00:00:00.000Z").answer
    assert "heron" in memory.ask(ASKED, "all", as_of="2026-07-01T00:00:00.000Z").answer


def test_distant_parts_of_one_session_are_combined(tmp_path: Path) -> None:
    long = talk(
        1, "2026-03-02", "The ferry timetable is printed twice now.", "I look into it.",
        "Please also rename the harbour table.", "Renamed.", "And the crane list?", "Sorted.",
        "What was it?", "The spooler restarted because its watchdog bites after nine seconds.",
    )  # fmt: skip
    said = [talk(n, *s) for n, s in enumerate(OTHERS, start=2)]
    with open_with_sessions(tmp_path, long, *said) as memory:
        question = (
            "Which watchdog restarted the spooler when the ferry timetable was printed twice?"
        )
        answer = memory.ask(question, "all")
        assert "nine seconds" in answer.answer and "printed twice" in answer.answer


def test_a_record_that_answers_alone_is_used_though_the_first_search_missed_it(
    tmp_path: Path,
) -> None:
    whole = "Maria wrote the mailer tidegauge, and it does run on host heron-04."
    later, before = ("2026-05-20", "Where is it now?", whole), "2026-04-01T00:00:00.000Z"
    said = [talk(n, *s) for n, s in enumerate((WHO, later, *OTHERS), start=1)]
    with open_with_sessions(tmp_path, *said) as memory:

        def search(query: str) -> RecallResult:
            return memory.search.recall_with_plan(query, "all", RecallPlan(limit=25, as_of=before))

        inputs = InvestigationInputs(
            memory.reader, AskRequest(None, ASKED, memory.now), search, EFFORTS[Budget.MID]
        )
        assert not any("heron" in hit.text for hit in search(ASKED).hits)
        *_, done = investigate(inputs)
    assert done.answer is not None and "heron-04" in done.answer.answer
    assert "linked by" not in " ".join(done.answer.caveats)


def test_the_first_answer_is_returned_when_the_time_is_up(memory: Holdfast) -> None:
    clock = iter(range(0, 1000, 10))
    way = AskRequest(None, ASKED, memory.now)

    def search(query: str) -> RecallResult:
        return memory.recall(query, "all", limit=25)

    ground = InvestigationInputs(
        memory.reader, way, search, EFFORTS[Budget.MID], clock=lambda: float(next(clock))
    )
    told = list(investigate(ground))
    assert {event.round for event in told} == {1} and told[-1].stage is ResearchStage.DONE


@pytest.mark.parametrize("question", ["🙂🙂🙂", "?", "the of and", "x" * 1_000_000, "\ud800 \x00"])
def test_any_text_is_answered_or_rejected_in_time(memory: Holdfast, question: str) -> None:
    answer = memory.ask(question, "all", budget=Budget.HIGH)
    assert answer.abstained or answer.citations


def test_a_plain_word_that_several_records_have_links_nothing(tmp_path: Path) -> None:
    script = Script("aaaaaaaa-0000-4000-8000-000000000001")
    for berth in range(200):
        script.user(f"Berth {berth} is free.")
        shelf = " Its shelf is red." if berth < 3 else ""
        script.assistant(f"Crew {berth} swept it; the log is in gauge_{berth % 100}.{shelf}")
    with open_with_sessions(tmp_path, script, embed_model="none") as memory:
        (shelves,) = memory.reader.passages.term_frequencies(None, ["shelf"], 100)
        passages = memory.reader.passages.count(None, 10_000)
        assert LeadLimits().min_allowed < shelves <= LeadLimits().max_share * passages
        hit = memory.recall("Crew 3 swept it", "all").hits[0]
        plain = Link(hit, "Its shelf is red.", frozenset())
        assert "shelf" not in find_bridges(memory.reader, plain, [])
        named = Link(hit, "The log is in gauge_3.", frozenset())
        assert "gauge_3" in find_bridges(memory.reader, named, [])


def test_a_chain_replaces_an_answer_only_if_it_has_its_first_citation(tmp_path: Path) -> None:
    bare = ("2026-03-03", "Who takes the harbour?", "Maria wrote of the harbour host; she runs it.")
    said = [talk(n, *s) for n, s in enumerate((WHO, WHERE, bare, *OTHERS), start=1)]
    with open_with_sessions(tmp_path, *said) as memory:
        plan = RecallPlan((Layer.TRANSCRIPTS,), limit=25)
        found = memory.search.recall_with_plan(ASKED, "all", plan)
        best = next(hit for hit in found.hits if "harbour host" in hit.text)
        rest = [hit for hit in found.hits if hit.uri != best.uri]
        led = replace(found, hits=(replace(best, score=9.0), *rest))

        def ask(result: RecallResult) -> Answer:
            def search(_: str) -> RecallResult:
                return result

            request = AskRequest(None, ASKED, memory.now)
            inputs = InvestigationInputs(memory.reader, request, search, EFFORTS[Budget.MID])
            *_, done = investigate(inputs)
            assert done.answer is not None
            return done.answer

        assert "heron-04" in ask(found).answer
        other = ask(led)
        assert other.citations[0].uri == best.uri
        assert "linked by" not in " ".join(other.caveats)


def test_the_output_of_tools_is_followed_only_where_it_is_asked_for(tmp_path: Path) -> None:
    moved = Script("eeeeeeee-0000-4000-8000-000000000001")
    moved.user("The old machine goes away on Monday.")
    command = "deploy tidegauge --to heron-04 # tidegauge lives on host heron-04"
    moved.tool("Bash", "tidegauge lives on host heron-04", command=command)
    moved.assistant("Done.")
    said = [talk(n, *s) for n, s in enumerate((WHO, *OTHERS), start=1)]
    question = "On which host does the mailer that Maria wrote live?"
    with open_with_sessions(tmp_path, *said, moved) as memory:
        hits = memory.recall("deploy tidegauge heron-04", "all").hits
        output = next(hit for hit in hits if "→" in hit.text)
        told = events(memory, question)
        assert max(event.round for event in told) == 2
        assert not any(output.uri in event.uris for event in told)
        assert not may_answer(output, question)
        assert may_answer(output, "Which command moved the mailer that Maria wrote?")
