"""Takes out of a brief what a session was told already: what was quoted to it word for word.

Setup copies this file beside answer.py, which imports it for briefs that come after the first of a
session. The first words of what was told stay, so that the model knows which of it concerns the
prompt or the file at hand: many steps may lie between.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPEN, CLOSE = "“", "”"
# What an entry of a brief begins with, and its further lines.
ENTRY, INSIDE = "- ", " "
# Lines of an entry that say what it replaced: not what it tells.
REPLACED = ("  This replaces ", "  This changes ")
MAX_REMINDER_CHARS = 80
# A quote of fewer characters ("yes") may be part of another by chance.
MIN_QUOTE_CHARS = 20
# A message counts as told if this share of it was: the rest of it stays.
MIN_TOLD_SHARE = 0.5


def without_told(text: str, before: list[dict[str, Any]]) -> str:
    """A brief with the entries that `before` tells replaced by a line of their first words; as it
    was if nothing of it was told. Of `before` what was told since the context was last empty
    counts."""
    told: list[str] = []
    for injected in before:
        if injected.get("kind") == "start":
            told = []
        told += quotes_in(str(injected.get("text")))
    told = sorted(set(told), key=len, reverse=True)
    head, entries, foot = split_entries(text)
    known = [entry for entry in entries if is_told(entry, told)]
    if not known:
        return text
    words = [reminder(quote, told) for entry in known for quote in quotes(entry)]
    line = "- as this session was told before: " + " ".join(words)
    new = [line for entry in entries if entry not in known for line in entry]
    return "\n".join((*head, *new, line, *foot))


def split_entries(text: str) -> tuple[list[str], list[list[str]], list[str]]:
    """The lines of a brief before its entries, those of each entry, and those after them."""
    head: list[str] = []
    entries: list[list[str]] = []
    lines = text.split("\n")
    while lines and not lines[0].startswith(ENTRY):
        head.append(lines.pop(0))
    while lines and lines[0].startswith(ENTRY):
        entry = [lines.pop(0)]
        while lines and lines[0].startswith(INSIDE):
            entry.append(lines.pop(0))
        entries.append(entry)
    return head, entries, lines


def is_told(entry: list[str], told: list[str]) -> bool:
    """Whether all that an entry quotes was told, for the most part."""
    return bool(quotes(entry)) and all(
        sum(map(len, parts_told(quote, told))) >= MIN_TOLD_SHARE * len(quote)
        for quote in quotes(entry)
    )


def parts_told(quote: str, told: list[str]) -> list[str]:
    """The parts of a quote that were told, the longest first, none within another."""
    found: list[str] = []
    for one in told:
        is_part = len(one) >= MIN_QUOTE_CHARS and one in quote
        if one == quote or (is_part and not any(one in longer for longer in found)):
            found.append(one)
    return found


def reminder(quote: str, told: list[str]) -> str:
    """A quote with the first words of each part that was told."""
    for part in parts_told(quote, told):
        quote = quote.replace(part, shortened(part))
    return f"{OPEN}{quote}{CLOSE}"


def quotes(entry: list[str]) -> list[str]:
    """What an entry quotes. The first of several lines has the title of the work instead."""
    lines = entry[1:] if len(entry) > 1 else entry
    return quotes_in("\n".join(line for line in lines if not line.startswith(REPLACED)))


def quotes_in(text: str) -> list[str]:
    """What a text has in quotation marks."""
    parts = text.split(OPEN)[1:]
    return [part.partition(CLOSE)[0] for part in parts if CLOSE in part]


def shortened(words: str) -> str:
    """The first words of a quote."""
    if len(words) <= MAX_REMINDER_CHARS:
        return words
    return words[:MAX_REMINDER_CHARS].rpartition(" ")[0] + " …"
