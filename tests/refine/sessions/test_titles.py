"""What a session is called."""

from dataclasses import replace

import pytest

from holdfast.model.records import Exchange, ExchangeType, Outcome, Role, Session, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.core.signals import COMMITTED, PULL_REQUESTED
from holdfast.refine.sessions.digests import build_digest
from holdfast.refine.sessions.exchanges import build_exchange
from holdfast.refine.sessions.titles import session_subject, session_title


def exchange(title: str, summary: str = "", facts: tuple[str, ...] = ()) -> Exchange:
    return Exchange(
        "bank", title, "s", 0, 1, "", "", ExchangeType.CHANGE, title, summary, "",
        Outcome.DONE, Trust.USER, facts,
    )  # fmt: skip


def session(title: str = "") -> Session:
    return Session("bank", "s", "host", "claude-code", title=title)


def test_a_session_is_about_its_first_request_that_says_something() -> None:
    exchanges = [exchange("Yes"), exchange("Add a retry to the uploader"), exchange("Ship the app")]
    assert session_subject(session(), exchanges) == "Add a retry to the uploader"


def test_where_no_request_says_anything_the_result_does() -> None:
    summary = "Let me look. Tar archives with long names are unpacked again."
    exchanges = [exchange("Investigate https://tracker.example/1", summary)]
    assert (
        session_subject(session(), exchanges) == "Tar archives with long names are unpacked again."
    )
    assert session_subject(session(), [exchange("Yes")]) == "Yes"
    acted = "Changed hello.py; ran false (failed)"
    assert session_subject(session(), [exchange("Yes", acted)]) == "Yes"


def test_a_request_that_says_little_is_followed_by_the_result() -> None:
    summary = "Let me look. All tests pass. Tar archives with long names are unpacked again."
    named = session_subject(session(), [exchange("Fix the unpacker", summary)])
    assert named == "Fix the unpacker — Tar archives with long names are unpacked again."
    told = exchange("Make a PR and reply to the discussion", summary)
    assert session_subject(session(), [told]) == "Tar archives with long names are unpacked again."
    data = exchange('{"outcome": "allow", "rationale": "Only local files of tests"}', summary)
    assert session_subject(session(), [data]) == "Tar archives with long names are unpacked again."


@pytest.mark.parametrize(
    "named",
    [
        "Opened PR #87: {}; Branch: `unpack`",
        "Commit: `55c7b81 {}`.",
        "Opened PR: [#87 {}](https://example.org/pull/87) Replied to the discussion.",
    ],
)
def test_a_commit_or_pull_request_that_a_reply_names_titles_its_session(named: str) -> None:
    subject = "fix(tar): keep long names in archives"
    told = exchange("Investigate discussion #74", named.format(subject))
    assert session_subject(session(), [told]) == subject


def test_a_title_in_the_transcript_that_fits_every_session_is_left_out() -> None:
    exchanges = [exchange("Unpack tar archives with long names again")]
    for own in ("GitHub issue analysis", "Tasks", "(committed)"):
        assert session_title(session(own), exchanges) == exchanges[0].title
    assert session_title(session("Issue analysis"), []) == "Issue analysis"


def test_the_title_that_a_model_gave_comes_before_a_commit() -> None:
    commit = f"{COMMITTED}Keep source files of tasks"
    by_model = replace(exchange("Stop losing sources", facts=(commit,)), author="some/model")
    assert session_subject(session(), [by_model]) == "Stop losing sources"
    assert session_title(session("Sources"), [by_model]) == "Stop losing sources"
    assert session_title(session("Makefile"), [by_model]) == "Makefile — Stop losing sources"


def test_a_late_commit_in_other_words_stands_behind_the_first_request() -> None:
    asked = exchange("Find out why the gauge loses its connection")
    talk = [exchange(f"Look at the log of the {name}") for name in ("proxy", "relay", "buoy")]
    late = exchange("Mend the manual, too", facts=(f"{COMMITTED}docs: name the right program",))
    titled = "Find out why the gauge loses its connection — docs: name the right program"
    assert session_title(session(), [asked, *talk, late]) == titled
    few = session_title(session(), [asked, *talk[1:], late])
    assert few == "docs: name the right program", "few requests are about one matter"
    gauge = exchange("Mend it", facts=(f"{COMMITTED}fix: keep the gauge connected",))
    assert session_title(session(), [asked, *talk, gauge]) == "fix: keep the gauge connected"


def test_the_commit_of_a_session_titles_it_unless_there_are_many() -> None:
    commits = tuple(f"{COMMITTED}Keep source files of tasks {n}" for n in range(3))
    asked = "Look into the report about tasks"
    one = exchange(asked, facts=commits[:1])
    assert session_subject(session(), [one]) == "Keep source files of tasks 0"
    many = session_subject(session(), [exchange(asked, facts=commits)])
    assert many == f"{asked} — Keep source files of tasks 0"
    assert session_subject(session(), [exchange(asked, facts=(f"{COMMITTED}wip",))]) == asked


def test_of_many_commits_the_one_that_the_session_is_about_is_its_result() -> None:
    subjects = ("Bump the version", "Keep source files of finished tasks", "Sort the imports")
    commits = tuple(f"{COMMITTED}{subject}" for subject in subjects)
    asked = exchange("Why are files of finished tasks lost?", "The cache drops them.", commits)
    more = exchange("Keep the source files, then", "They stay in the folder of finished tasks.")
    titled = session_subject(session(), [asked, more])
    assert titled == "Why are files of finished tasks lost? — Keep source files of finished tasks"


def test_the_pull_request_of_a_session_sums_up_its_commits() -> None:
    commits = tuple(f"{COMMITTED}Keep source files of tasks {n}" for n in range(3))
    opened = exchange("Make a PR", facts=(f"{PULL_REQUESTED}Keep sources", *commits))
    renamed = exchange("Rename it", facts=(f"{PULL_REQUESTED}Keep the source files of all tasks",))
    asked = "Look into the report about tasks"
    titled = session_subject(session(), [exchange(asked), opened, renamed])
    assert titled == "Keep the source files of all tasks"
    several = tuple(f"{PULL_REQUESTED}Keep source files of tasks {n}" for n in range(3))
    assert session_subject(session(), [exchange(asked, facts=several)]) == asked


def test_a_pull_request_is_what_a_session_completed() -> None:
    command = 'gh pr create --title "Keep the source files of all tasks" --fill'
    call = ToolCall("Bash", action=command, ok=True)
    asked = Turn("bank", "t0", "s", 0, "", Role.USER, Trust.USER, "Make a PR of this branch")
    ran = Turn("bank", "t1", "s", 1, "", Role.TOOL, Trust.TOOL, "", tool=call)
    built = build_exchange([asked, ran])
    assert built.facts == (f"{PULL_REQUESTED}Keep the source files of all tasks",)
    digest = build_digest(session(), [built], "")
    assert digest and digest.request == "Keep the source files of all tasks"
    assert (built.facts[0] in digest.completed, digest.learned) == (True, ())


def test_a_title_in_the_transcript_comes_first() -> None:
    exchanges = [exchange("Add a retry to the uploader")]
    named = session("Flaky uploads")
    assert session_subject(named, exchanges) == "Flaky uploads"
    assert session_title(named, exchanges) == "Flaky uploads — Add a retry to the uploader"


def test_the_task_of_an_agent_in_a_role_is_its_title() -> None:
    text = "You are ui-dev on the team. You build all screens of the app. Stack: Flutter."
    built = build_exchange([Turn("bank", "t", "s", 0, "", Role.USER, Trust.USER, text)])
    assert built.title == "Build all screens of the app"


def test_a_later_request_titles_a_session_only_where_there_is_no_result() -> None:
    summary = "Archives with long names are unpacked again."
    exchanges = [
        exchange("Investigate issue #12", summary),
        exchange("Use table tests for archives"),
    ]
    titled = session_title(session(), exchanges)
    assert titled == "Archives with long names are unpacked again (issue #12)"
    without = [exchange("Yes"), exchange("Use table tests for archives")]
    assert session_title(session(), without) == "Use table tests for archives"


def test_the_branch_that_was_made_says_what_a_vague_request_is_about() -> None:
    result = "All archives are read in one go from now on."
    told = replace(exchange("Investigate issue #12", result), branch="main")
    made = replace(exchange("Make a PR", result), branch="fix/keep-long-tar-names-0a1b2c3")
    begun = replace(session(), branch="main")
    assert session_subject(begun, [told, made]) == "Keep long tar names (issue #12)"
    asked = replace(told, title="Why are names cut?")
    assert session_subject(begun, [asked, made]) == "Why are names cut? — Keep long tar names"
    clear = replace(told, title="Unpack tar archives with long names again")
    assert session_subject(begun, [clear, made]) == clear.title


def test_an_exchange_is_on_the_branch_that_it_made() -> None:
    call = ToolCall("Bash", action="git switch -c fix/long-tar-names", ok=True)
    asked = Turn("bank", "t0", "s", 0, "", Role.USER, Trust.USER, "Fix the names", branch="main")
    ran = Turn("bank", "t1", "s", 1, "", Role.TOOL, Trust.TOOL, "", tool=call)
    assert build_exchange([asked, ran]).branch == "fix/long-tar-names"
    assert build_exchange([asked]).branch == "main"


def test_a_request_and_its_result_are_a_title_together() -> None:
    asked = f"Does the bundled uploader {'really ' * 12}retry a request that timed out?"
    result = f"Requests are sent {'three times ' * 8}by default."
    titled = session_title(session(), [exchange(asked, result)])
    assert len(titled) <= 153
    before, _, behind = titled.partition(" — ")
    assert asked.startswith(before.rstrip("…")) and result.startswith(behind.rstrip("…"))


def test_an_exchange_that_was_broken_off_gives_no_result_if_another_was_finished() -> None:
    broken = replace(
        exchange("Yes", "The ledger importer of the ledger fails on ledger rows."),
        outcome=Outcome.INTERRUPTED,
    )
    done = exchange("Yes", "The exporter reads every customer in one query.")
    assert session_subject(session(), [broken, done]) == done.summary
    assert session_subject(session(), [broken]) == broken.summary
