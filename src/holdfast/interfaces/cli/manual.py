"""The manual page, made from what `--help` prints.

This module imports only the standard library: the build of a package makes the page with it from
docs/cli.md, when neither Holdfast nor its dependencies are installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_TITLE = re.compile(r"^(usage|positional arguments|options|examples|[A-Z][^:]*): ?(.*)$")
_BLOCK = re.compile(r"^## holdfast (?P<name>[\w-]+)\n+```\n(?P<text>.*?)\n```$", re.M | re.S)
_OVERVIEW = re.compile(r"^```\n(?P<text>Holdfast: all commands\n.*?)\n```$", re.M | re.S)

# Where the formatter may break a word, without a hyphen.
_BREAK = r"\:"
_HEAD = r"""'\" t
.\" Made by `holdfast help --man`.
.TH HOLDFAST 1 "" "holdfast {version}" "User Commands"
.SH NAME
holdfast \- a local, searchable memory for coding agents
.SH SYNOPSIS
.B holdfast
.br
.B holdfast
.I command
.RI [ options ]
.br
.B holdfast
.I command
.B \-\-help
.SH DESCRIPTION
Holdfast indexes the sessions of coding agents and git history, and answers questions about them
with citations that open the transcript line they came from. Without a command it shows the current
state, and the next step.
"""
_TAIL = r""".SH ENVIRONMENT
.TP
.B HOLDFAST_HOME
the folder of the memory (default: ~/.holdfast)
.TP
.B HOLDFAST_BANK
the default bank
.TP
.B HOLDFAST_OFF
in the environment of a session: turn its hooks off
.TP
.B HOLDFAST_DEBUG
show tracebacks
.TP
.B NO_COLOR
no colours at a terminal
.SH FILES
.TP
.I ~/.holdfast/memory.db
the memory
.TP
.I ~/.holdfast/config.toml
settings
.TP
.I ~/.holdfast/backups
copies made before each upgrade, and your own backups
.TP
.I ~/.holdfast/worker.log
the log of the worker
.SH EXIT STATUS
0 success, 1 the memory failed, 2 invalid request, 130 interrupted.
"""


def page(overview: str, helps: Mapping[str, str], version: str) -> str:
    """The whole page, for man(1)."""
    lines = [_HEAD.format(version=_escape(version)).rstrip(), ".SH COMMANDS", *_commands(overview)]
    lines.append(".SH EACH COMMAND")
    for name, text in helps.items():
        lines += [f".SS holdfast {_escape(name)}", *_command(text)]
    # A heading is a paragraph already.
    return re.sub(r"^(\.S[HS] .*)\n\.PP$", r"\1", "\n".join([*lines, _TAIL]), flags=re.M)


def from_docs(text: str, version: str) -> str:
    """The same page, made from docs/cli.md."""
    overview = _OVERVIEW.search(text)
    helps = {found["name"]: found["text"] for found in _BLOCK.finditer(text)}
    if overview is None or not helps:
        raise ValueError("docs/cli.md is outdated: run `make docs`")
    return page(overview["text"], helps, version)


def _commands(overview: str) -> Iterator[str]:
    for line in overview.splitlines():
        if re.fullmatch(r"[A-Z][^:]*:", line):
            yield from (".PP", f".B {_escape(line.removesuffix(':'))}")
        elif found := re.fullmatch(r"  ([a-z][\w-]*)  +(\S.*)", line):
            yield from (".TP", f".B {_escape(found[1])}", _text_line(found[2]))


def _command(text: str) -> Iterator[str]:
    for title, lines in _parts(text.splitlines()):
        if title == "usage":
            usage = _escape(" ".join(" ".join(lines).split()))
            # A line may end after a comma: a list of choices can be longer than a line. Lines are
            # not adjusted to the margin, which a line of one word cannot be.
            usage = usage.replace(",", "," + _BREAK)
            yield from (".PP", ".na", f".B {usage}", ".br", ".ad")
        elif title == "examples":
            yield from (".PP", "Examples:", ".PP", ".nf", *map(_text_line, lines), ".fi")
        elif title:
            yield from _entries(lines)
        else:
            yield from _prose(lines)


def _parts(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a help text with their titles, in order; prose has the title ""."""
    title, content = "", list[str]()
    for line in lines:
        found = _TITLE.match(line)
        known = found and found[1] in ("usage", "positional arguments", "options", "examples")
        if found and known:
            yield title, content
            title, content = found[1], [found[2]] if found[2] else []
        elif title not in ("", "examples") and line and not line.startswith(" "):
            yield title, content
            title, content = "", [line]
        else:
            content.append(line)
    yield title, content


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """Options and arguments, each with what it is for."""
    for line in lines:
        if re.match(r"  \S", line):
            head, _, rest = line.strip().partition("  ")
            yield from (".TP", f".B {_escape(head)}")
            if rest.strip():
                yield _text_line(rest.strip())
        elif line.strip():
            yield _text_line(line.strip())


def _prose(lines: Sequence[str]) -> Iterator[str]:
    for paragraph in "\n".join(lines).strip().split("\n\n"):
        if paragraph:
            yield ".PP"
            yield from (_text_line(line.strip()) for line in paragraph.splitlines())


def _escape(text: str) -> str:
    """Text for a macro; hyphens are escaped so that they can be copied from the page."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")


def _text_line(line: str) -> str:
    """A line of text, escaped so that the formatter finds no command in it."""
    plain = line.rstrip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain[:1] in (".", "'", " ") or not plain else plain
