from __future__ import annotations

import pytest

from holdfast.refine.distil.completion import complete, refers_back
from holdfast.refine.distil.statements import find_statements


def completed(chosen: str, text: str, *earlier: str) -> str:
    """A statement of a text, completed."""
    statement = next(one for one in find_statements(text) if one.text == chosen)
    return complete(statement, text, earlier).text


def test_the_sentence_that_names_what_a_statement_points_at_is_put_before_it() -> None:
    text = "The lock file stays after a crash. The fix removes it at the next start of the ledger."
    assert completed("The fix removes it at the next start of the ledger.", text) == text


def test_the_sentence_that_says_the_value_follows_its_statement() -> None:
    text = "We settled on a longer timeout for uploads. Retries stop after `MAX_WAIT = 90`."
    assert completed("We settled on a longer timeout for uploads.", text) == text


def test_a_statement_that_needs_nothing_stays_as_it_was_said() -> None:
    own = "`ledger.py` reads every row of a tenant once."
    text = f"The importer has two parts. {own} The portal has a page for each tenant."
    assert completed(own, text) == own


def test_a_sentence_that_points_back_itself_explains_nothing() -> None:
    text = (
        "Set it up as follows:\n\n```\nledger: true\n```\n\n"
        "That requires the importer before a start. The ledger does not make that importer itself."
    )
    own = "The ledger does not make that importer itself."
    assert completed(own, text) == own


def test_a_question_or_small_talk_is_no_explanation() -> None:
    own = "The fix removes the lock file at the next start."
    for before in ("Why does the lock file stay?", "Great, let me look at the lock file."):
        assert completed(own, f"{before} {own}") == own


def test_what_an_agent_is_about_to_do_is_not_added() -> None:
    own = "The ledger itself is where totals come from."
    assert completed(own, f"{own} So I’m going to search `ledger.py` for them.") == own


@pytest.mark.parametrize(
    "added",
    [
        "The project's own 1357 tests all pass.",
        "All 12 tests pass, lint and typecheck are clean.",
        "So rows = Table(columns=NAMES) rows.total = rows.sum(0)",
    ],
)
def test_neither_code_nor_that_tests_pass_is_said_with_a_statement(added: str) -> None:
    own = "Totals of the ledger itself were added up for each tenant again."
    assert completed(own, f"{own} {added}") == own


def test_a_statement_is_remembered_without_its_sentence_that_tests_pass() -> None:
    own = "The six failures come from a clone of the ledger."
    chosen = f"{own} The project's own 1357 tests all pass."
    assert completed(chosen, chosen) == own


def test_nothing_is_added_beyond_the_length_of_a_record() -> None:
    own = "The fix removes the lock file at the next start."
    assert completed(own, f"{'The lock file of the ledger stays ' * 12}. {own}") == own


def test_a_fix_is_said_with_the_problem_in_the_item_above_it() -> None:
    text = (
        "## Totals\n\n- **Problem**: rows of two tenants were added up\n"
        "- **Fix**: the query of `totals()` filters by tenant and by month"
    )
    found = completed("**Fix**: the query of `totals()` filters by tenant and by month", text)
    assert found == (
        "**Problem**: rows of two tenants were added up. "
        "**Fix**: the query of `totals()` filters by tenant and by month"
    )


def test_a_short_item_is_said_with_the_rest_of_its_short_list() -> None:
    text = "The ledger supports these databases:\n\n- PostgreSQL from 16 on\n- SQLite with WAL"
    assert completed("PostgreSQL from 16 on", text) == "PostgreSQL from 16 on; SQLite with WAL"
    long = text + "".join(f"\n- the database number {n} of the harbour" for n in range(6))
    assert completed("PostgreSQL from 16 on", long) == "PostgreSQL from 16 on"


def test_a_list_whose_lead_counts_its_items_is_kept_whole() -> None:
    items = (
        "the path of the tenant with the fewest parts that the ledger has in its index",
        "the newest month of every tenant that has counted rows of harbour fees in the ledger",
    )
    text = f"The order follows both criteria:\n\n- {items[0]}\n- {items[1]}"
    assert completed(items[1], text) == "; ".join(items)
    assert completed(items[1], text.replace("both criteria", "these")) == items[1]


def test_an_option_is_said_with_what_it_is() -> None:
    asked = "Two ways:\n\n- **Option A**: keep the rows\n- **Option B**: drop rows after a month"
    own = "We go with option B for the ledger of all tenants."
    assert completed(own, own, asked) == (
        "We go with option B (drop rows after a month) for the ledger of all tenants."
    )
    assert completed(own, own) == own


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("This removes the lock file.", True),
        ("Instead, the ledger waits.", True),
        ("The second keeps the rows.", True),
        ("With that importer the ledger waits.", True),
        ("The problem was a lock file.", True),
        ("The ledger waits for the lock file.", False),
        ("The problem of the ledger was a lock file.", False),
    ],
)
def test_what_refers_back_is_known_by_its_words(sentence: str, expected: bool) -> None:
    assert refers_back(sentence) is expected


def test_a_paragraph_that_begins_with_a_known_matter_is_said_with_the_one_above_it() -> None:
    own = "The fix removes the lock file at the next start of the importer."
    before = "A crash of the ledger leaves its lock file."
    assert completed(own, f"{before}\n\n{own}") == f"{before} {own}"
    assert completed(own, f"{before}\n\n## Locks\n\n{own}") == own


def test_marks_before_items_are_left_out_of_their_list() -> None:
    text = "It keeps:\n\n- ✅ rows of one tenant\n- ❌ rows without a tenant"
    assert completed("✅ rows of one tenant", text) == "rows of one tenant; rows without a tenant"
