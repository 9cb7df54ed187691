"""Lines of files that may be huge, torn, still growing, or rewritten behind our back.

Memory stays bounded whatever the file holds: a line over `LINE_LIMIT` is never held whole;
the long strings inside it are clipped while it streams by, so that it stays readable JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

LINE_LIMIT = 8 * 1024 * 1024
STRING_LIMIT = 64 * 1024
SEGMENT_BYTES = 2 * 1024 * 1024
_CHUNK = 1024 * 1024

CLIPPED = " …[clipped]"
_CLIPPED_JSON = CLIPPED.encode()
_STRING_RUN = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_CUT_ESCAPE = re.compile(rb"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CUT_CHARACTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]*\Z")


class Line(NamedTuple):
    """One line without its newline. `ended` is False for a last line that has none yet, and
    `length` is how many bytes it takes on disk, newline included."""

    offset: int
    length: int
    data: bytes
    ended: bool
    too_large: bool = False


class Segment(NamedTuple):
    """A run of whole lines of one file, small enough to be one piece of work."""

    start: int
    stop: int


def segments(path: Path, start: int, size: int) -> Iterator[Segment]:
    """Cut the bytes from `start` to `size` into runs of whole lines."""
    with path.open("rb") as file:
        while start < size:
            stop = _next_line(file, start + SEGMENT_BYTES, size)
            yield Segment(start, stop)
            start = stop


def _next_line(file: BinaryIO, position: int, size: int) -> int:
    """The start of the first line at or after `position`, or `size`."""
    if position >= size:
        return size
    file.seek(position)
    while position < size:
        chunk = file.read(min(_CHUNK, size - position))
        if not chunk:
            break
        found = chunk.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(chunk)
    return size


def read_lines(path: Path, segment: Segment) -> Iterator[Line]:
    """The lines of a segment. Bytes past its end are not looked at, even if they are there."""
    with path.open("rb") as file:
        file.seek(segment.start)
        if segment.stop - segment.start <= LINE_LIMIT:
            yield from _split(file.read(segment.stop - segment.start), segment.start)
        else:
            yield from _stream(file, segment)


def _split(data: bytes, offset: int) -> Iterator[Line]:
    lines = data.split(b"\n")
    torn = lines.pop()
    for line in lines:
        length = len(line) + 1
        yield Line(offset, length, line, True)
        offset += length
    if torn:
        yield Line(offset, len(torn), torn, False)


def _stream(file: BinaryIO, segment: Segment) -> Iterator[Line]:
    offset = segment.start
    while offset < segment.stop:
        data = file.readline(min(LINE_LIMIT, segment.stop - offset))
        if not data:
            break  # the file shrank under us; the next look at it will notice
        if data.endswith(b"\n"):
            line = Line(offset, len(data), data[:-1], True)
        elif len(data) < LINE_LIMIT:
            line = Line(offset, len(data), data, False)
        else:
            line = _read_giant(file, offset, segment.stop, data)
        yield line
        offset += line.length


def _read_giant(file: BinaryIO, offset: int, stop: int, head: bytes) -> Line:
    clipper = Clipper()
    clipper.feed(head)
    length = len(head)
    ended = False
    while offset + length < stop and not ended:
        data = file.readline(min(_CHUNK, stop - offset - length))
        if not data:
            break
        length += len(data)
        ended = data.endswith(b"\n")
        clipper.feed(data[:-1] if ended else data)
    return Line(offset, length, clipper.finish(), ended, too_large=clipper.overflowed)


class Clipper:
    """Shortens the long strings of a JSON text as it streams by; the rest passes unchanged."""

    def __init__(self) -> None:
        self._out = bytearray()
        self._in_string = False
        self._kept = 0
        self._clipped = False
        self._carry = b""
        self.overflowed = False

    def feed(self, chunk: bytes) -> None:
        """Take the next piece of the text."""
        chunk = self._carry + chunk
        self._carry = b""
        position = 0
        while position < len(chunk):
            if self._in_string:
                position = self._inside(chunk, position)
            else:
                quote = chunk.find(b'"', position)
                stop = len(chunk) if quote < 0 else quote + 1
                self._emit(chunk[position:stop])
                position = stop
                if quote >= 0:
                    self._in_string, self._kept, self._clipped = True, 0, False

    def _inside(self, chunk: bytes, position: int) -> int:
        match = _STRING_RUN.match(chunk, position)
        end = match.end() if match else position
        self._keep(chunk, position, end)
        if end == len(chunk):
            return end
        if chunk[end : end + 1] == b'"':
            self._emit(b'"')
            self._in_string = False
            return end + 1
        self._carry = chunk[end:]  # a backslash whose other half is in the next chunk
        return len(chunk)

    def _keep(self, chunk: bytes, start: int, end: int) -> None:
        room = STRING_LIMIT - self._kept
        if end - start <= room:
            self._emit(chunk[start:end])
            self._kept += end - start
        elif not self._clipped:
            piece = _CUT_CHARACTER.sub(b"", chunk[start : start + room])
            self._emit(_CUT_ESCAPE.sub(rb"\1", piece) + _CLIPPED_JSON)
            self._kept = STRING_LIMIT
            self._clipped = True

    def _emit(self, piece: bytes) -> None:
        if len(self._out) + len(piece) > LINE_LIMIT:
            self.overflowed = True
        else:
            self._out += piece

    def finish(self) -> bytes:
        """What is left of the text, to parse as JSON."""
        return bytes(self._out)


def count_lines(path: Path, start: int, size: int) -> int:
    """How many lines lie between two offsets; a last line without newline counts."""
    total = 0
    last = b"\n"
    with path.open("rb") as file:
        file.seek(start)
        left = size - start
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            total += chunk.count(b"\n")
            last = chunk[-1:]
            left -= len(chunk)
    return total + (last != b"\n")
