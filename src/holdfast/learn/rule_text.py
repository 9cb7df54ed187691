"""Add a rule to a text without changing a byte of what people wrote.

A pure function of bytes: the rule is inserted at one place, and everything before and after stays
as it is. The place is the end of the last list, in that list's own style (marker, indentation,
blank lines between items, line ends); else the end of the text. A text that cannot be added to
safely is refused with the reason. Files are read and written in `rule_writing`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.language import collapse_spaces
from holdfast.regex import regex
from holdfast.sources.rule_files import fence_after, frontmatter_end

_BOM = b"\xef\xbb\xbf"
_ITEM = regex(r"([ \t]*)([-*+]|\d{1,4}[.)])([ \t]+)\S")
_HEADING = regex(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_CONFLICT = regex(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
# A rule is a sentence or two: it goes into the context of every session.
_MAX_RULE_CHARS = 2000


class RuleAddition(NamedTuple):
    """A rule to be added: its text, the URIs of its evidence, its domain, and the globs of the
    files it is for, which are written only into a new file. With a `section` it goes under the
    heading that contains the last word of it, or under a new one."""

    text: str
    evidence: Sequence[str] = ()
    domain: str = ""
    paths: Sequence[str] = ()
    section: str = ""


class _List(NamedTuple):
    """Where a list ends (the line after its last item), and the style of its items; `loose` with
    blank lines between them."""

    after: int
    indent: str
    marker: str
    gap: str
    loose: bool


def add_rule(raw: bytes | None, addition: RuleAddition) -> bytes:
    """The bytes of a file with a rule added; None is a file that does not exist yet."""
    line = _rule_line(addition)
    if raw is None or not raw.removeprefix(_BOM).strip():
        return (raw or b"") + _new_file(line, addition).encode()
    text = raw.decode("utf-8", "surrogateescape")
    _refuse_unsafe(text)
    newline = _newline(text)
    lines = text.split(newline)
    index, entry = _insertion(lines, line, addition)
    result = [*lines[:index], *entry, *lines[index:]]
    return newline.join(result).encode("utf-8", "surrogateescape")


def _rule_line(addition: RuleAddition) -> str:
    """The rule as one line, with a comment that links its evidence."""
    text = collapse_spaces(addition.text)
    if not text:
        raise InputError("The text is empty.", "Give the text of the rule.")
    if len(text) > _MAX_RULE_CHARS:
        raise InputError(
            f"The rule has {len(text):,} characters; at most {_MAX_RULE_CHARS:,} are allowed.",
            "Shorten it to a sentence or two, or write it into the file yourself.",
        )
    if "<!--" in text or "-->" in text:
        raise InputError("A rule cannot contain a comment.", "Leave out <!-- and -->.")
    links = " ".join(addition.evidence)
    return f"{text} <!-- {links} -->" if links else text


def _new_file(line: str, addition: RuleAddition) -> str:
    head = ""
    if any(set(glob) & set('"\\\r\n') for glob in addition.paths):
        raise InputError(
            "A glob cannot contain quotes, backslashes or line breaks.", "Write it as src/**/*.py."
        )
    if addition.paths:
        globs = "".join(f'  - "{glob}"\n' for glob in addition.paths)
        head = f"---\npaths:\n{globs}---\n\n"
    title = (addition.domain or "rules").replace("-", " ").capitalize()
    heading = f"# {title}\n\n" if not addition.section else f"# Memory\n\n## {addition.section}\n\n"
    return f"{head}{heading}- {line}\n"


def _refuse_unsafe(text: str) -> None:
    if _CONFLICT.search(text.replace("\r", "\n")):
        raise InputError("It has unresolved conflict markers in it.", "Resolve them first.")
    if "\x00" in text:
        raise InputError("It is not a text file.", "Save it as UTF-8 first.")
    fence = ""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fence = fence_after(line, fence)
    if fence:
        raise InputError("A code block in it is never closed.", "Close it first.")
    if text.rfind("<!--") > text.rfind("-->"):
        raise InputError("A comment in it is never closed.", "Close it first.")


def _newline(text: str) -> str:
    """The line end of most lines."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    if not crlf and not lf:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if crlf > lf else "\n"


def _insertion(lines: list[str], line: str, addition: RuleAddition) -> tuple[int, list[str]]:
    """The number of the line before which the rule goes, and the lines to insert."""
    plain = [text.rstrip("\r") for text in lines]
    plain[0] = plain[0].removeprefix("\ufeff")
    span = _section_span(plain, addition.section)
    if span is None:
        return _end_of_text(plain, len(plain)), ["", f"## {addition.section}", "", f"- {line}"]
    found = _last_list(plain, *span)
    # In a file with mixed line ends the new line takes that of the line before it.
    if found is not None:
        mark = "\r" if found.after and lines[found.after - 1].endswith("\r") else ""
        entry = f"{found.indent}{found.marker}{found.gap}{line}{mark}"
        return found.after, [mark, entry] if found.loose else [entry]
    at = _end_of_text(plain, span[1])
    return at, ["", f"- {line}"]


def _end_of_text(plain: list[str], last: int) -> int:
    """The number of the line after the last one that is not blank, up to `last`."""
    while last > 0 and not plain[last - 1].strip():
        last -= 1
    return last


def _section_span(plain: list[str], section: str) -> tuple[int, int] | None:
    """The first line of a section and the line after it; None if there is no such section. With ""
    all lines after the frontmatter."""
    start = frontmatter_end(plain)
    if not section:
        return start, len(plain)
    fence, level, first = "", 0, -1
    for number, line in enumerate(plain[start:], start):
        fence = fence_after(line, fence)
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            continue
        if first >= 0 and len(heading.group(1)) <= level:
            return first, number
        if first < 0 and section.split()[-1].lower() in heading.group(2).lower():
            first, level = number + 1, len(heading.group(1))
    return (first, len(plain)) if first >= 0 else None


def _last_list(plain: list[str], first: int, last: int) -> _List | None:
    """The last list outside of code blocks; None if there is none, or text follows it."""
    fence, found, items, blank = "", None, 0, 0
    loose = False
    for number in range(first, last):
        line = plain[number]
        fence_before, fence = fence, fence_after(line, fence)
        item = None if fence or fence_before else _ITEM.match(line)
        own = found.indent if found is not None and items else "   "
        if item is not None and len(item.group(1).expandtabs(4)) <= len(own.expandtabs(4)):
            loose = bool(items and blank)
            items, blank = items + 1, 0
            found = _List(
                number + 1, item.group(1), _next_marker(item.group(2)), item.group(3), loose
            )
        elif found is not None and not line.strip():
            blank += 1
        elif (
            found is not None
            and (line.startswith((" ", "\t")) or not blank)
            and not _ends_list(line)
        ):
            found, blank = found._replace(after=number + 1), 0
        elif found is not None and (line.strip() and (blank or _ends_list(line))):
            items, blank = 0, 1
    if found is None or _followed_by_text(plain, found, last):
        return None
    return found


def _ends_list(line: str) -> bool:
    """Whether a line ends a list by itself."""
    return _HEADING.match(line) is not None or line.strip().startswith(("---", "***", "|"))


def _followed_by_text(plain: list[str], found: _List, last: int) -> bool:
    """Whether prose follows the list, which then is no list of rules at the end."""
    rest = [line for line in plain[found.after : last] if line.strip()]
    return bool(rest) and not _HEADING.match(rest[0])


def _next_marker(marker: str) -> str:
    number = re.match(r"\d+", marker)
    return f"{int(number.group()) + 1}{marker[-1]}" if number else marker
