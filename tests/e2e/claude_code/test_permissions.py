"""The memory tools in the real program after setup: used without a question to the user."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from tests.e2e.claude_code.api import Json, Say, Use
from tests.e2e.claude_code.conftest import MakeLab
from tests.e2e.claude_code.sandbox import Lab
from tests.e2e.claude_code.test_capture import talk
from tests.e2e.claude_code.test_setup_and_removal import PLUGIN, learn, told_record

QUESTION = {"question": "Why does the nightly import fail?"}
OWN, OF_PLUGIN = "mcp__holdfast__", "mcp__plugin_holdfast_memory__"
KEPT = "The staging database is wiped every Sunday night by the reset job."


class Allowed(NamedTuple):
    """The first session after a setup that allowed the tools that read: what the model was sent
    first, and the results of the tools that it used."""

    first: str
    asked: str
    kept: str


@pytest.fixture(scope="module")
def allowed(make_shared_lab: MakeLab) -> Allowed:
    lab = make_shared_lab(
        {
            "ask": ([Use(f"{OWN}memory", QUESTION)], [Say("I see.")]),
            "keep": ([Use(f"{OWN}remember", {"text": KEPT})], [Say("Kept.")]),
        }
    )
    learn(lab, "setup", "--yes")
    lab.hold_worker()
    talk(lab, "Why? PLAY:ask", "Keep it. PLAY:keep")
    assert len(lab.api.requests) == 4
    return Allowed(lab.api.sent(0), _result(lab, 1), _result(lab, 3))


class NotAllowed(NamedTuple):
    """A session with the plugin after a setup that allowed no tools: the results of the server's
    own tool, and of those that commands of the plugin use; what the model was sent by the command
    that shows the status; and what is remembered."""

    asked: str
    asked_by_command: str
    kept_by_command: str
    status: str
    found: list[Json]


@pytest.fixture(scope="module")
def not_allowed(make_shared_lab: MakeLab) -> NotAllowed:
    lab = make_shared_lab(
        {
            "own": ([Use(f"{OWN}memory", QUESTION)], [Say("I see.")]),
            "ask": ([Use(f"{OF_PLUGIN}memory", QUESTION)], [Say("I see.")]),
            "keep": ([Use(f"{OF_PLUGIN}remember", {"text": KEPT})], [Say(f"Remember: {KEPT}")]),
            "status": ([Say("It works.")],),
        }
    )
    done = lab.holdfast("setup", "--yes", "--no-allow-tools")
    assert done.status == 0, done.err
    lab.hold_worker()
    learn(lab)
    commands = ("/holdfast:ask PLAY:ask", "/holdfast:remember PLAY:keep")
    talk(
        lab,
        *("Why? PLAY:own", *commands, "/holdfast:status PLAY:status"),
        arguments=["--plugin-dir", str(PLUGIN)],
    )
    assert len(lab.api.requests) == 7
    found = json.loads(lab.holdfast("recall", "staging database wiped", "--json").out)["hits"]
    return NotAllowed(_result(lab, 1), _result(lab, 3), _result(lab, 5), _result(lab, 6), found)


class Reviewed(NamedTuple):
    """A session in which the command that reviews the brief was used: what the model was sent by
    it, the results of its calls of a verdict and of another command, and the record as it is shown
    afterwards."""

    listed: str
    judged: str
    other: str
    shown: Json


@pytest.fixture(scope="module")
def reviewed(make_shared_lab: MakeLab) -> Reviewed:
    verdict: list[Use | Say] = []
    other: list[Use | Say] = []
    lab = make_shared_lab({"review": (verdict, other, [Say("Done.")])})
    done = lab.holdfast("setup", "--yes", "--no-allow-tools")
    assert done.status == 0, done.err
    lab.hold_worker()
    learn(lab)
    name = told_record(lab, "warmed after the import")
    script = f'sh "{PLUGIN}/scripts/holdfast.sh"'
    judge = f'{script} review --by-agent claude-code outdated {name} --why "The cache is gone."'
    verdict.append(Use("Bash", {"command": judge}))
    other.append(Use("Bash", {"command": f"{script} forget {name} --yes"}))
    talk(lab, "/holdfast:review PLAY:review", arguments=["--plugin-dir", str(PLUGIN)])
    assert len(lab.api.requests) == 3
    shown = json.loads(lab.holdfast("show", name, "--json").out)
    return Reviewed(lab.api.sent(0), _result(lab, 1), _result(lab, 2), shown)


def _result(lab: Lab, number: int) -> str:
    """The last message of a request: what a tool or a command of the plugin answered."""
    return json.dumps(lab.api.requests[number]["messages"][-1])


def test_claude_uses_memory_without_a_prompt_if_setup_allowed_it(
    allowed: Allowed, not_allowed: NotAllowed
) -> None:
    assert "warmed after the import" in allowed.asked
    assert "haven't granted" not in allowed.asked
    assert "warmed after the import" not in not_allowed.asked
    assert "haven't granted" in not_allowed.asked


def test_a_tool_that_writes_still_needs_the_users_permission(allowed: Allowed) -> None:
    assert "haven't granted" in allowed.kept


def test_the_commands_of_the_plugin_may_use_their_tools(not_allowed: NotAllowed) -> None:
    assert "warmed after the import" in not_allowed.asked_by_command
    assert "granted" not in not_allowed.kept_by_command
    assert any(hit["kind"] == "memory" and KEPT in hit["text"] for hit in not_allowed.found)


def test_the_status_command_of_the_plugin_runs_nothing_but_its_script(
    not_allowed: NotAllowed,
) -> None:
    assert "every line is accounted for" in not_allowed.status
    assert "Bash(sh:*)" not in (PLUGIN / "commands" / "status.md").read_text()


def test_the_review_command_of_the_plugin_lists_the_brief_and_may_judge_and_nothing_else(
    reviewed: Reviewed,
) -> None:
    assert "warmed after the import" in reviewed.listed
    assert f"{PLUGIN}/scripts/holdfast.sh" in reviewed.listed
    assert "1 record judged outdated" in reviewed.judged
    assert "requires approval" in reviewed.other or "granted" in reviewed.other, reviewed.other
    (entry,) = reviewed.shown["history"]
    assert (entry["action"], entry["who"]) == ("judge", "agent (claude-code)")
    assert entry["text"] == "outdated: The cache is gone."


def test_the_very_next_session_after_setup_has_the_brief(allowed: Allowed) -> None:
    assert "<holdfast-brief" in allowed.first.replace("\\u003c", "<")
    assert "warmed after the import" in allowed.first
