"""Output of commands: text with colours at a terminal, or JSON; and how sizes, counts, times and
URIs are written in it."""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable
from typing import TextIO

from holdfast.language import BOLD
from holdfast.model.to_json import to_jsonable
from holdfast.regex import regex

_ANSI_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_MARKED = regex(rf"(?<!`)`(?P<code>[^`\n]+)`(?!`)|{BOLD}")
# Text narrower than this is hard to read, and wider than this, too.
_MIN_WIDTH, _MAX_WIDTH = 40, 110
# The width where the output is no terminal.
_DEFAULT_WIDTH = 100
# How much of an id is printed where it is shortened: 64 bits of a hash, hardly ever ambiguous.
_SHORT_ID_CHARACTERS = 16


class Screen:
    """Writes text and JSON to a stream, standard output by default, in lines of `width`, by default
    that of the terminal."""

    def __init__(self, stream: TextIO | None = None, width: int = 0) -> None:
        self._stream = stream or sys.stdout
        self.is_terminal = self._stream.isatty()
        self._colour = self.is_terminal and "NO_COLOR" not in os.environ
        self.width = width or _width(self._stream)

    def line(self, text: str = "", *styles: str) -> None:
        """One line of text, in these styles."""
        self._stream.write((self.paint(text, *styles) if styles else text) + "\n")

    def section(self, title: str, lines: Iterable[str]) -> None:
        """An empty line, the title and the indented lines; nothing if there are none."""
        listed = list(lines)
        if listed:
            self.title(title)
        for line in listed:
            self.line(f"  {line}")

    def title(self, text: str, *styles: str) -> None:
        """An empty line, then the text."""
        self.line()
        self.line(text, *styles)

    def paint(self, text: str, *styles: str) -> str:
        """The text in these styles; unchanged where colours are not shown."""
        if not self._colour or not text:
            return text
        return f"\x1b[{';'.join(_ANSI_CODES[style] for style in styles)}m{text}\x1b[0m"

    def wrap(self, text: str, indent: str = "", hang: str | None = None) -> None:
        """Paragraphs folded to the width; `hang` indents the lines after the first. Where colours
        are shown, code and bold print are; elsewhere a text stays as it is written."""
        # Marks within a text that has a style already stay: their end would end that style, too.
        render = self._colour and "\x1b" not in text
        for paragraph in text.split("\n"):
            folded = textwrap.fill(
                paragraph,
                self.width,
                initial_indent=indent,
                subsequent_indent=indent if hang is None else hang,
                break_long_words=False,
                break_on_hyphens=False,
            )
            self.line(self._render(folded) if render else folded)

    def _render(self, text: str) -> str:
        """Lines with code and bold print in a style instead of in marks."""
        return "\n".join(_MARKED.sub(self._style, line) for line in text.split("\n"))

    def _style(self, found: re.Match[str]) -> str:
        if code := found.group("code"):
            return self.paint(code, "cyan")
        return self.paint(found.group()[2:-2], "bold")

    def item(self, text: str, indent: str = "") -> None:
        """Like `wrap`, with the lines after the first indented by two more."""
        self.wrap(text, indent, f"{indent}  ")

    def note(self, text: str) -> None:
        """Something to be careful about."""
        self.wrap(f"note: {text}", "", "      ")

    def diff(self, text: str) -> None:
        """A diff with added lines in green and removed ones in red, then an empty line."""
        for line in text.split("\n"):
            self.line(self.paint_diff(line))
        self.line()

    def paint_diff(self, line: str) -> str:
        """A line of a diff in its colour; any other as it is."""
        style = {"+": "green", "-": "red"}.get(line[:1])
        return self.paint(line, style) if style else line

    def json(self, value: object) -> None:
        """A value as JSON, one document."""
        json.dump(to_jsonable(value), self._stream, ensure_ascii=False, indent=2)
        self._stream.write("\n")

    def report(self, as_json: bool, value: object, sentence: str) -> None:
        """The value as JSON, or a sentence that says the same."""
        if as_json:
            self.json(value)
        else:
            self.line(sentence)

    def json_line(self, value: object) -> None:
        """A value as JSON on one line, flushed at once for a program that reads a stream."""
        self._stream.write(json.dumps(to_jsonable(value), ensure_ascii=False) + "\n")
        self._stream.flush()


def discard_output() -> None:
    """From now on nothing is printed, because nobody reads it any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _width(stream: TextIO) -> int:
    # shutil.get_terminal_size does the same, but importing shutil takes longer than a recall.
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return _DEFAULT_WIDTH
    if not columns:  # a terminal that does not know its size, as under `script` or in a container
        return _DEFAULT_WIDTH
    return max(_MIN_WIDTH, min(columns, _MAX_WIDTH))


def amount(size: float) -> str:
    """A number of bytes, such as `1.2 MB`."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError("unreachable")


def number(count: int, noun: str, plural: str = "") -> str:
    """`1 line`, `2,000 lines`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def count_tokens(characters: int) -> int:
    """About how many tokens a text has, by the usual estimate of four characters for one."""
    return -(-characters // 4)


def day(time: str) -> str:
    """The day of an ISO time, or `undated`."""
    return time[:10] if time else "undated"


def minute(time: str) -> str:
    """An ISO time as `2026-03-01 14:05`, and "" as ""."""
    return time[:16].replace("T", " ")


def short(uri: str) -> str:
    """A URI with the start of a long id; `holdfast show` takes it as well."""
    head, slash, id = uri.rpartition("/")
    # A pull or an issue goes by its number.
    return f"{head}{slash}{id.partition('@')[0][:_SHORT_ID_CHARACTERS]}"
