"""Command lines of Windows: one string, which every program splits into words by itself.

`split_words` reads a line as programs built with Microsoft's C library do; `join_words_for_cmd` is
for a line that cmd.exe reads first. Pure functions of text, the same on every system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.errors import InputError

_NEEDS_NO_QUOTES = re.compile(r"[\w@+=:,./\\-]+\Z", re.ASCII)
# Characters that cmd.exe interprets even inside quotation marks; they cannot be escaped.
_IMPOSSIBLE_FOR_CMD = re.compile(r'[%!"\r\n\0]')


def join_words_for_cmd(parts: Sequence[str]) -> str:
    """A line for cmd.exe; refused where cmd.exe would change the words."""
    if any(_IMPOSSIBLE_FOR_CMD.search(part) for part in parts):
        raise InputError(
            "A path with %, ! or a quotation mark cannot be given to cmd.exe as it is.",
            "Choose another home with HOLDFAST_HOME: letters, digits, spaces are fine.",
        )
    return " ".join(f'"{part}"' if not _NEEDS_NO_QUOTES.match(part) else part for part in parts)


def split_words(text: str) -> list[str]:
    """Split a line as programs built with Microsoft's C library do, since 2008."""
    rest = text.lstrip(" \t")
    if not rest:
        return []
    first, rest = _split_program(rest)
    found = [first]
    while rest := rest.lstrip(" \t"):
        one, rest = _split_word(rest)
        found.append(one)
    return found


def _split_program(text: str) -> tuple[str, str]:
    """The program, and the rest: up to the next quotation mark, or to the next space."""
    if text.startswith('"'):
        name, _, rest = text[1:].partition('"')
        return name, rest
    found = re.match(r"[^ \t]*", text)
    end = found.end() if found else 0
    return text[:end], text[end:]


def _split_word(text: str) -> tuple[str, str]:
    made, at, quoted = "", 0, False
    while at < len(text):
        slashes = len(text[at:]) - len(text[at:].lstrip("\\"))
        at += slashes
        if at < len(text) and text[at] == '"':
            made += "\\" * (slashes // 2)
            if slashes % 2:
                made, at = made + '"', at + 1
            elif quoted and text[at + 1 : at + 2] == '"':
                made, at = made + '"', at + 2
            else:
                quoted, at = not quoted, at + 1
            continue
        made += "\\" * slashes
        if at >= len(text) or (text[at] in " \t" and not quoted):
            break
        made, at = made + text[at], at + 1
    return made, text[at:]
