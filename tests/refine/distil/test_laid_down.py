"""What people lay down in a few words."""

from dataclasses import replace

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import distil
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.laid_down import LIMITS, worth_of_form
from holdfast.refine.distil.lasting import may_last
from holdfast.refine.distil.selector import packaged_selector
from holdfast.refine.distil.statements import find_statements
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.refine.distil.wording import Context


def turn(text: str, seq: int = 0, role: Role = Role.USER) -> Turn:
    trust = Trust.USER if role is Role.USER else Trust.ASSISTANT
    return Turn("b", f"t{seq}", "s", seq, "", role, trust, text)


def worth(text: str, place: Place = Place.PROMPT, is_person: bool = True) -> float:
    """What the form of the first sentence of a message adds."""
    first = find_statements(text)[0]
    return worth_of_form(first, Utterance(turn(text), text, place, is_person))


@pytest.mark.parametrize(
    "text",
    [
        "The icons must be PNGs",
        "never make draft prs",
        "yes and do not wrap long lines in the issue text",
        "I want to avoid mocks as much as possible.",
        "I have both, but I don't want to make it only work on my machine.",
        "So I'd like to keep it the same three simple files, and add the features.",
        "All commands should run directly in the terminal",
        "[tree.ts](src/tree.ts) should have nothing to do with active sessions.",
        "Before writing any code, I'd like to see your plans each time.",
    ],
)
def test_what_must_hold_is_laid_down(text: str) -> None:
    assert worth(text) == LIMITS.binding


@pytest.mark.parametrize(
    "text",
    [
        "we should call ours max_concurrency as well to be consistent.",
        "Use one file a tenant instead of one a day",
        "Drop the flag because the parser reads both forms",
    ],
)
def test_a_choice_with_its_reason_or_alternative_adds_less(text: str) -> None:
    assert worth(text) == LIMITS.choice


@pytest.mark.parametrize(
    "text",
    [
        "Fix the typo in the readme",
        "Let's test the upload workflow.",
        "don't worry about the broken test for the parser",
        "I'd like to commit what we've worked on to git.",
        "Should the icons be PNGs?",
        "does the parser support tabs instead of spaces",
        "don't create a PR just yet",
        "The rules of the parser must be:",
        "You are a reviewer. The icons must be PNGs.",
        "The following is the Codex agent history\n[1] user: The icons must be PNGs",
    ],
)
def test_orders_questions_and_composed_prompts_lay_nothing_down(text: str) -> None:
    assert worth(text) == 0.0


def test_an_agent_lays_nothing_down() -> None:
    assert worth("The icons must be PNGs", Place.REPLY, is_person=False) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "publish worked fine before, is it because we left it out of the release",
        "Loading the reader of the ledger was blocked because of its type",
        "the upload crashes since Monday because the token of the tenant is gone",
        "Hey, I'd like your help with the filter so that we hide groups instead of rows",
        "Can you please help to use these models instead of the old ones",
    ],
)
def test_a_question_a_fault_or_a_call_for_help_lays_nothing_down(text: str) -> None:
    assert worth(text) == 0.0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("publish of the ledger worked fine before, is it because we left it out", False),
        (
            "I'd like your help with the filter of the ledger, which hides all rows of a group",
            False,
        ),
        ("Is there a table of the ledger for closed years", False),
        ("Search if the ledger can make use of the index. Check whether it has a key", False),
        ("Can we remove the old ledger as the new one replaces it", True),
        ("Add the ledger to the documents instead of a page. Do this so that I can push it", True),
    ],
)
def test_what_a_person_asks_is_no_statement(text: str, kept: bool) -> None:
    statement = max(find_statements(text), key=lambda one: one.length)
    utterances = [Utterance(turn(text), text, Place.PROMPT, True)]
    assert may_last(Candidate(0, statement), utterances) is kept


def test_a_long_message_is_a_specification() -> None:
    more = "The parser reads a row of the ledger. " * LIMITS.max_sentences
    assert worth(f"The icons must be PNGs. {more}") == 0.0


def test_a_short_rule_is_remembered_though_its_words_score_low() -> None:
    turns = [
        turn("The icons must be pngs"),
        turn("Replaced the two icons of the extension with PNG files.", 1, Role.ASSISTANT),
        turn("ok, looks nice, thanks", 2),
    ]

    found = distil(turns, Context("Make the logo of the extension visible"), packaged_selector())

    said = [one.text for one in found if one.is_person]
    assert said == ["The icons must be pngs (Make the logo of the extension visible)"]


def test_a_list_of_rules_is_one_statement_with_its_introduction() -> None:
    text = "Investigate the slow prompt of the shell. The rules are:\n- a pragmatic solution\n"
    text += "- no breaking changes\n- easy to maintain later"
    turns = [turn(text), turn("The prompt reads the ledger twice.", 1, Role.ASSISTANT)]

    found = distil(turns, Context(), packaged_selector())

    assert [(one.kind, one.text) for one in found if one.is_person] == [
        (
            Kind.RULE,
            "The rules are: A pragmatic solution; no breaking changes; easy to maintain later",
        )
    ]


def test_what_another_agent_of_the_team_says_lays_nothing_down() -> None:
    text = "The icons must be PNGs"
    first = find_statements(text)[0]
    from_team = Utterance(replace(turn(text), speaker="team-lead"), text, Place.PROMPT, True)
    assert worth_of_form(first, from_team) == 0.0
