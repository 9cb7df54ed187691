"""Takes out of a brief what a session was told already: what is quoted in it word for word.

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
# Most rules are shorter, so they are whole where they matter once more.
MAX_REMINDER_CHARS = 120


def without_told(text: str, before: list[dict[str, Any]]) -> str:
    """A brief with the entries that `before` tells replaced by a line of their first words; as it
    was if nothing of it was told. Of `before` what was told since the context was last empty
    counts."""
    told = ""
    for injected in before:
        words = str(injected.get("text"))
        told = words if injected.get("kind") == "start" else f"{told}\n{words}"
    head, entries, foot = split_entries(text)
    known = [entry for entry in entries if is_told(entry, told)]
    if not known:
        return text
    words = "; ".join(f"{OPEN}{shortened(quotes(entry)[0])}{CLOSE}" for entry in known)
    reminder = f"- as this session was told before: {words}"
    new = [line for entry in entries if entry not in known for line in entry]
    return "\n".join((*head, *new, reminder, *foot))


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


def is_told(entry: list[str], told: str) -> bool:
    """Whether all that an entry quotes was told."""
    return bool(quotes(entry)) and all(f"{OPEN}{one}{CLOSE}" in told for one in quotes(entry))


def quotes(entry: list[str]) -> list[str]:
    """What an entry quotes. The first of several lines has the title of the work instead."""
    lines = entry[1:] if len(entry) > 1 else entry
    parts = [part for line in lines if not line.startswith(REPLACED) for part in line.split(OPEN)]
    return [part.partition(CLOSE)[0] for part in parts if CLOSE in part]


def shortened(words: str) -> str:
    """The first words of a quote."""
    if len(words) <= MAX_REMINDER_CHARS:
        return words
    return words[:MAX_REMINDER_CHARS].rpartition(" ")[0] + " …"
