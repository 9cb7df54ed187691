from __future__ import annotations

import time

import pytest

from holdfast.refine.requests.subjects import subject_of


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Speed up the invoice export", "Speed up the invoice export"),
        ("Can you please speed up the invoice export?", "Speed up the invoice export"),
        ("I need to repair a failing ledger test", "Repair a failing ledger test"),
        ("fix(ledger): guard totals against tenants without rows", "Guard totals against tenants "
         "without rows"),
        ("Ledger import — rows of two tenants", "Ledger import — rows of two tenants"),
        ("Quay oh-my-lock issue 12 analysis", "Quay oh-my-lock issue 12 analysis"),
        ("Verify ledger totals (@general subagent)", "Verify ledger totals"),
        ("Add a retry to the uploader, but the portal does not support it",
         "Add a retry to the uploader"),
        ("Repair the hook of the shell ┃ │ cd /home/dev/ledger", "Repair the hook of the shell"),
        (f"Add a retry to the uploader of the portal for {'very ' * 20}large parcels",
         "Add a retry to the uploader of the portal"),
    ],
)  # fmt: skip
def test_an_order_or_a_title_is_a_subject(request_: str, expected: str) -> None:
    assert subject_of(request_) == expected


@pytest.mark.parametrize(
    "request_",
    [
        "Why does the ledger import read rows twice?",
        "Ledger deploy got pretty far",
        "Initial commit: ledger monorepo setup",
        "Update @README.md and @apps/ledger/README.md",
        "✖ pkg/ledger/importer (13.238s)",
        "Could we add a ledger import for tenants then",
        "Internal changes of the ledger are never breaking changes",
        "We can have the ledger as a custom importer",
        "Use the writing skills on this document",
        "Fix this in the ledger importer of the portal",
        "Add the two ledger gaps",
        "Changed: ledger/importer.py",
        "Task #17: ledger compose validation - COMPLETED",
        "The ledger database is ready",
        "Your job is to review code changes and provide actionable feedback",
        "review changes [commit|branch|pr], defaults to uncommitted",
        "Investigate why i get ledger errors in the portal",
        "In the ledger, the importer workflow (uses the runner of the portal) globs all tables…",
        "Ты там не завис в таблице счетов совсем опять",
        "Uv run ledger checks — Added proper imports to the ledger",
        "git rebase ledger importer branch",
        "Call ours ledger importer",
        "Fine, let's do ledger importers",
        "yes",
        "",
    ],
)
def test_questions_remarks_reports_and_what_points_elsewhere_are_no_subjects(
    request_: str,
) -> None:
    assert subject_of(request_) == ""


def test_an_order_that_repeats_names_of_documents_takes_no_time() -> None:
    start = time.process_time()
    subject_of(f"Update a{'.md' * 30} x")
    assert time.process_time() - start < 0.5
