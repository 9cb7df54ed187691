"""Parses rule files: the text under each heading, and the globs of the files that it is for.

Frontmatter is parsed as far as it can be understood. A `#` inside of a code block is no heading.
HTML comments, with which we link evidence, are left out. `any_file_matches` applies the globs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.regex import regex
from holdfast.sources.project import run_git

# The rest of a longer file or section is ignored.
MAX_FILE_BYTES = 1_000_000
MAX_SECTION_CHARS = 20_000
_HEADING = regex(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_KEY = regex(r"(paths|globs)\s*:\s*(.*)$", re.IGNORECASE)
_ITEM = regex(r"\s*-\s+(.*)$")
# Longer frontmatter is taken for a rule between two lines.
_MAX_FRONTMATTER_LINES = 200
_QUOTES = "\"' \t"


class Section(NamedTuple):
    """The text under a heading; `heading` includes those above it, `line` counts from one."""

    heading: str
    text: str
    line: int


class RuleFile(NamedTuple):
    """A parsed file; `paths` are the globs of its frontmatter."""

    sections: tuple[Section, ...]
    paths: tuple[str, ...] = ()


def decode(raw: bytes) -> str:
    """The text of a file with any line ends; invalid bytes are replaced."""
    text = raw[:MAX_FILE_BYTES].decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def read_rule_file(raw: bytes) -> RuleFile:
    """Parse a file."""
    lines = decode(raw).split("\n")
    end = frontmatter_end(lines)
    paths = tuple(dict.fromkeys(_paths(lines[1 : end - 1]))) if end else ()
    return RuleFile(tuple(_sections(lines, end)), paths)


def frontmatter_end(lines: list[str]) -> int:
    """The number of lines that frontmatter takes; 0 where there is none, or no end of it."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:_MAX_FRONTMATTER_LINES], 1):
        if line.rstrip() in ("---", "..."):
            return number + 1
    return 0


def _paths(lines: list[str]) -> Iterator[str]:
    """The globs of `paths:`, as a list in either style or as one text with commas."""
    inside = False
    for line in lines:
        key, item = _KEY.match(line.strip()), _ITEM.match(line)
        if key and not line.startswith((" ", "\t")):
            inside = not key.group(2).strip()
            yield from _globs(key.group(2))
        elif inside and item:
            yield from _globs(item.group(1))
        elif line.strip() and not line.startswith((" ", "\t")):
            inside = False


def _globs(text: str) -> Iterator[str]:
    text = re.sub(r"\s#.*$", "", text).strip().strip("[]")
    # A comma inside of braces belongs to the glob.
    for part in re.split(r",(?![^{]*\})", text):
        glob = part.strip(_QUOTES)
        if glob:
            yield glob


def _sections(lines: list[str], first: int) -> Iterator[Section]:
    above: list[tuple[int, str]] = []
    body: list[str] = []
    start, fence = first + 1, ""
    for number, line in enumerate(lines[first:], first + 1):
        fence = fence_after(line, fence)
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            body.append(line)
            continue
        yield from _section(above, body, start)
        level = len(heading.group(1))
        above = [(n, name) for n, name in above if n < level]
        above.append((level, (heading.group(2) or "").strip()))
        body, start = [], number
    yield from _section(above, body, start)


def fence_after(line: str, fence: str) -> str:
    """The fence of the code block that is open after a line, "" outside of any."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark = found.group(1)
    if not fence:
        return "" if mark[0] == "`" and "`" in line[found.end() :] else mark
    closes = mark.startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def _section(above: list[tuple[int, str]], body: list[str], line: int) -> Iterator[Section]:
    text = _COMMENT.sub("", "\n".join(body)).strip()
    if text:
        heading = " > ".join(name for _, name in above if name)
        yield Section(heading, text[:MAX_SECTION_CHARS], line)


def any_file_matches(root: Path, globs: Sequence[str]) -> bool:
    """Whether any file of a repository matches; True for an empty repository, and for a folder
    that is none, because there nothing is known."""
    listed = run_git(str(root), "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    files = [name for name in listed if name]
    patterns = [
        re.compile(_regex(one)) for glob in globs for one in _without_braces(glob.strip("/"))
    ]
    return not files or any(p.fullmatch(name) for name in files for p in patterns)


def _without_braces(glob: str) -> list[str]:
    """`*.{ts,tsx}` as `*.ts` and `*.tsx`."""
    head, brace, rest = glob.partition("{")
    inner, close, tail = rest.partition("}")
    if not (brace and close):
        return [glob]
    return [one for part in inner.split(",") for one in _without_braces(f"{head}{part}{tail}")]


_GLOB_PARTS = regex(r"\*\*/|\*\*|\*|\?|[^*?]+")
_GLOB_REGEX = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}


def _regex(glob: str) -> str:
    found = "".join(_GLOB_REGEX.get(part) or re.escape(part) for part in _GLOB_PARTS.findall(glob))
    # A folder matches all that is in it; a name without a slash matches anywhere.
    anywhere = "" if "/" in glob else r"(?:.*/)?"
    return f"{anywhere}{found}(?:/.*)?"
