"""Titles that agents give to sessions."""

from __future__ import annotations

import re

from holdfast.language import collapse_spaces, without_bold
from holdfast.regex import regex

# What stands for a title until a session has one, and what a small model writes that was asked for
# a title and answers instead.
_NO_TITLE = regex(
    r"^(?:(?:new|child|untitled|unnamed)(?: (?:session|chat|conversation|composer|agent|thread|"
    r"task))?|(?:conversation|session|chat) (?:title|subject|topic)|title)"
    r"(?:\W*\d[\dT:.,Z /-]*)?\W*$|"
    r"^(?:I(?:['’](?:ll|m|ve|d)|(?: can| will| need| am| cannot| can['’]t| don['’]t| would)\b)|"
    r"(?:sure|sorry|unfortunately|let me)\b)",
    re.IGNORECASE,
)
_HEADING = regex(r"^#{1,6} +")


def given_title(text: str) -> str:
    """The title that an agent gave a session, without marks of Markdown; "" if it is none."""
    title = without_bold(collapse_spaces(_HEADING.sub("", text.strip())))
    return "" if _NO_TITLE.match(title) else title
