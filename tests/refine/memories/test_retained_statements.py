"""Which statements of a session are retained."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Session, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.memories.retained_statements import retain_statements
from holdfast.refine.sessions.exchanges import build_exchange

PROMPT = "Never write to the ledger of a tenant directly. Find out why its rows come twice."
CAUSE = (
    "Root cause: the rows of the ledger come twice because the retry wrapper of the importer "
    "loads a batch again after a timeout that the database had already committed."
)
FINDING = "The importer of the ledger reads its settings from the table of tenants at start-up."


def retained(parent: str, *replies: str) -> list[tuple[Kind | None, str, str]]:
    texts = [(Role.USER, PROMPT), *((Role.ASSISTANT, text) for text in replies)]
    turns = [
        Turn("bank", f"t{n}", "s", n, "", role, Trust.USER if n == 0 else Trust.ASSISTANT, text)
        for n, (role, text) in enumerate(texts)
    ]
    exchange = build_exchange(turns)
    session = Session("bank", "s", "host", "claude-code", parent=parent)
    found = retain_statements(session, [exchange], [(exchange, turns)], turns)
    return [(one.kind, one.who, one.what) for one in found]


@pytest.mark.parametrize("parent", ["", "the session that runs it"])
def test_of_a_subagent_only_the_cause_that_it_found_is_retained(parent: str) -> None:
    found = retained(parent, f"{FINDING}\n\n{CAUSE}")
    assert any(kind is Kind.LESSON and "retry wrapper" in what for kind, _, what in found)
    others = [what for kind, _, what in found if kind is not Kind.LESSON]
    assert bool(others) is not bool(parent)
    assert any(who == "user" for _, who, _ in found) is not bool(parent)


def test_a_statement_keeps_its_end() -> None:
    long = CAUSE.replace("a batch", "a batch of " + ", ".join(f"column_{n}" for n in range(14)))
    (found,) = (what for kind, _, what in retained("", long) if kind is Kind.LESSON)
    assert "already committed" in found and len(found) > len(CAUSE)


def test_answers_are_the_persons_and_accepted_plans_the_agents() -> None:
    question = "Should the ledger of a tenant be written once a day or with each row?"
    result = f'User has answered your questions: "{question}"="Once a day, at midnight"'
    plan = (
        "Implement the following plan:\n\n# Write the ledger once a day\n\n"
        "The ledger is written at midnight instead of with each row, to keep the importer fast."
    )
    turns = [
        Turn("bank", "t0", "s", 0, "", Role.USER, Trust.USER, plan),
        Turn(
            "bank", "t1", "s", 1, "", Role.TOOL, Trust.TOOL, "",
            tool=ToolCall("AskUserQuestion", result=result),
        ),
    ]  # fmt: skip
    exchange = build_exchange(turns)
    session = Session("bank", "s", "host", "claude-code")
    found = retain_statements(session, [exchange], [(exchange, turns)], turns)
    trusts = {one.who == "user": one.trust for one in found}
    assert trusts == {True: Trust.USER, False: Trust.ASSISTANT}
