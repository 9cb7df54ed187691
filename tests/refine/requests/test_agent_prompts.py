from __future__ import annotations

import pytest

from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.facts.typed_text import is_handed_over, typed_text
from holdfast.refine.requests.agent_prompts import gives_role, is_template
from holdfast.refine.requests.headlines import headline
from holdfast.refine.sessions.exchanges import build_exchange

RULES = "Always read the tide table first. Never write to the gauge while the lamp is on. " * 6
LOOP = f"# Context\n\nYour name is **Pilot**, an agent of the harbour.\n\n## Rules\n\n{RULES}"


@pytest.mark.parametrize(
    "prompt",
    [
        LOOP,
        f"You are an expert reviewer of tide tables. {RULES}",
        f"You are **Pilot**, powered by a model, and work as an agent. {RULES}",
        f"You are now acting as the keeper of the gauge. {RULES}",
        f"<role>\nYou are the release engineer of this repository. {RULES}",
    ],
)
def test_nobody_typed_the_prompt_of_an_agent_that_a_program_started(prompt: str) -> None:
    assert gives_role(prompt) and is_handed_over(prompt)
    assert typed_text(prompt) == ""


@pytest.mark.parametrize(
    "text",
    [
        f"You are right, the gauge is read twice. {RULES}",
        f"You are the one who broke the gauge. {RULES}",
        f"Your name is not important here? {RULES}".replace("Your name", "The name"),
        "You are the expert. Never use mocks.",
        f"The agent is wrong. {RULES}",
    ],
)
def test_what_people_say_to_their_agent_is_typed(text: str) -> None:
    assert not gives_role(text) and typed_text(text) == text


def test_a_session_that_reads_another_is_handed_its_history() -> None:
    text = "# Extract memories\n\n## Session transcript\n\nUSER: Never paint the pier."
    assert is_handed_over(text)
    assert not is_handed_over("Keep the session transcript of the pier. Never paint it.")


def test_a_prompt_that_always_begins_alike_titles_nothing() -> None:
    assert is_template(LOOP) and headline(LOOP) == ""
    assert is_template(LOOP.replace("# Context", "# Harbour System Context"))
    named = LOOP.replace("# Context", "# Review of the tide parser")
    assert not is_template(named) and headline(named) == "Review of the tide parser"


def test_a_run_of_a_loop_is_called_by_what_it_did() -> None:
    asked = Turn("b", "t1", "s", 1, "", Role.USER, Trust.USER, LOOP)
    did = "Added tests for the tide parser, and all of them pass."
    told = Turn("b", "t2", "s", 2, "", Role.ASSISTANT, Trust.ASSISTANT, did)
    made = build_exchange([asked, told])
    assert made.title == did.rstrip(".")
    assert not [fact for fact in made.facts if fact in RULES]
