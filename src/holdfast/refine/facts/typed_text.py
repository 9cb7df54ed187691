"""Which part of a person's message they typed themselves, rather than pasted or quoted."""

from __future__ import annotations

import re
from itertools import groupby

from holdfast.refine.requests.agent_prompts import gives_role
from holdfast.regex import regex

# A longer message is taken for pasted text: a plan, a log, instructions for an agent. Raising it
# lets sentences of such text count as what the person said; lowering it ignores long messages.
MAX_TYPED_CHARS = 1500
# In a longer message, a first or last paragraph up to this length still counts as typed.
_MAX_PARAGRAPH_CHARS = 500
_QUOTING_LINE = regex(r"^\s*>.*$", re.MULTILINE)
# The history of a session, as a program hands it to an agent that judges or continues it.
_HANDED_OVER = regex(
    r"\A\W*the following is the \w+ agent history\b|^\[\d+\] (?:assistant|user|tool)\b|"
    r"^#{1,6} (?:session|conversation|chat) (?:transcript|history)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
# How Claude Code begins a session that carries out a plan of the one before: an agent wrote it.
ACCEPTED_PLAN = regex(r"\s*Implement the following plan:\s+(#.*)", re.DOTALL)
_BLANK_LINE = regex(r"\n\s*\n")
# A line that a program printed: its log, a test, a compiler, a build or a web server, the prompt of
# a shell, a frame of a stack.
_PRINTED = regex(
    r"^\W{0,3}\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^\W{0,2}\d\d:\d\d:\d\d\b|"
    r"^\s*\[(?:\d[\d:./]*[\] ]|(?i:info|warn(?:ing)?|err(?:or)?|debug|trace|fatal|nodemon)\])|"
    r"^\s*➜|\bgit:\([\w/.-]+\) |^[\w.-]+@[\w.-]+[: ][~/]\S* ?[$#%] |^\s*\$ \w|"
    r"^\s*(?:at|from) (?:async |new )?[\w.$<>\[\]]+ ?\(\S+:\d+|^\s*(?:at|from) \S*/\S+:\d+|"
    r"^\s*File \"[^\"]+\", line \d|^Traceback \(|^\s*Caused by: |"
    r"^\W*(?:\w+\.)*(?:\w*(?:Error|Exception)|\w+Warning)(?:\[\w+\]|\s\w{1,3}\d+)?: |"
    r"^\W*(?i:fatal|panic|error): |^\W*(?i:npm (?:err!|error|warn)) |"
    r"^\W*(?i:failed|unable) to [^.:]{3,60}: |^\s*(?:[\w@./-]+:){1,2}[\w.-]+:(?:\s|$)|"
    r"^\s*[\w@./\\-]+\.[a-z]\w{0,4}(?::\d+(?::\d+)?(?::| - |\s)|\(\d+,\d+\): )|"
    r"^\s*\d+:\d+\s+(?i:error|warning)\b|^\s*(?:> ?)?\d+ [|│]|^\s*[│╭╰]|^[|~^ ]*[~^]$|"
    r"^\s*(?:==>|-->|={2,} [A-Z]|--- (?:FAIL|PASS|SKIP)|[✖✗✘×⨯])|"
    r"^\W*(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S* \d{3}(?: in |$| \d)|^> \S+@\d|"
    r"^Run \S+/\S+@\w|^\W*Process (?:completed|exited|finished) with|^Downloading https?://|"
    r"^\S+ @ \S+:\d+$"
)
# What follows is printed: "Now I get these errors:". A longer sentence says more than that.
_INTRODUCES = regex(
    r"\b(?:get|getting|got|see|seeing|gives?|gave|shows?|throws?|prints?|fails with)\b[^.:]{0,60}"
    r"\b(?:errors?|output|logs?|warnings?|trace|response)\b[^.:]{0,40}:$",
    re.IGNORECASE,
)
# Only so much of a line is looked at for that, and for how printed lines begin.
_MAX_INTRODUCING_CHARS, _MAX_PRINTED_CHARS = 160, 400
# How people say what they see or want, beside what a program printed.
_TYPED = regex(
    r"\b(?:i|i['’]\w+|we|we['’]\w+|you|my|our|your|please|let['’]?s|should|want|needs?|fix|help|why|"
    r"how|what|this is|these are|here['’]?s|here (?:is|are)|always|never|don['’]?t|do not|use|keep|"
    r"prefer|avoid|only|immer|nie|niemals|bitte|nicht|toujours|jamais|siempre|nunca)\b|\?\s*$|"
    r"[^\W\da-zA-Z_]{3}",
    re.IGNORECASE,
)


def is_handed_over(text: str) -> bool:
    """Whether a program wrote a message: the history of a session, the plan of the one before, or
    the prompt of an agent that it started. Nobody typed any of it."""
    return is_history(text) or ACCEPTED_PLAN.match(text) is not None or gives_role(text)


def is_history(text: str) -> bool:
    """Whether a program hands the history of a session to an agent."""
    return _HANDED_OVER.search(text) is not None


def own_lines(text: str) -> str:
    """A message without the lines that quote somebody and those that a program printed."""
    kept: list[str] = []
    is_introduced = False
    text = _QUOTING_LINE.sub("", text)
    for is_blank, block in groupby(text.split("\n"), key=_is_blank):
        lines = list(block)
        if not is_blank:
            printed = [_is_printed(line) for line in lines]
            if is_introduced or any(printed):
                lines = [
                    "" if is_printed or not _TYPED.search(line) else line
                    for line, is_printed in zip(lines, printed, strict=True)
                ]
            # What was announced goes on after a blank line, until somebody says something.
            is_introduced = (is_introduced and _is_blank(lines[-1])) or _introduces(lines[-1])
        kept += lines
    return "\n".join(kept)


def _introduces(line: str) -> bool:
    line = line.rstrip()[-_MAX_INTRODUCING_CHARS:]
    return line.endswith(":") and _INTRODUCES.search(line) is not None


# A person lays something down, whatever the line looks like.
_LAYS_DOWN = regex(
    r"\b(?:always|never(?! (?:used|read|called|reached|assigned|returns?)\b)|don['’]t|do not|immer|"
    r"niemals|toujours|jamais|nunca)\b",
    re.IGNORECASE,
)


def _is_printed(line: str) -> bool:
    line = line.rstrip()[:_MAX_PRINTED_CHARS]
    return _PRINTED.search(line) is not None and _LAYS_DOWN.search(line) is None


def _is_blank(line: str) -> bool:
    return not line.strip()


def typed_text(text: str) -> str:
    """The part of a message that a person is likely to have typed: without lines that were quoted
    or printed, and of a long message only the first and the last paragraph, if these are short."""
    if is_handed_over(text):
        return ""
    text = own_lines(text)
    if len(text) <= MAX_TYPED_CHARS:
        return text
    paragraphs = [block for block in _BLANK_LINE.split(text) if block.strip()]
    ends = dict.fromkeys((*paragraphs[:1], *paragraphs[-1:]))
    return "\n\n".join(block for block in ends if len(block) <= _MAX_PARAGRAPH_CHARS)
