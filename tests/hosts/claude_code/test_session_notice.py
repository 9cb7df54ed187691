"""The line that the user sees when a session starts, and what was injected, to be looked at."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from holdfast.app.briefs.briefing import prepare_briefs
from holdfast.app.briefs.injected_texts import read_injected
from holdfast.app.curation.erasure import remove_derived_files
from holdfast.errors import InputError
from holdfast.operations.screen import count_tokens
from tests.hosts.claude_code.test_answer_script import (
    GOAL,
    SESSION,
    Home,
    home,
    interpreter,
    memory,
    started,
)

__all__ = ["home", "interpreter", "memory"]  # fixtures


def answer(home: Home, source: str) -> dict[str, Any]:
    return json.loads(home.run("start", started(source=source)).stdout)


@pytest.mark.parametrize("source", ["startup", "clear", "fork"])
def test_the_user_sees_how_much_was_injected_and_the_last_work(home: Home, source: str) -> None:
    printed = answer(home, source)
    text = printed["hookSpecificOutput"]["additionalContext"]
    found = re.fullmatch(
        r"Holdfast: (\d+) notes, ([\d,]+) tokens, last: (.+) \(\d{4}-\d\d-\d\d\)",
        printed["systemMessage"],
    )
    assert found is not None, printed["systemMessage"]
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert int(found[1]) == len(lines) > 0
    assert int(found[2].replace(",", "")) == count_tokens(len(text))
    assert len(found[3]) <= 61 and "more request" not in found[3]


def test_after_a_compaction_the_user_does_not_see_the_line_again(home: Home) -> None:
    printed = answer(home, "compact")
    assert "hookSpecificOutput" in printed and "systemMessage" not in printed


def test_the_settings_can_turn_the_line_off(home: Home) -> None:
    prepare_briefs(replace(home.settings, brief=replace(home.settings.brief, notice=False)))
    printed = answer(home, "startup")
    assert "hookSpecificOutput" in printed and "systemMessage" not in printed


def test_what_was_injected_can_be_read_in_the_order_of_time(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief = home.injected("start", started())
    goal = home.injected("goal", GOAL)
    for name in (SESSION, SESSION[:8], "latest", "current"):
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
        found = read_injected(home.places, name)
        assert found.session == SESSION
        assert [(one.kind, one.text) for one in found.injected] == [
            ("start", brief),
            ("goal", goal),
        ]
    (kept,) = home.places.session_marks.glob("*.injected")
    assert kept.stat().st_mode & 0o777 == 0o600
    remove_derived_files(home.settings)
    assert not kept.exists(), "what quotes an erased text is removed with it"


def test_a_session_that_was_told_nothing_has_nothing_to_show(home: Home) -> None:
    assert read_injected(home.places, SESSION).injected == ()
    with pytest.raises(InputError, match="any session"):
        read_injected(home.places, "latest")
