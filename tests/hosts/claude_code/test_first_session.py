"""The end of `holdfast setup`: the brief of the next session, and questions that are answered."""

from __future__ import annotations

import json
import re

import pytest

from tests.hosts.claude_code.test_install import User, at_a_terminal, python, user
from tests.support.sample_rankings import SESSIONS

__all__ = ["python", "user"]  # fixtures


def with_history(user: User) -> User:
    """Give the user the sample sessions, made in the folder of this project."""
    target = user.home / ".claude" / "projects" / "-proj"
    target.mkdir(parents=True)
    for path in SESSIONS.rglob("*.jsonl"):
        text = path.read_text().replace("/home/ada/tidewatch", str(user.project))
        (target / path.name).write_text(text)
    assert any(str(user.project) in path.read_text() for path in target.iterdir())
    return user


@pytest.mark.slow
def test_setup_prints_the_brief_of_the_next_session_and_how_to_ask(user: User) -> None:
    printed = with_history(user).do("setup", "--yes")
    brief = user.do("brief", "--json")
    text = json.loads(brief)["text"]
    shown = [line.strip() for line in printed.splitlines()]
    assert text and " ".join(text.split()) in " ".join(printed.split())
    told = printed.partition("<holdfast-brief")[2].partition("</holdfast-brief>")[0]
    assert max(map(len, told.splitlines())) <= 100, "lines are folded between words"
    assert "Your next session in this folder starts with this brief:" in printed
    assert any(line.startswith("Ask it: holdfast ask") for line in shown)


@pytest.mark.slow
def test_the_bar_moves_through_every_phase_to_the_end(user: User) -> None:
    replies = ["y", "y", "y", "n"]
    shown = at_a_terminal(with_history(user), ["setup"], replies, TERM="xterm-256color")
    bar, _, _ = shown.partition("starts with this brief")
    percents = [int(found) for found in re.findall(r"(\d+)%", bar)]
    assert percents == sorted(percents) and percents[-1] == 100 and len(set(percents)) > 3
    for phase in ("reading transcripts", "distilling knowledge", "preparing search by meaning"):
        assert phase in shown
    assert shown.index("Read your history now?") < shown.index("starts with this brief")


def test_without_a_history_setup_says_that_the_first_session_has_no_brief(user: User) -> None:
    printed = user.do("setup", "--yes")
    assert "your first session has no brief" in printed and "holdfast ask" not in printed
    # The commands that people read about are not there without the plugin.
    assert "come with `holdfast setup --plugin`" in printed and "/holdfast:ask" in printed


def test_a_history_that_is_not_read_now_is_read_in_the_background(user: User) -> None:
    printed = with_history(user).do("setup", "--yes", "--no-ingest")
    assert "in the background of your next session" in printed
    assert json.loads(user.do("status", "--json"))["turns"] == 0


def test_the_changes_are_five_lines_and_the_diff_comes_on_request(user: User) -> None:
    printed = with_history(user).do("setup", "--yes", "--no-ingest")
    lines = printed.splitlines()
    assert lines[0].startswith("Setup adds Holdfast to Claude Code")
    summary = [line for line in lines[1:] if line.startswith("  ")][:5]
    for line, start in zip(
        summary,
        (
            "~/.claude/settings.json",
            "~/.claude/settings.json",
            "~/.claude.json",
            "~/.holdfast/hooks",
            "your history",
        ),
        strict=True,
    ):
        assert line.strip().startswith(start), line
    assert "+++" not in printed
