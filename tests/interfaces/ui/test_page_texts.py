"""What the templates say about figures: only what is known, in words that a person reads."""

from __future__ import annotations

import re
from html import unescape
from types import SimpleNamespace

import pytest

from holdfast.app.search.audit import AuditReport
from holdfast.interfaces.http.pages.review import STALE, TABS
from holdfast.interfaces.ui.render import Pages
from holdfast.model.anchors import FileFreshness
from holdfast.model.trust import Freshness

NO_HISTORY = "No git history yet, so code cannot be checked."
NO_FILE = "No record is about a file in a known git history."
UNCHANGED = "No record is about changed code."


@pytest.mark.parametrize(
    ("freshness", "outcome"),
    [
        (Freshness.FRESH, "a.py is as it was"),
        (Freshness.UNKNOWN, "a.py is in no history that was read"),
        (Freshness.GONE, "a.py is gone"),
        (Freshness.CHANGED, "a.py changed on disk since, not committed"),
    ],
)
def test_a_file_without_a_history_is_not_said_to_be_as_it_was(
    freshness: Freshness, outcome: str
) -> None:
    assert FileFreshness("a.py", freshness).outcome == outcome


@pytest.mark.parametrize(
    ("report", "told", "not_told"),
    [
        (AuditReport(), NO_HISTORY, UNCHANGED),
        (AuditReport(unknown=3), NO_HISTORY, UNCHANGED),
        (AuditReport(unknown=3, histories=1), NO_FILE, UNCHANGED),
        (AuditReport(about_no_file=3, histories=1), NO_FILE, UNCHANGED),
        (AuditReport(fresh=2, unknown=1, histories=1), "1 record could not be checked", NO_FILE),
        (AuditReport(fresh=2, histories=1), UNCHANGED, "could not be checked"),
    ],
)
def test_code_is_said_to_be_as_it_was_only_where_a_history_tells(
    report: AuditReport, told: str, not_told: str
) -> None:
    look = SimpleNamespace(queue=None, audit=report, refusals=())
    page = Pages().render("review.html", tab=STALE, tabs=TABS, counts={}, look=look, note="")
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))
    assert told in text and not_told not in text
