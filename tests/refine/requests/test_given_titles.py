"""Titles that agents give to sessions."""

import pytest

from holdfast.refine.requests.given_titles import given_title


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("New session - 2026-04-30T18:47:24.187Z", ""),
        ("Child session - 2026-04-30T18:47:24.187Z", ""),
        ("New Chat", ""),
        ("## Conversation Title", ""),
        ("I'll inspect the parser to understand its …", ""),
        ("I can help you with those 588 processes. But first, I n...", ""),
        ("New session storage for the importer", "New session storage for the importer"),
        ("Title case in headings", "Title case in headings"),
        ("**Check the formatter's\n settings**", "Check the formatter's settings"),
        ("# Retry uploads", "Retry uploads"),
    ],
)
def test_a_placeholder_and_an_answer_are_no_title(given: str, title: str) -> None:
    assert given_title(given) == title
