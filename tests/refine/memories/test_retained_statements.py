"""Which statements of a session are retained."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Session, Turn
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


@pytest.mark.parametrize("grade", ["Medium – ", "P1: ", "High severity: "])
def test_of_a_subagent_a_fault_with_its_grade_is_retained(grade: str) -> None:
    told = (
        "stale detection in `ledger/reviews.py` is capped at 240 seconds, so every running review"
    )
    told += " of the ledger that is older than five minutes is treated as failed"
    report = f"I found one issue in the changed code.\n\n- **{grade}reviews fail by being viewed**"
    report += f"\n  - In the handler, {told}."

    found = [what for _, _, what in retained("the session that runs it", report)]

    assert any(told in what for what in found)
    others = retained("the session that runs it", report.replace(grade, ""))
    assert not any(told in what for _, _, what in others)


def test_a_statement_keeps_its_end() -> None:
    long = CAUSE.replace("a batch", "a batch of " + ", ".join(f"column_{n}" for n in range(14)))
    (found,) = (what for kind, _, what in retained("", long) if kind is Kind.LESSON)
    assert "already committed" in found and len(found) > len(CAUSE)
