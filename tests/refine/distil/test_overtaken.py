"""What an agent said on its way is not remembered once its session has overtaken it."""

from __future__ import annotations

import pytest

from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.distil import distil
from holdfast.refine.distil.selector import SelectionLimits, packaged_selector
from holdfast.refine.distil.wording import Context

EVERYTHING = SelectionLimits(threshold=-100.0, most=100)
DONE = "The importer of the ledger writes each row once and keeps its tenant."


def asks(seq: int, text: str) -> Turn:
    return _turn(seq, Role.USER, text)


def says(seq: int, text: str) -> Turn:
    return _turn(seq, Role.ASSISTANT, text)


def edits(seq: int, path: str, lines: str = "+x = 1") -> Turn:
    return _turn(seq, Role.TOOL, "", ToolCall("Edit", path, action=lines, ok=True))


def _turn(seq: int, role: Role, text: str, tool: ToolCall | None = None) -> Turn:
    trust = Trust.USER if role is Role.USER else Trust.ASSISTANT
    return Turn("bank", f"t{seq}", "s", seq, "2026-05-01T10:00:00Z", role, trust, text, tool=tool)


def remembered(*turns: Turn) -> list[str]:
    found = distil(turns, Context(), packaged_selector(), EVERYTHING)
    return [one.said for one in found]


def is_remembered(text: str, *turns: Turn) -> bool:
    return any(text.rstrip(".") in one for one in remembered(*turns))


@pytest.mark.parametrize(
    ("state", "path"),
    [
        ("The importer fails on rows of the ledger that have no tenant.", "src/importer.py"),
        ("`importer.py` currently writes every row of the ledger twice.", "src/importer.py"),
        ("The current importer of the ledger writes its rows in any order.", "src/importer.py"),
        ("`src/importer.py` has no check for the tenant of a row.", "src/importer.py"),
        ("`LedgerImporter` has no check for the tenant of a row.", "src/LedgerImporter.ts"),
        ("On top of that, there's no check for the tenant of a row.", "src/importer.py"),
        ("`read_rows` is missing a check for the tenant of a row.", "src/other.py"),
    ],
)
def test_a_state_is_forgotten_once_what_it_names_was_changed(state: str, path: str) -> None:
    before = asks(0, "Look at the importer of the ledger"), says(1, state)
    change = edits(2, path, "-def read_rows(ledger):\n+def read_rows(ledger, tenant):")
    assert is_remembered(state, *before, says(3, DONE))
    assert not is_remembered(state, *before, change, says(3, DONE))


def test_a_state_of_something_else_than_what_was_changed_stays() -> None:
    state = "`exporter.py` has no check for the tenant of a row."
    turns = asks(0, "Look at the ledger"), says(1, state), edits(2, "importer.py"), says(3, DONE)
    assert is_remembered(state, *turns)


def test_a_change_that_failed_overtakes_nothing() -> None:
    state = "`importer.py` has no check for the tenant of a row."
    failed = ToolCall("Edit", "importer.py", action="+x", ok=False)
    turns = asks(0, "Look at it"), says(1, state), _turn(2, Role.TOOL, "", failed), says(3, DONE)
    assert is_remembered(state, *turns)


def test_the_cause_of_what_was_fixed_stays_a_lesson() -> None:
    cause = "Root cause: the importer reads the key of a row before its tenant is known."
    turns = asks(0, "Why does it fail?"), says(1, cause), edits(2, "importer.py")
    assert is_remembered(cause, *turns, asks(3, "Thanks, commit it"), says(4, DONE))


def test_of_a_cause_that_is_named_twice_the_later_is_remembered() -> None:
    first = "The issue is that the importer reads the key before the tenant of the row."
    last = "The cause was that the importer reads the key before the tenant, so the row has none."
    turns = asks(0, "Why?"), says(1, first), edits(2, "importer.py"), says(3, last)
    assert not is_remembered(first, *turns)
    assert is_remembered(last, *turns)


@pytest.mark.parametrize(
    "prompt",
    [
        "No, it still fails with the same rows.",
        "The ledger shows an error for rows of the importer that have a tenant.",
    ],
)
def test_what_the_next_prompt_denies_is_forgotten(prompt: str) -> None:
    claim = "Fixed the importer of the ledger, rows keep their tenant when they are read."
    turns = asks(0, "Repair the importer"), edits(1, "importer.py"), says(2, claim)
    assert is_remembered(claim, *turns, asks(3, "Great, commit it"), says(4, "Committed it."))
    assert not is_remembered(claim, *turns, asks(3, prompt), says(4, DONE))


@pytest.mark.parametrize(
    "proposal",
    [
        "The importer should read the ledger of each tenant in a query of its own.",
        "The fix is to read the ledger of each tenant in a query of its own.",
    ],
)
def test_a_proposal_is_remembered_only_where_the_session_ends_with_it(proposal: str) -> None:
    turns = asks(0, "How could the importer be faster?"), says(1, proposal)
    assert is_remembered(proposal, *turns)
    assert not is_remembered(proposal, *turns, asks(2, "Show the log"), says(3, DONE))


@pytest.mark.parametrize(
    "open_",
    [
        "Remaining work: the importer of the ledger still needs a check for the tenant.",
        "Importer of the ledger — 2/7 checks for the tenant — running the others",
    ],
)
def test_what_was_open_is_forgotten_once_more_is_reported_of_it(open_: str) -> None:
    turns = asks(0, "Go through the importer of the ledger"), says(1, open_)
    said = "The importer of the ledger has all checks for the tenant."
    assert is_remembered(open_.removeprefix("Remaining work: "), *turns)
    assert not is_remembered(open_.removeprefix("Remaining work: "), *turns, says(2, said))


def test_an_order_that_an_agent_gives_itself_is_no_result() -> None:
    order = "Change B: Rewrite the importer of the ledger so that rows keep their tenant."
    turns = asks(0, "Repair the importer"), says(1, order), edits(2, "importer.py"), says(3, DONE)
    assert not is_remembered("Rewrite the importer", *turns)
    assert is_remembered(DONE, *turns)


def test_what_the_code_does_is_no_order() -> None:
    told = "Import of the ledger: Uses the tenant of a row as the first part of its key."
    turns = asks(0, "Repair the importer"), says(1, told), edits(2, "importer.py"), says(3, DONE)
    assert is_remembered("Uses the tenant of a row", *turns)


def test_what_a_person_said_is_not_overtaken() -> None:
    rule = "The importer must never write a row that has no tenant in its key."
    turns = asks(0, rule), says(1, "I read it."), edits(2, "importer.py"), says(3, DONE)
    assert is_remembered(rule, *turns)


def notes(seq: int, path: str, lines: str) -> Turn:
    return _turn(seq, Role.TOOL, "", ToolCall("Edit", path, action=lines, ok=True))


def test_a_note_is_forgotten_once_its_line_was_taken_out_again() -> None:
    note = "The importer of the ledger still reads rows one by one."
    before = asks(0, "Note how it is"), notes(1, "CLAUDE.md", f"+- {note}"), says(2, DONE)
    other = notes(3, "CLAUDE.md", "-- Something else about the ledger\n+- More about it")
    gone = notes(3, "CLAUDE.md", f"-- {note}\n+- The importer reads rows in batches")
    assert is_remembered(note, *before, other, says(4, DONE))
    assert not is_remembered(note, *before, gone, says(4, DONE))


def test_a_claim_gives_way_to_the_reason_that_is_found_for_the_same() -> None:
    claim = "`extract_row` only returns `None` for the rows of a link in the ledger."
    reason = "This never happens because `extract_row` gives `None` for folders alone."
    turns = asks(0, "Why is it not covered?"), says(1, claim)
    assert is_remembered(claim, *turns, says(2, DONE))
    assert not is_remembered(claim, *turns, says(2, reason), says(3, DONE))


def test_the_title_of_a_plan_is_forgotten_once_it_was_carried_out() -> None:
    plan = ToolCall(
        "ExitPlanMode", action="# Plan: Export invoices of closed accounts overnight", ok=True
    )
    turns = asks(0, "Plan it"), _turn(1, Role.TOOL, "", plan)
    title = "Export invoices of closed accounts overnight"
    assert is_remembered(title, *turns, says(2, DONE))
    assert not is_remembered(title, *turns, edits(2, "importer.py"), says(3, DONE))


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("Can you list the strengths of the importer of the ledger?", False),
        ("What are the options for the importer of the ledger?", False),
        ("Brainstorm what the importer of the ledger could do", False),
        ("Explain the importer of the ledger", True),
        ("Any idea why the importer of the ledger fails?", True),
    ],
)
def test_what_is_listed_as_an_idea_is_not_remembered(prompt: str, kept: bool) -> None:
    listed = "Batches keep the memory of the importer small for every tenant."
    answer = says(1, f"- **Small**: {listed}\n- **Fast**: one round trip a batch of rows")
    assert is_remembered(listed, asks(0, prompt), answer) is kept


def test_what_was_looked_up_beside_a_list_of_ideas_is_remembered() -> None:
    fact = "The importer of the ledger reads each row of a tenant in its own query."
    read = _turn(1, Role.TOOL, "", ToolCall("Read", "importer.py", ok=True))
    prompt = asks(0, "What are the options for the importer?")
    assert is_remembered(fact, prompt, read, says(2, fact))
    assert not is_remembered(fact, prompt, says(2, fact))
