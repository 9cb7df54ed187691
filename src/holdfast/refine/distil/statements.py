"""Cuts what was said into statements: sentences, list items and table rows, each with its place.

A statement is what may be remembered: one sentence, two that belong together, or a whole list item.
Code is left out, with and without a fence. A list item under "Root cause:" keeps that as its
`lead`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from holdfast.language import BOLD, FRAME_LINE, collapse_spaces, plain, sentences
from holdfast.refine.core.source_code import are_code, is_code
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
_BOLD = regex(BOLD)
_BOLD_LINE = regex(r"^\s*\*\*([^*]{3,80})\*\*:?\s*$")
_ITEM = regex(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
# How an item begins that has a name: "**Rows come twice** — the wrapper …".
_NAME = regex(r"^\*\*([^*]{3,}?)\*\*")
_ROW = regex(r"^\s*\|(.*)\|\s*$")
_RULER = regex(r"^[\s|:=_*#>~-]+$")
_QUOTED = regex(r"^[ \t]*(?:>[ \t]+)+")
# What stands above a list of what must hold.
_RULES = regex(
    r"\b(?:rules?|constraints?|requirements?|conditions?|principles?|guidelines?|criteria)\b", re.I
)


class Block(NamedTuple):
    """A paragraph, a list item or a table row (`is_item`), with the heading above it and the line
    that introduces it. `is_code`: its lines are code that no fence marks."""

    text: str
    heading: str
    lead: str
    is_item: bool
    is_code: bool = False


class Statement(NamedTuple):
    """A statement as it was written, on one line. `position` is its number among the `total`
    sentences of the text and `length` of how many it is made; `before` is the sentence before it,
    `is_whole` whether it is all of its block, `heading` what stands above the lead."""

    text: str
    lead: str
    before: str
    is_item: bool
    is_whole: bool
    position: int
    length: int
    total: int
    heading: str = ""


def blocks(text: str) -> list[Block]:
    """The paragraphs, list items and table rows of a markdown text, in order."""
    reader = _BlockReader()
    in_code = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            reader.close()
            reader.after_list()
            in_code = not in_code
        elif not in_code:
            reader.add(_QUOTED.sub("", line) if ">" in line else line)
    reader.close()
    return reader.found


class _BlockReader:
    """Joins lines into blocks, and remembers what stands above them."""

    def __init__(self) -> None:
        self.found: list[Block] = []
        self._heading = self._lead = ""
        self._lines: list[str] = []
        self._is_item = self._in_list = False
        self._indent = 0
        # The items that the open one stands below, as their indent and what they are about.
        self._above: list[tuple[int, str]] = []

    def add(self, line: str) -> None:
        """Read the next line outside of code."""
        bare = line.strip()
        first = bare[:1]
        title = None
        if first in ("#", "*"):
            title = _HEADING.match(line) or _BOLD_LINE.match(line)
        row = _ROW.match(line) if first == "|" else None
        item = _ITEM.match(line)
        if title or not bare or (not first.isalnum() and _is_ruler(line)):
            self.close()
            if title:
                self._heading, self._lead = collapse_spaces(plain(title.group(1))).rstrip(":"), ""
        elif row:
            cells = [cell.strip() for cell in row.group(1).split("|")]
            self._open(" — ".join(cell for cell in cells if cell), True)
            self.close()
        elif item:
            self._open(line[item.end() :], True, len(line) - len(line.lstrip()))
        elif self._lines:
            self._lines.append(line)
        else:
            self._open(line, False)

    def _open(self, line: str, is_item: bool, indent: int = 0) -> None:
        self.close()
        self._is_item, self._indent, self._lines = is_item, indent, [line]

    def after_list(self) -> None:
        """What introduces a list or a block of code does not introduce the paragraph after it."""
        self._in_list = True

    def close(self) -> None:
        """The block that was read so far is complete. A paragraph that ends with a colon is the
        lead of the list after it, an item that of the items below it."""
        lines, self._lines = self._lines, []
        words = collapse_spaces(" ".join(lines))
        if not words:
            return
        code = are_code(lines)
        if self._is_item:
            self._above = [above for above in self._above if above[0] < self._indent]
            lead = next((head for _, head in reversed(self._above) if head), self._lead)
            self._above.append((self._indent, _head_of(words)))
            self.found.append(Block(words, self._heading, lead, True, code))
        else:
            is_lead = words.endswith(":")
            # After a list its lead is over.
            lead = "" if is_lead or self._in_list else self._lead
            self._above = []
            self.found.append(Block(words, self._heading, lead, False, code))
            self._lead = words if is_lead else ""
        self._in_list = self._is_item


def _is_ruler(line: str) -> bool:
    """Whether a line only parts others."""
    return _RULER.match(line) is not None or ("───" in line and FRAME_LINE.match(line) is not None)


def _head_of(item: str) -> str:
    """What an item is about, for those below it; "" where it does not say that in a few words."""
    named = _NAME.match(item)
    head = plain(named.group(1) if named else item).rstrip(":. ")
    return head if len(head) <= LIMITS.max_lead_chars else ""


def find_statements(text: str) -> list[Statement]:
    """The statements of a text: each sentence, each two neighbours of a block, and each block.
    Code is none."""
    split = split_blocks(text)
    count = sum(len(parts) for _, parts in split)
    found: list[Statement] = []
    position, before = 0, ""
    for block, parts in split:
        lead = _lead_of(block)
        heading = block.heading if len(block.heading) <= LIMITS.max_lead_chars else ""
        for words, start, length in () if block.is_code else _spans(parts):
            if is_code(words):
                continue
            previous = parts[start - 1] if start else before
            whole = length == len(parts)
            found.append(
                Statement(
                    words,
                    lead,
                    previous,
                    block.is_item,
                    whole,
                    position + start,
                    length,
                    count,
                    heading,
                )
            )
        position += len(parts)
        before = parts[-1]
    return found


def _lead_of(block: Block) -> str:
    """What introduces a block, or else the heading above it. Of a long lead, the last sentence."""
    lead = block.lead.rstrip(":") or block.heading
    if len(lead) > LIMITS.max_lead_chars:
        lead = (sentences(lead) or [""])[-1]
    return lead if len(lead) <= LIMITS.max_lead_chars else ""


def find_rules(text: str) -> Iterator[Statement]:
    """The lists of a few short items that a text introduces as rules ("The constraints are:"), each
    as one statement."""
    split = split_blocks(text)
    count = sum(len(parts) for _, parts in split)
    position = 0
    for above, listed in groupby(split, key=lambda one: one[0].lead if one[0].is_item else ""):
        found = list(listed)
        length = sum(len(parts) for _, parts in found)
        items = [block.text.rstrip(".;, ") for block, _ in found]
        lead = (sentences(above) or [""])[-1].rstrip(": ") if above else ""
        words = "; ".join(items)
        is_short = all(len(one) <= LIMITS.max_lead_chars for one in (lead, *items))
        if _RULES.search(lead) and is_short and len(words) <= LIMITS.max_joined_chars:
            yield Statement(words, lead, "", True, True, position, length, count)
        position += length


# A long session has some hundred messages. Each is read for its statements, and then around those
# that are chosen.
@lru_cache(maxsize=512)
def split_blocks(text: str) -> Sequence[tuple[Block, Sequence[str]]]:
    """The blocks of a text, each with its sentences. Of a long text only the start and the end."""
    if len(text) > LIMITS.max_text_chars:
        half = LIMITS.max_text_chars // 2
        text = f"{text[:half]}\n\n{text[-half:]}"
    return [(block, _parts(block.text)) for block in blocks(text)]


def _parts(text: str) -> list[str]:
    """The sentences of a block. Bold words that a sentence ends within ("**1. Cache** is warm",
    "**It was stale. It is mended** now") lose their marks, so that none stands alone."""
    parts = sentences(text) or [text]
    cut = [bold[0] for bold in _BOLD.finditer(text) if not any(bold[0] in part for part in parts)]
    for bold in cut:
        text = text.replace(bold, bold[2:-2])
    return (sentences(text) or [text]) if cut else parts


def _spans(parts: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Runs of sentences that may be a statement: text, number of the first, and how many."""
    for start in range(len(parts)):
        for length in {1, 2, 3, len(parts)}:
            words = " ".join(parts[start : start + length])
            most = LIMITS.max_chars if length == 1 else LIMITS.max_joined_chars
            fits = start + length <= len(parts) and LIMITS.min_chars <= len(words) <= most
            if fits:
                yield words, start, length
