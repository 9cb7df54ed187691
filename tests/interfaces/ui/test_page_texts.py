"""What the templates say about figures: only what is known, in words that a person reads."""

from __future__ import annotations

import re
from html import unescape

import pytest

from holdfast.app.search.audit import Audit
from holdfast.interfaces.http.pages.review import STALE, TABS
from holdfast.interfaces.ui.render import Pages

NO_HISTORY = "No git history yet, so code cannot be checked."
NO_FILE = "No record is about a file in a known git history."
UNCHANGED = "No record is about changed code."


@pytest.mark.parametrize(
    ("audit", "told", "not_told"),
    [
        (Audit(), NO_HISTORY, UNCHANGED),
        (Audit(unknown=3), NO_HISTORY, UNCHANGED),
        (Audit(unknown=3, histories=1), NO_FILE, UNCHANGED),
        (Audit(about_no_file=3, histories=1), NO_FILE, UNCHANGED),
        (Audit(fresh=2, unknown=1, histories=1), "1 record could not be checked", NO_FILE),
        (Audit(fresh=2, histories=1), UNCHANGED, "could not be checked"),
    ],
)
def test_code_is_said_to_be_as_it_was_only_where_a_history_tells(
    audit: Audit, told: str, not_told: str
) -> None:
    shown = {"tab": STALE, "tabs": TABS, "counts": {}, "audit": audit, "refused": ()}
    page = Pages().render("review.html", **shown)
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))
    assert told in text and not_told not in text
