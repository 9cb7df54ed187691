"""Reads what commits changed: files, how many lines, and a part of the diff.

One run of `git diff-tree` reads thousands of commits. Of a diff only so much is kept as helps to
find and to understand the commit. Lock files, bundles and generated code are not quoted, and of a
change to thousands of lines only the names of its files are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.model.team import FileChange
from holdfast.regex import regex
from holdfast.sources.git.git_process import Git

# Files of one commit; those beyond are not listed.
MAX_FILES = 200
# Of the diff that is kept with a commit, and of one line of it.
MAX_DIFF_CHARS = 3000
_MAX_LINE_CHARS = 160
# Of a commit that changes more lines nothing is quoted.
_MAX_QUOTED_LINES = 4000
_SHA = regex(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n?\Z")
_RAW = regex(rb":\d+ \d+ \S+ (\S+) ([A-Z])\d*\t(.*)\n?\Z", re.DOTALL)
_HUNK = regex(rb"@@ [^@]*@@ ?(.*)")
_ESCAPE = regex(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_GENERATED_FILE = regex(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist|build|__snapshots__|generated)/"
    r"|(?:^|/)(?:[\w.-]*[.-]lock(?:\.\w+)?|package-lock\.json|go\.sum|npm-shrinkwrap\.json)$"
    r"|\.(?:min\.(?:js|css)|map|svg|snap|pb\.go|ipynb|csv|po|lockb)$",
    re.IGNORECASE,
)


class Patch(NamedTuple):
    """What one commit changed. `diff` has hunks, each under the name of its file."""

    commit: str
    changes: tuple[FileChange, ...] = ()
    diff: str = ""


def read_patches(git: Git, commits: Iterable[str], with_diff: bool = True) -> Iterator[Patch]:
    """The patches of commits, in their order. A merge has none: its parents have the changes."""
    form = ["--patch-with-raw", "--unified=0"] if with_diff else ["--raw"]
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none")
    shape = ("-r", "--root", "-M", "--stdin", "--always", "--no-abbrev")
    with git.stream("diff-tree", *shape, *plain, *form, stdin=commits) as output:
        reader: _PatchReader | None = None
        for line in output:
            if _SHA.match(line):
                if reader is not None:
                    yield reader.finish()
                reader = _PatchReader(line.strip().decode())
            elif reader is not None:
                reader.read(line)
        if reader is not None:
            yield reader.finish()


@dataclass(slots=True)
class _PatchReader:
    """Collects the output of `git diff-tree` about one commit, line by line."""

    commit: str
    changes: list[FileChange] = field(default_factory=list[FileChange])
    hunks: list[str] = field(default_factory=list[str])
    at: int = -1
    lines: int = 0
    size: int = 0
    in_header: bool = True
    quoted: bool = False

    def read(self, line: bytes) -> None:
        if line[:1] == b":" and self.at < 0:
            self._read_file(line)
        elif line.startswith(b"diff --git "):
            self.at += 1
            self.in_header = True
        elif self.at < 0 or self.at >= len(self.changes):
            return
        elif self.in_header and line.startswith((b"Binary files", b"GIT binary")):
            self._change(binary=True)
        elif line.startswith(b"@@ "):
            self.in_header = False
            self._read_hunk(line)
        elif not self.in_header and line[:1] in b"+-":
            self._read_line(line)

    def _read_file(self, line: bytes) -> None:
        found = _RAW.match(line)
        if found is None or len(self.changes) >= MAX_FILES:
            return
        first, _, second = found[3].partition(b"\t")
        was, path = (
            (_unquoted_path(first), _unquoted_path(second))
            if second
            else ("", _unquoted_path(first))
        )
        blob = found[1].decode() if found[1].strip(b"0") else ""
        self.changes.append(FileChange(path, found[2].decode(), was, blob=blob))

    def _change(self, binary: bool = False, added: int = 0, removed: int = 0) -> None:
        c = self.changes[self.at]
        self.changes[self.at] = c._replace(
            binary=c.binary or binary, added=c.added + added, removed=c.removed + removed
        )

    def _read_hunk(self, line: bytes) -> None:
        found = _HUNK.match(line)
        path = self.changes[self.at].path
        self.quoted = self.size < MAX_DIFF_CHARS and not _GENERATED_FILE.search(path)
        if self.quoted:
            place = found[1].decode("utf-8", "replace").strip()[:_MAX_LINE_CHARS] if found else ""
            self._quote(f"@@ {path} {place}".rstrip())
            self.hunks[-1:] = ["\n" + self.hunks[-1]] if len(self.hunks) > 1 else self.hunks[-1:]

    def _read_line(self, line: bytes) -> None:
        adds = line[:1] == b"+"
        self._change(added=int(adds), removed=int(not adds))
        self.lines += 1
        if self.quoted and line.strip() not in (b"+", b"-"):
            self._quote(line.decode("utf-8", "replace").rstrip()[:_MAX_LINE_CHARS])

    def _quote(self, text: str) -> None:
        self.hunks.append(text)
        self.size += len(text) + 1
        self.quoted = self.size < MAX_DIFF_CHARS

    def finish(self) -> Patch:
        diff = "" if self.lines > _MAX_QUOTED_LINES else "\n".join(self.hunks)[:MAX_DIFF_CHARS]
        return Patch(self.commit, tuple(self.changes), diff)


def _unquoted_path(raw: bytes) -> str:
    """A path; git quotes one with special characters."""
    raw = raw.rstrip(b"\n")
    if raw[:1] == b'"' and raw[-1:] == b'"':
        raw = _ESCAPE.sub(_unescape, raw[1:-1])
    return raw.decode("utf-8", "replace")


def _unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & 0xFF if len(code) == 3 else _ESCAPES[code[0]]])
