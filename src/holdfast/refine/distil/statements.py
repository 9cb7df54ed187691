"""Cuts what was said into statements: sentences, list items and table rows, each with its place.

A statement is what may be remembered: one sentence, two that belong together, or a whole list item.
Code blocks are left out. A list item under "Root cause:" keeps that as its `lead`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from holdfast.language import collapse_spaces, plain, sentences
from holdfast.regex import regex


class StatementLimits(NamedTuple):
    """Lengths in characters. Shorter statements say nothing by themselves, longer ones say too
    much at once."""

    min_chars: int = 16
    max_chars: int = 420
    max_joined_chars: int = 400
    max_lead_chars: int = 90
    # Of a longer text only the start and the end are read: the middle is pasted.
    max_text_chars: int = 12_000


LIMITS = StatementLimits()

_FENCE = regex(r"^\s*(```|~~~)")
_HEADING = regex(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_BOLD_LINE = regex(r"^\s*\*\*([^*]{3,80})\*\*:?\s*$")
_ITEM = regex(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
_ROW = regex(r"^\s*\|(.*)\|\s*$")
_RULER = regex(r"^[\s|:=_*#>~-]+$")
_QUOTED = regex(r"^[ \t]*(?:>[ \t]+)+")


class Block(NamedTuple):
    """A paragraph, a list item or a table row (`is_item`), with the heading above it and the line
    that introduces it."""

    text: str
    heading: str
    lead: str
    is_item: bool


class Statement(NamedTuple):
    """A statement as it was written, on one line. `position` is its number among the `count`
    sentences of the text and `length` of how many it is made; `before` is the sentence before it,
    `is_whole` whether it is all of its block."""

    text: str
    lead: str
    before: str
    is_item: bool
    is_whole: bool
    position: int
    length: int
    count: int


def blocks(text: str) -> list[Block]:
    """The paragraphs, list items and table rows of a markdown text, in order."""
    found: list[Block] = []
    heading = lead = ""
    lines: list[str] = []
    is_item = in_code = False

    def close() -> None:
        nonlocal lead, lines
        words = collapse_spaces(" ".join(lines))
        lines = []
        if not words:
            return
        if words.endswith(":") and not is_item:
            lead = words
        found.append(Block(words, heading, "" if lead == words else lead, is_item))
        if not is_item and lead != words:
            lead = ""

    for line in text.split("\n"):
        if _FENCE.match(line):
            close()
            in_code = not in_code
            continue
        if in_code:
            continue
        line = _QUOTED.sub("", line)
        title = _HEADING.match(line) or _BOLD_LINE.match(line)
        if title or not line.strip() or _RULER.match(line):
            close()
            if title:
                heading, lead = collapse_spaces(plain(title.group(1))).rstrip(":"), ""
            continue
        row, item = _ROW.match(line), _ITEM.match(line)
        if row:
            close()
            cells = [cell.strip() for cell in row.group(1).split("|")]
            is_item, lines = True, [" — ".join(cell for cell in cells if cell)]
            close()
        elif item:
            close()
            is_item, lines = True, [line[item.end() :]]
        elif lines:
            lines.append(line)
        else:
            is_item, lines = False, [line]
    close()
    return found


def find_statements(text: str) -> list[Statement]:
    """The statements of a text: each sentence, each two neighbours of a block, and each block."""
    if len(text) > LIMITS.max_text_chars:
        half = LIMITS.max_text_chars // 2
        text = f"{text[:half]}\n\n{text[-half:]}"
    split = [(block, sentences(block.text) or [block.text]) for block in blocks(text)]
    count = sum(len(parts) for _, parts in split)
    found: list[Statement] = []
    position, before = 0, ""
    for block, parts in split:
        lead = block.lead.rstrip(":") or block.heading
        lead = lead if len(lead) <= LIMITS.max_lead_chars else ""
        for words, start, length in _spans(parts):
            previous = parts[start - 1] if start else before
            whole = length == len(parts)
            found.append(
                Statement(
                    words, lead, previous, block.is_item, whole, position + start, length, count
                )
            )
        position += len(parts)
        before = parts[-1]
    return found


def _spans(parts: list[str]) -> Iterator[tuple[str, int, int]]:
    """Runs of sentences that may be a statement: text, number of the first, and how many."""
    for start in range(len(parts)):
        for length in {1, 2, 3, len(parts)}:
            words = " ".join(parts[start : start + length])
            most = LIMITS.max_chars if length == 1 else LIMITS.max_joined_chars
            fits = start + length <= len(parts) and LIMITS.min_chars <= len(words) <= most
            if fits:
                yield words, start, length
