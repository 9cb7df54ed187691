"""Which part of a message was typed."""

from __future__ import annotations

import time

import pytest

from holdfast.refine.facts.typed_text import is_handed_over, own_lines, typed_text

TYPED = "When i open the ledger, the page must stay empty."


@pytest.mark.parametrize(
    "printed",
    [
        "⨯ release failed after 0s  error=only version 1 is supported, please update",
        "[nodemon] 3.1.10\n[nodemon] to restart at any time, enter `rs`",
        "docs:lint: 3:31  Warning: 'useMemo' is defined but never used.",
        "➜  ledger git:(main) ✗ npm run build\nCreating an optimized build",
        "src/ledger.ts:32:7 - error TS2740: Type 'Row' must have a name",
        "Failed to update the machine: force_https is not allowed with the tls handler",
        "TypeError: rows is not a function\n    at read (http://localhost:3002/ledger.js:55:40)",
        'Traceback (most recent call last):\n  File "ledger.py", line 3, in read',
        "2025-05-18T13:33:01.606Z ERROR 1 --- the table must not be empty",
        "=== SKIP: pkg/ledger TestRead (0.00s)\n    ledger_test.go:23: Testing rows",
        "Run actions/checkout@v4\n  with:\n    path: ledger\nError: Input required: token",
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_what_a_program_printed_was_not_typed(printed: str, gap: str) -> None:
    assert own_lines(f"{TYPED}{gap}{printed}{gap}Please keep it so.").split() == (
        f"{TYPED} Please keep it so.".split()
    )


def test_what_was_printed_goes_on_until_somebody_says_something() -> None:
    form = "The form contains the following errors:\n\n    Must be RSA or ECDSA\n    Key is invalid"
    assert own_lines(
        f"Adding the key I get these errors:\n\n{form}\n\nWe need another one."
    ).split() == ("Adding the key I get these errors: We need another one.".split())


@pytest.mark.parametrize(
    "text",
    [
        TYPED,
        "Error handling must stay in the importer.\n\nWarning: do not touch the ledger.",
        "# Ledger\n\n| name | must |\n|---|---|\n| rows | be sorted |\n\n- ✅ one a day",
        "It ends with exit code 1 because the ledger is locked.",
        "- Error: never shown to users\n- Always log the id\n- Keep handlers small",
        "Folder layout we keep:\nsrc\n├ api\n└ ui\nNever import ui from api",
        "Cannot stress this enough: never push to main",
        "[frontend] never use default exports",
        "from here on always use localhost:3000 for the API",
        "GET /users 404 must return JSON",
        "% of coverage must stay above 90",
        "1.500 tokens is the limit",
        "=> use tabs not spaces",
    ],
)
def test_what_people_write_is_left_as_it_is(text: str) -> None:
    assert own_lines(text) == typed_text(text) == text


def test_quotes_and_accepted_plans_are_not_typed() -> None:
    assert typed_text(f"> I will always ask first.\n\n{TYPED}").strip() == TYPED
    plan = "Implement the following plan:\n\n# Rows\n\nNever read them twice."
    assert is_handed_over(plan)
    assert typed_text(plan) == ""


@pytest.mark.parametrize(
    ("printed", "rule"),
    [
        ("TypeError: x is not a function\n", "Always run the tests before a commit."),
        ("Error: x is undefined", "Use Postgres for the invoice queue instead of Redis."),
        ("error: x", "Nie direkt pushen"),
    ],
)
def test_what_people_lay_down_beside_printed_lines_stays(printed: str, rule: str) -> None:
    assert own_lines(f"{printed}\n{rule}").strip() == rule


@pytest.mark.parametrize(
    "text",
    [
        "get error " * 1000,
        "we see logs and get the error " * 300,
        "~" * 10000 + "!",
        " " * 10000,
        "causing " + "aB" * 5000,
        "causing " + "a" * 10000,
    ],
)
def test_long_lines_take_no_time(text: str) -> None:
    start = time.process_time()
    own_lines(text)
    assert time.process_time() - start < 0.5
