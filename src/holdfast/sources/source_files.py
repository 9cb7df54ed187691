"""Opens a source as lines: a file of lines, or what an agent's `LineLayout` makes of another.

The last converted sources are cached, because one pass reads a source several times.
"""

from __future__ import annotations

import os
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal

import orjson

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.sources.agent import LineLayout
from holdfast.sources.fingerprint import stamp_of
from holdfast.sources.lines import Openable
from holdfast.sources.registry import agents

# By so many characters words are recognised in a document.
_SEARCHED_CHARS = 60


class LaidOutSource(NamedTuple):
    """A source that is converted to lines, as it was at one time."""

    path: Path
    agent: str
    stamp: str

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        """The lines."""
        return BytesIO(_lines(self.path, self.agent, self.stamp))


class SourceSnapshot(NamedTuple):
    """A source as it is now: what to open, and a stamp. It is converted to lines only when its size
    or its bytes are needed."""

    file: Openable
    stamp: str
    length: int = -1

    @property
    def size(self) -> int:
        """How many bytes its lines have."""
        if isinstance(self.file, LaidOutSource):
            return len(_lines(*self.file))
        return self.length

    def is_same(self, stamp: str) -> bool:
        """Whether nothing changed since a stamp was taken. Always False for a file of lines: only
        its bytes show whether its last line was incomplete."""
        return isinstance(self.file, LaidOutSource) and self.stamp == stamp


def source_snapshot(path: Path, agent: str) -> SourceSnapshot:
    """The state of a source; raises OSError where there is none."""
    layout = _layout(agent)
    if layout is None:
        stat = path.stat()
        return SourceSnapshot(path, stamp_of(stat), stat.st_size)
    stamp = layout.stamp(path)
    return SourceSnapshot(LaidOutSource(path, agent, stamp), stamp)


def reopen_source(path: Path, agent: str, stamp: str) -> Openable:
    """Open a source again. One that is converted must have the same stamp as before, or offsets
    would cut its lines anywhere: raises OSError where it has not."""
    state = source_snapshot(path, agent)
    if isinstance(state.file, LaidOutSource) and state.stamp != stamp:
        raise OSError(f"{path} has changed")
    return state.file


def source_stamp(path: Path, agent: str) -> str:
    """The stamp of a source, "" where there is none; cheaper than its state."""
    layout = _layout(agent)
    try:
        return layout.stamp(path) if layout else stamp_of(path.stat())
    except OSError:
        return ""


def source_exists(path: str, agent: str) -> bool:
    """Whether a source still exists."""
    return bool(source_stamp(Path(path), agent)) if _layout(agent) else os.path.lexists(path)


def line_on_disk(path: Path, agent: str, line: int, words: str, ref: str = "") -> int:
    """The line of a file that says some words. `line` is its number as it was read: another one
    where the file is a document that is converted to lines. That is searched for the words, next to
    `ref`, the agent's own id of them. 0 where there is no such line, as in a database."""
    if has_own_lines(agent):
        return line
    wanted = orjson.dumps(words.split("\n", 1)[0][:_SEARCHED_CHARS])[1:-1]
    try:
        found = path.read_bytes().split(b"\n")
    except OSError:
        return 0
    named = [n for n, text in enumerate(found, 1) if ref and ref.encode() in text]
    near = named[0] if named else 0
    saying = [n for n, text in enumerate(found, 1) if wanted and wanted in text]
    return min(saying, key=lambda n: abs(n - near), default=near)


def has_own_lines(agent: str) -> bool:
    """Whether the lines of an agent's sessions are those of its files; else documents or a
    database are converted to lines, whose numbers say nothing to a person."""
    return _layout(agent) is None


def _layout(agent: str) -> LineLayout | None:
    known = agents().get(agent)
    return known.layout if known else None


@lru_cache(maxsize=2)
def _lines(path: Path, agent: str, stamp: str) -> bytes:
    layout = _layout(agent)
    return layout.to_lines(path) if layout else b""
