"""Quotes the line of code that a sentence announces or stands above, and the commands of a block.

"The limit is set here:" says where a value is, and the block of code below says which it is.
Sentences leave code out, so a quote of one gets the line that holds what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast.language import collapse_spaces, sentences
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Memory
from holdfast.model.query import Hit
from holdfast.model.records import Exchange, Turn
from holdfast.recall.core.evidence_turns import stating_turn
from holdfast.recall.core.relevance import coverage
from holdfast.regex import regex
from holdfast.research.answering.quoting import Quote
from holdfast.store.protocol import Reader


class CodeLineLimits(NamedTuple):
    """Which blocks and lines are read. A longer line is no setting, and a longer block is a file:
    which of its lines is meant cannot be told."""

    max_line: int = 160
    max_lines: int = 30
    # A way to do something takes a few commands; what has more is a script.
    max_commands: int = 4


_LIMITS = CodeLineLimits()
_BLOCK = regex(r"^[ \t]*(```|~~~)([^\n]*)\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_SHELLS = frozenset(("", "bash", "sh", "shell", "zsh", "fish", "console", "powershell", "cmd"))
# How a line begins that is typed into a shell: the name of a program, and something after it.
_TYPED = regex(r"(?:\$ |❯ |> )?(?:sudo )?(?:[\w.~-]*/)*[a-z][\w.-]*(?: [-\w./:@~\"'<$*|&>=]|$)|/\w")
# A value is given: by an assignment or a colon, as a number or as a string.
_HOLDS_VALUE = regex(r"\w\W{0,3}(?:=|:)\s*\S|\b\d|[\"']\S|^\s*-{1,2}\w")
_COMMENT = regex(r"\s*(?:#(?!\w)|//|--\s|/\*|\*\s|<!--|;)")


def with_code_lines(reader: Reader, item: Quote, weights: Mapping[str, float]) -> Quote:
    """A quote; each sentence of it above a block of code with the line that holds what a question
    with these weights of words asks for."""
    quoted = item.sentence
    for text in _sources(reader, item.hit):
        for sentence, _, lines in _announced(text):
            at = quoted.find(sentence)
            line = _telling_line(lines, weights, sentence.endswith(":")) if at >= 0 else ""
            if line and line not in quoted:
                end = at + len(sentence)
                quoted = f"{quoted[:end]} {_as_code(line)}{quoted[end:]}"
    return item._replace(sentence=quoted)


def commands_in(text: str) -> Iterator[tuple[str, str]]:
    """The commands that a text shows in blocks, those of a block together, with the sentence above
    each block."""
    for sentence, language, lines in _announced(text):
        typed = [line.strip() for line in lines if not _COMMENT.match(line)]
        short = 0 < len(typed) <= _LIMITS.max_commands
        if language in _SHELLS and short and all(map(_is_typed, typed)):
            yield sentence, " ".join(map(_as_code, typed))


def _is_typed(line: str) -> bool:
    return len(line) <= _LIMITS.max_line and _TYPED.match(line) is not None


def _sources(reader: Reader, hit: Hit) -> list[str]:
    """The texts that a record was made of, as they were written."""
    if hit.kind == "turn":
        return [hit.text]
    if hit.kind not in ("exchange", "memory"):
        return []
    texts: list[str] = []
    for record in reader.records.find(hit.bank, hit.kind, hit.uri.rpartition("/")[2], 1):
        turns: Sequence[Turn] = ()
        if isinstance(record, Exchange):
            places = record.session, record.first_seq, record.last_seq
            turns = reader.turns.of_session(record.bank, *places)
        elif isinstance(record, Memory) and (stated := stating_turn(reader, record)):
            turns = [stated]
        texts += [turn.text for turn in turns if turn.tool is None]
    return texts


def _announced(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """The sentences directly above blocks of code, each with the language and the lines of its
    block."""
    above = 0
    for block in _BLOCK.finditer(text) if "```" in text or "~~~" in text else ():
        said = sentences(text[above : block.start()])
        above = block.end()
        lines = [line for line in block.group(3).splitlines() if line.strip()]
        if said and 0 < len(lines) <= _LIMITS.max_lines:
            yield collapse_spaces(said[-1]), block.group(2).strip().lower(), lines


def _telling_line(lines: Sequence[str], weights: Mapping[str, float], announced: bool) -> str:
    """The line of a block that holds what is asked for: its only one, the one with the most words
    of the question or, of a block that was announced, the only one with a value."""
    code = [line.strip() for line in lines if not _COMMENT.match(line)]
    if len(code) == 1:
        return code[0] if len(code[0]) <= _LIMITS.max_line else ""
    values = [one for one in code if len(one) <= _LIMITS.max_line and _HOLDS_VALUE.search(one)]
    best = max(values, key=lambda line: coverage(weights, line), default="")
    if best and coverage(weights, best):
        return best
    return values[0] if announced and len(values) == 1 else ""


def _as_code(line: str) -> str:
    """A line between backticks, of which it may have some itself."""
    return f"`` {line} ``" if "`" in line else f"`{line}`"
