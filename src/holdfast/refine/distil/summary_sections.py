"""The sections of an agent's own summary of its session: what it learned, decided and left open.

What people said is not taken from a summary: that is in the conversation, in their own words.
"""

from __future__ import annotations

import re
from enum import StrEnum

from holdfast.regex import regex


class Section(StrEnum):
    """What a section of a summary tells."""

    KNOWLEDGE = "knowledge"
    FIXES = "fixes"
    PENDING = "pending"


# In this order: "Errors and fixes" is not about what is pending, "Pending fixes" is.
_TITLES = (
    (Section.PENDING, regex(r"pending|remaining|outstanding|to-?do|unfinished", re.IGNORECASE)),
    (Section.FIXES, regex(r"\berrors?\b|\bfixes\b|lessons?|gotchas?|pitfalls", re.IGNORECASE)),
    (
        Section.KNOWLEDGE,
        regex(
            r"concepts?|decisions?|problem[ -]solving|discover|constraints?|conventions?|findings|"
            r"learned|learnings?|insights",
            re.IGNORECASE,
        ),
    ),
)
# Titles of sections that begin another part of a summary, with or without a number.
_OTHERS = (
    r"primary request|all user messages|user messages|files and code|relevant files|current work|"
    r"optional next step|next steps?|goal|instructions|accomplished|progress|overview"
)
_KNOWN = (
    r"key (?:technical )?concepts|technical (?:context|details|concepts)|errors? and fix\w*|"
    r"problem[ -]solving|pending (?:tasks|work|items)|remaining (?:tasks|work)|key decisions|"
    r"decisions|discoveries|constraints|lessons learned|key learnings"
)
_OTHER = regex(_OTHERS, re.IGNORECASE)
_TITLE = regex(
    r"^(?:(?P<marks>#{1,4})[ \t]+\**(?:\d{1,2}[.)][ \t]*)?(?P<heading>[^\n]{3,80}?)\**:?\**[ \t]*$"
    rf"|\**(?:\d{{1,2}}[.)][ \t]*)?\**(?P<title>(?:{_KNOWN}|{_OTHERS})\b[^\n:*]{{0,50}}?)"
    r"(?:\**:\**|\*\*)(?P<rest>[^\n]*)$)",
    re.IGNORECASE | re.MULTILINE,
)
# Items on how the agent used its own tools, which nobody needs to know next time.
_OWN_TOOLS = regex(
    r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t][^\n]*(?:has not been read|modified since (?:it was )?read|"
    r"(?:Write|Edit|Read|Bash|Glob|Grep) tool\b|string to replace|old_string|tool_use_error|"
    r"wrong (?:path|directory|folder))[^\n]*$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# An item with a name: "- **Rows came twice (CURRENT)**: the wrapper … Fixed by …".
_NAMED_ITEM = regex(
    r"^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+\*\*(?P<name>[^*\n]{3,90}?)"
    r"(?:[ \t]*\((?:current|in progress|now|latest)[^)\n]*\))?[:.]?\*\*[ \t]*[:—–-]*[ \t]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_UNFIXED = regex(
    r"^#### [^\n]*\b(?:unfixed|unresolved|not (?:yet )?fixed)\b.*?(?=^#### |\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_NONE = regex(r"^\W*(?:none|n/?a|nothing|no (?:pending|remaining|errors?|explicit))\b", re.I)


def read_sections(text: str) -> list[tuple[Section, str]]:
    """The sections of a summary that say what to remember, in order."""
    titles = _titles(text)
    found: list[tuple[Section, str]] = []
    for number, title in enumerate(titles, 1):
        end = titles[number].start() if number < len(titles) else len(text)
        section = _section_of(title["heading"] or title["title"])
        body = f"{title['rest'] or ''}\n{text[title.end() : end]}".strip()
        if section is not None and not _NONE.match(body):
            found.append((section, _read_items(body)))
    return [(section, body) for section, body in found if body]


def _titles(text: str) -> list[re.Match[str]]:
    """The titles of sections. A heading below one of them is a part of its section."""
    found: list[re.Match[str]] = []
    for title in _TITLE.finditer(text):
        known = title["title"] or _section_of(title["heading"]) or _OTHER.search(title["heading"])
        if known or not found or _level(title) <= _level(found[-1]):
            found.append(title)
    return found


def _level(title: re.Match[str]) -> int:
    return len(title["marks"] or "")


def _section_of(name: str) -> Section | None:
    return next((section for section, words in _TITLES if words.search(name)), None)


def _read_items(body: str) -> str:
    """The items of a section that tell something for later. Below its name as a heading, each
    sentence of an item says what it is about."""
    body = _NAMED_ITEM.sub(r"\n#### \g<name>\n\n", _OWN_TOOLS.sub("", body))
    return _UNFIXED.sub("", body).strip()
