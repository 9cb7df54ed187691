"""Decisions dug up from a history made with real git, and the sessions that made it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.query import Answer, Citation, Confidence, Layer
from holdfast.recall.query.terms import read_terms
from holdfast.research.answering.evidence_chains import Chain, Link
from holdfast.research.answering.next_queries import MADE_IN, find_leads, follow_lead
from holdfast.research.answering.request import AskRequest
from holdfast.research.history.git_answers import HistoryAnswers
from holdfast.research.history.question_kinds import (
    HistoryQuestion,
    QuestionKind,
    read_history_question,
)
from tests.research.history.test_expertise import ANN, BEN, History
from tests.support.recall_bank import talk

NO_REASON = "None of these records gives a reason in so many words."
OTHER_REASON = "The reason that is given may be for something else."


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path)
    made.commit(ANN, "2024-03-01", "Add the ferry timetable parser", "src/ferry.py", 20)
    made.commit(BEN, "2024-06-01", "Cache tide tables in memory", "src/tides.py", 10)
    made.git(ANN, "2024-06-09", "revert", "--no-edit", "HEAD")
    made.commit(BEN, "2025-02-01", "Parse ferry timetables by column", "src/ferry.py", 30)
    review = "Fix the crane crash\n\nThe hook swung back because the brake was late.\n\n"
    made.commit(ANN, "2025-05-05", review + f"Reviewed-by: {BEN[0]} <{BEN[1]}>", "src/crane.py", 5)
    made.memory.ingestion.ingest_git(made.top, "harbour")
    yield made
    made.memory.close()


def ask(history: History, question: str) -> Answer:
    return history.memory.ask(question)


@pytest.mark.parametrize(
    ("question", "dig"),
    [
        (
            "Was the tide cache ever reverted?",
            HistoryQuestion(QuestionKind.REVERTED, "tide cache", "reverted"),
        ),
        (
            "did we ever roll back the new parser?",
            HistoryQuestion(QuestionKind.REVERTED, "new parser", "roll back"),
        ),
        (
            "And who reverted the tide cache?",
            HistoryQuestion(QuestionKind.REVERTED, "tide cache", "reverted"),
        ),
        ("Who knows about payments?", HistoryQuestion(QuestionKind.KNOWS, "payments")),
        (
            "who reviewed the crane fix",
            HistoryQuestion(QuestionKind.REVIEWED, "crane fix", "reviewed"),
        ),
        ("Who decided on SQLite?", HistoryQuestion(QuestionKind.DECIDED, "SQLite", "decided")),
        (
            "When was src/ferry.py added?",
            HistoryQuestion(QuestionKind.FIRST, "src/ferry.py", "added"),
        ),
        ("since when do we use uv", HistoryQuestion(QuestionKind.FIRST, "uv")),
        (
            "When did we last touch src/a.py?",
            HistoryQuestion(QuestionKind.LAST, "src/a.py", "touch"),
        ),
        ("when was the parser removed?", HistoryQuestion(QuestionKind.LAST, "parser", "removed")),
        (
            "What changed in src/ since March?",
            HistoryQuestion(QuestionKind.CHANGES, "src/ since March"),
        ),
        ("Why did we drop Redis?", HistoryQuestion(QuestionKind.WHY, "did we drop Redis")),
        ("How do engagements work?", None),
        ("What was the root cause of the doubled rows?", None),
        ("Where do we keep the session tokens?", None),
        ("🙂", None),
    ],
)
def test_the_form_of_a_question_decides_what_history_is_searched(
    question: str, dig: HistoryQuestion | None
) -> None:
    assert read_history_question(question) == dig


def test_a_revert_is_answered_with_both_commits(history: History) -> None:
    answer = ask(history, "Was caching the tide tables ever reverted?")
    first, second = answer.answer.split("\n")
    assert "was reverted: Cache tide tables in memory (Ben Wu)" in first
    assert "the revert: " in second and "Ann Ex" in second and second.startswith("9 Jun 2024")
    assert answer.confidence is Confidence.HIGH
    assert all(citation.uri.startswith("holdfast://commit/") for citation in answer.citations)


def test_an_unreverted_change_is_reported_with_a_caveat(history: History) -> None:
    answer = ask(history, "Was the ferry timetable parser ever reverted?")
    assert "not reverted, according to the history" in answer.answer
    assert answer.confidence is Confidence.MEDIUM
    assert any("by hand" in caveat for caveat in answer.caveats)


def test_a_revert_of_an_unknown_change_is_not_answered(history: History) -> None:
    assert ask(history, "Was the GraphQL gateway ever reverted?").abstained


def test_a_revert_after_the_as_of_date_is_ignored(history: History) -> None:
    question = "Was caching the tide tables ever reverted?"
    answer = history.memory.ask(question, as_of="2024-06-05T00:00:00.000Z")
    assert "was reverted: " not in answer.answer


def test_who_knows_is_answered_by_people_with_their_commits(history: History) -> None:
    answer = ask(history, "Who knows about the ferry timetables?")
    assert "Ben Wu <ben@x.org>" in answer.answer and "commit" in answer.answer
    assert answer.citations[0].uri.startswith("holdfast://commit/")
    assert ask(history, "Who knows about Kubernetes operators?").abstained


def test_who_reviewed_is_answered_by_reviewers(history: History) -> None:
    (line,) = ask(history, "Who reviewed the crane crash fix?").answer.split("\n")
    assert "Ben Wu" in line and "1 review" in line


def test_the_first_and_last_change_of_a_file_are_answered(history: History) -> None:
    first = ask(history, "When was src/ferry.py introduced?")
    assert first.answer.startswith("1 Mar 2024: first: Add the ferry timetable parser (Ann Ex")
    last = ask(history, "When did we last change src/ferry.py?")
    assert last.answer.startswith("1 Feb 2025: last: Parse ferry timetables by column")
    assert first.confidence is last.confidence is Confidence.HIGH


def test_what_only_the_words_of_one_message_say_is_of_medium_confidence(history: History) -> None:
    answer = ask(history, "When was the crane crash fixed?")
    assert "Fix the crane crash" in answer.answer
    assert answer.confidence is Confidence.MEDIUM


def test_changes_of_a_file_since_a_day_are_answered(history: History) -> None:
    whole = ask(history, "What changed in src/ferry.py?")
    assert len(whole.citations) == 2 and any("2 commits by 2 people" in c for c in whole.caveats)
    since = ask(history, "What changed in src/ferry.py since January 2025?")
    assert [line[:10] for line in since.answer.split("\n")] == ["1 Feb 2025"]


def test_a_reason_in_a_commit_message_is_quoted(history: History) -> None:
    answer = ask(history, "Why did we fix the crane crash?")
    assert "because the brake was late" in answer.answer


def test_a_reason_that_only_the_session_states_is_found_through_the_commit(tmp_path: Path) -> None:
    made = History(tmp_path)
    sha = made.commit_id(BEN, "2026-04-02", "Switch the pager to syslog", "src/pager.py", 9)
    session = talk(
        7, "2026-04-02", "Every alert costs a call to the vendor, so that must stop.", "I see.",
        cwd=str(made.top),
    )  # fmt: skip
    session.tool("Bash", f"[main {sha[:7]}] Switch the pager to syslog\n 1 file changed",
                 command='git commit -m "Switch the pager to syslog"')  # fmt: skip
    session.user("Thanks, it was done because the vendor raised the price of every alert.")
    session.write(tmp_path / "p")
    with made.memory as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"], "harbour"))
        memory.ingestion.ingest_git(made.top, "harbour")
        assert memory.reader.git.authorship(memory.context.bank_id() or "", commit=sha)
        answer = memory.ask("Why did we switch the pager to syslog?")
    cited = [citation.uri for citation in answer.citations]
    assert "vendor" in answer.answer and any("holdfast://commit/" in uri for uri in cited)


@pytest.mark.parametrize(
    ("said", "is_reason"),
    [
        ("The failures are all from `tmp/clones`, a leftover of the last evaluation.", True),
        ("What was wrong: the runner picks up every folder with tests in it.", True),
        ("It was the third time on that day, and the fifth in the same week.", False),
    ],
)
def test_a_why_is_answered_by_a_reason_beside_what_was_asked(
    tmp_path: Path, said: str, is_reason: bool
) -> None:
    made = History(tmp_path)
    reply = f"The commit was blocked by the hook of the harbour. {said}"
    talk(1, "2026-03-01", "The hook complains.", reply, cwd=str(made.top)).write(tmp_path / "p")
    with made.memory as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"], "harbour"))
        answer = memory.ask("Why was the commit blocked by the hook of the harbour?")
    assert not answer.abstained
    assert (NO_REASON in answer.caveats) is not is_reason


@pytest.mark.parametrize(
    "said",
    [
        "The crane hook fails because the runner picks up every folder.",
        "The failing crane hook is caused by a stale clone.",
        "Bug 1 — the crane hook: it only handled `main`, everything else failed.",
        "The crane hook failed on every other branch. Fixed by adding the missing case.",
        "Der crane hook failed, weil der alte Klon noch da war.",
    ],
)
def test_no_note_denies_a_reason_that_is_quoted(history: History, said: str) -> None:
    question = "Why did the crane hook fail with hundreds of errors that are foreign?"
    assert not {NO_REASON, OTHER_REASON} & set(_noted(history, question, said).caveats)


def test_a_reason_for_something_else_is_noted_as_one(history: History) -> None:
    said = "The crane hook swung back because the brake was late."
    noted = _noted(history, "Why do we parse ferry timetables by column?", said)
    assert OTHER_REASON in noted.caveats and NO_REASON not in noted.caveats
    noted = _noted(history, "Why did the crane hook fail?", "The crane hook failed in May.")
    assert NO_REASON in noted.caveats


def _noted(history: History, question: str, said: str) -> Answer:
    """An answer that quotes this, with what is noted of its reason."""
    memory = history.memory
    bank = memory.context.bank_id()
    answer = Answer(
        question,
        f"{said} [1]",
        Confidence.MEDIUM,
        abstained=False,
        source="transcripts",
        citations=(Citation(1, "holdfast://turn/0a", Layer.TRANSCRIPTS, said, ""),),
    )
    request = AskRequest(bank, question, memory.now)
    return HistoryAnswers(memory.reader, request).mark_missing_reason(answer)


def test_a_question_who_decided_names_the_speaker(tmp_path: Path) -> None:
    made = History(tmp_path)
    talk(1, "2026-03-01", "We decided to keep the tide tables in SQLite.", "Noted.",
         cwd=str(made.top)).write(tmp_path / "p")  # fmt: skip
    with made.memory as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"], "harbour"))
        answer = memory.ask("Who decided on SQLite for the tide tables?")
    assert answer.answer.startswith("1 Mar 2026: the user: We decided to keep the tide tables")


def test_a_team_query_returns_an_answer_records_and_people(history: History) -> None:
    found = history.memory.answers.team_query("What changed in src/ferry.py?", limit=1)
    assert found.answer.answer.startswith("1 Feb 2025") and len(found.answer.citations) == 1
    assert len(found.evidence) <= 1 and {p.name for p in found.people} == {"Ann Ex", "Ben Wu"}
    nothing = history.memory.answers.team_query("Which charting library draws the graphs?")
    assert nothing.answer.abstained and nothing.people == ()


def test_an_answer_names_the_pattern_it_supports(tmp_path: Path) -> None:
    made = History(tmp_path)
    for number in (1, 2, 3):
        said = "Always run the harbour linter before you push a branch."
        talk(number, f"2026-03-0{number}", said, "I will.", cwd=str(made.top)).write(tmp_path / "p")
    with made.memory as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"], "harbour"))
        memory.ingestion.update()
        answer = memory.ask("What about the harbour linter before a push?")
        assert any("stated 3 times" in caveat for caveat in answer.caveats), answer.caveats
        (pattern,) = memory.reader.rules.patterns(memory.context.bank_id() or "")
        assert pattern.occurrences == 3, "asking counts nothing"


def test_the_session_of_a_commit_answers_the_rest_of_a_question(tmp_path: Path) -> None:
    made = History(tmp_path)
    sha = made.commit_id(BEN, "2026-04-02", "Switch the pager to syslog", "src/pager.py", 9)
    session = talk(7, "2026-04-02", "The vendor Okapi raised its fee to ninety crowns.", "I see.",
                   cwd=str(made.top))  # fmt: skip
    session.tool("Bash", f"[main {sha[:7]}] Switch the pager to syslog\n 1 file changed",
                 command='git commit -m "Switch the pager to syslog"')  # fmt: skip
    session.write(tmp_path / "p")
    with made.memory as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "p"], "harbour"))
        memory.ingestion.ingest_git(made.top, "harbour")
        memory.ingestion.update()
        bank = memory.context.bank_id() or ""
        (hit,) = memory.recall("switch pager syslog", layers=[Layer.TEAM]).hits
        terms = read_terms("Which vendor fee made us switch the pager to syslog?")
        chain = Chain((Link(hit, "Switch the pager to syslog", frozenset({"pager", "syslog"})),))
        (lead,) = (one for one in find_leads(memory.reader, terms, chain) if one.reason == MADE_IN)
        found = follow_lead(memory.reader, AskRequest(bank, "", memory.now), lead)
    assert any("ninety crowns" in one.text for one in found)


def test_a_folder_is_found_with_or_without_a_trailing_slash(history: History) -> None:
    history.commit(BEN, "2025-07-01", "Weigh", "src/deep/scale.py", 3)
    history.memory.ingestion.ingest_git(history.top, "harbour")
    for folder in ("src/deep/", "src/deep"):
        answer = ask(history, f"What changed in {folder} since January 2025?")
        assert answer.answer.startswith("1 Jul 2025: Weigh (Ben Wu"), folder
        assert history.memory.browse.who_knows(folder)[0].name == "Ben Wu"
        (found,) = history.memory.browse.work(folder)
        assert getattr(found, "subject", "") == "Weigh"


def test_a_question_about_one_version_is_not_answered_by_another(history: History) -> None:
    said = "Keep our own reader\n\nSo that we can drop Python 3.10 easily when we drop it."
    history.commit(BEN, "2025-08-01", said, "src/compat.py", 3)
    history.commit(ANN, "2025-09-01", "Drop Python 3.6", "setup.cfg", 3)
    history.memory.ingestion.ingest_git(history.top, "harbour")
    answer = ask(history, "Why did we drop Python 3.6?")
    assert answer.answer.startswith("1 Sep 2025: Drop Python 3.6")
    assert "because, " not in answer.answer and answer.confidence is not Confidence.HIGH
    assert any("reason" in caveat for caveat in answer.caveats)
    assert ask(history, "When was Python 3.6 dropped?").answer.startswith("1 Sep 2025")
    other = ask(history, "Was Python 3.7 ever reverted?")
    assert other.abstained or other.weak


def test_the_last_change_is_the_latest_whatever_its_message_says(history: History) -> None:
    history.commit(BEN, "2025-08-01", "Change the ferry fares", "src/ferry.py", 3)
    history.commit(ANN, "2025-09-01", "Round up", "src/ferry.py", 4)
    history.memory.ingestion.ingest_git(history.top, "harbour")
    for question in ("When was src/ferry.py last changed?", "When was the ferry last changed?"):
        assert ask(history, question).answer.startswith("1 Sep 2025: last: Round up"), question


def test_answers_from_git_have_no_caveat_about_age(history: History) -> None:
    for question in ("Who knows about the ferry?", "When was src/ferry.py introduced?"):
        caveats = " ".join(ask(history, question).caveats)
        assert "since [1]" not in caveats and "days old" not in caveats, question
        assert "One source" not in caveats and "Several dates" not in caveats, question


def test_a_commit_that_has_the_words_of_a_date_does_not_tell_what_was_done_on_it(
    history: History,
) -> None:
    history.commit(ANN, "2025-06-01", "Keep 3 backups in March", "src/backups.py", 5)
    history.memory.ingestion.ingest_git(history.top, "harbour")
    assert "backups" in ask(history, "What was changed in src/backups.py?").answer
    assert ask(history, "What was changed on 3 March?").abstained
