"""A source opened as lines, whatever it is: a file, or what an agent's layout makes of one.

What was laid out last is kept, because one look at a source reads it several times.
"""

from __future__ import annotations

import os
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from holdfast.sources.byte_source import Openable
from holdfast.sources.file_stamp import stamp_of
from holdfast.sources.registry import agents


class LaidOutSource(NamedTuple):
    """A source that is no file of lines, as it was at one moment."""

    path: Path
    agent: str
    stamp: str

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        """The lines that are made of it."""
        return BytesIO(_lines(self.path, self.agent, self.stamp))


class SourceSnapshot(NamedTuple):
    """A source as it is now: where to read it, and what changes with it. What has to be laid out
    is so only when its size or its bytes are asked for."""

    file: Openable
    stamp: str
    length: int = -1

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        if isinstance(self.file, LaidOutSource):
            return len(_lines(*self.file))
        return self.length

    def is_same(self, stamp: str) -> bool:
        """Whether nothing has come since a stamp was taken. Of a file only its bytes tell, since
        its last line may have been torn."""
        return isinstance(self.file, LaidOutSource) and self.stamp == stamp


def source_state(path: Path, agent: str) -> SourceSnapshot:
    """Look at a source; raises OSError where there is nothing."""
    known = agents().get(agent)
    if known is None or known.layout is None:
        stat = path.stat()
        return SourceSnapshot(path, stamp_of(stat), stat.st_size)
    stamp = known.layout.stamp(path)
    return SourceSnapshot(LaidOutSource(path, agent, stamp), stamp)


def reopen_source(path: Path, agent: str, stamp: str) -> Openable:
    """A source that was looked at before. What is laid out must be as it was then, or its lines
    might be cut anywhere: raises OSError where it is not, and the next look will tell."""
    now = source_state(path, agent)
    if isinstance(now.file, LaidOutSource) and now.stamp != stamp:
        raise OSError(f"{path} has changed")
    return now.file


def source_stamp(path: Path, agent: str) -> str:
    """What changes with a source, "" where there is nothing; cheaper than a look at it."""
    known = agents().get(agent)
    try:
        if known is None or known.layout is None:
            return stamp_of(path.stat())
        return known.layout.stamp(path)
    except OSError:
        return ""


def source_exists(path: str, agent: str) -> bool:
    """Whether a source is still where it was."""
    known = agents().get(agent)
    if known is None or known.layout is None:
        return os.path.lexists(path)
    return bool(source_stamp(Path(path), agent))


@lru_cache(maxsize=2)
def _lines(path: Path, agent: str, stamp: str) -> bytes:
    layout = agents()[agent].layout
    return layout.to_lines(path) if layout else b""
