"""Reads lines of files that may be huge, incomplete, still growing, or rewritten meanwhile.

Memory is bounded whatever the file holds: a line over `LINE_LIMIT` is never held whole. The long
strings in it are clipped while it is read, so that it stays valid JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Literal, Protocol

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

# Bytes of a line that is held whole. Longer ones hold screenshots or whole files.
LINE_LIMIT = 8 * 1024 * 1024
# Bytes that stay of a string in a longer line.
STRING_LIMIT = 64 * 1024
# One piece of work for a process: large enough to be worth handing over.
SEGMENT_BYTES = 2 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
_BUFFER_BYTES = 64 * 1024
_NEWLINE = ord("\n")

CLIPPED = " …[clipped]"
_CLIPPED_JSON = CLIPPED.encode()
_STRING_RUN = regex(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_CUT_ESCAPE = regex(rb"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CUT_CHARACTER = regex(rb"[\xc0-\xff][\x80-\xbf]*\Z")


class Openable(Protocol):
    """Can be opened to read its bytes, as a `Path` can."""

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        """Its bytes from the start."""
        ...


class Line(NamedTuple):
    """One line. `ended` is False for a last line without a newline, and `length` is how many bytes
    it takes on disk. A line over the limit was shortened, and its newline removed."""

    offset: int
    length: int
    data: bytes
    ended: bool
    too_large: bool = False


class Segment(NamedTuple):
    """Whole lines of one file, from `start` to `stop`: one piece of work."""

    start: int
    stop: int


def segments(path: Openable, start: int, size: int) -> Iterator[Segment]:
    """Cut the bytes from `start` to `size` into segments of whole lines."""
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
        chunk = file.read(min(_CHUNK_BYTES, size - position))
        if not chunk:
            break
        found = chunk.find(b"\n")
        if found >= 0:
            return position + found + 1
        position += len(chunk)
    return size


def read_lines(path: Openable, segment: Segment) -> Iterator[Line]:
    """The lines of a segment. Bytes after its end are not read, even if there are some now."""
    with path.open("rb", buffering=_BUFFER_BYTES) as file:
        file.seek(segment.start)
        if segment.stop - segment.start <= LINE_LIMIT:
            yield from _iterate(file, segment)
        else:
            yield from _stream(file, segment)


def _iterate(file: BinaryIO, segment: Segment) -> Iterator[Line]:
    """The fast way, for a segment that cannot hold a line over the limit. It reads through a small
    buffer: reading all at once is slower, because nothing stays in the processor's cache."""
    offset = segment.start
    for data in file:
        length = len(data)
        if offset + length > segment.stop:
            data = data[: segment.stop - offset]  # it has grown since it was measured
            length = len(data)
            if not length:
                break
        yield Line(offset, length, data, data[-1] == _NEWLINE)
        offset += length


def _stream(file: BinaryIO, segment: Segment) -> Iterator[Line]:
    offset = segment.start
    while offset < segment.stop:
        data = file.readline(min(LINE_LIMIT, segment.stop - offset))
        if not data:
            break  # the file was cut; the next pass notices
        if data.endswith(b"\n") or len(data) < LINE_LIMIT:
            line = Line(offset, len(data), data, data[-1] == _NEWLINE)
        else:
            line = _read_long_line(file, offset, segment.stop, data)
        yield line
        offset += line.length


def _read_long_line(file: BinaryIO, offset: int, stop: int, head: bytes) -> Line:
    clipper = Clipper()
    clipper.feed(head)
    length = len(head)
    ended = False
    while offset + length < stop and not ended:
        data = file.readline(min(_CHUNK_BYTES, stop - offset - length))
        if not data:
            break
        length += len(data)
        ended = data.endswith(b"\n")
        clipper.feed(data[:-1] if ended else data)
    return Line(offset, length, clipper.finish(), ended, too_large=clipper.overflowed)


class Clipper:
    """Shortens the long strings of a JSON text piece by piece; the rest stays unchanged."""

    def __init__(self) -> None:
        self._out = bytearray()
        self._string: bytearray | None = None
        self._carry = b""
        self.overflowed = False

    def feed(self, chunk: bytes) -> None:
        """Add the next piece of the text."""
        chunk = self._carry + chunk
        self._carry = b""
        position = 0
        while position < len(chunk):
            if self._string is not None:
                position = self._inside(chunk, position, self._string)
            else:
                quote = chunk.find(b'"', position)
                stop = len(chunk) if quote < 0 else quote + 1
                self._emit(chunk[position:stop])
                position = stop
                if quote >= 0:
                    self._string = bytearray()

    def _inside(self, chunk: bytes, position: int, string: bytearray) -> int:
        match = _STRING_RUN.match(chunk, position)
        end = match.end() if match else position
        # One byte over the limit shows that the string is too long.
        string += chunk[position : min(end, position + STRING_LIMIT + 1 - len(string))]
        if end == len(chunk):
            return end
        if chunk[end : end + 1] == b'"':
            self._emit(_clip(bytes(string)) + b'"')
            self._string = None
            return end + 1
        self._carry = chunk[end:]  # a backslash whose other half is in the next chunk
        return len(chunk)

    def _emit(self, piece: bytes) -> None:
        if len(self._out) + len(piece) > LINE_LIMIT:
            self.overflowed = True
        else:
            self._out += piece

    def finish(self) -> bytes:
        """The shortened text."""
        if self._string is not None:
            self._emit(_clip(bytes(self._string)))
        return bytes(self._out)


def _clip(string: bytes) -> bytes:
    """The inside of a JSON string, cut between characters and escapes."""
    if len(string) <= STRING_LIMIT:
        return string
    head = _CUT_CHARACTER.sub(b"", string[:STRING_LIMIT])
    return _CUT_ESCAPE.sub(rb"\1", head) + _CLIPPED_JSON


def count_lines(path: Openable, start: int, size: int) -> int:
    """How many lines are between two offsets; a last line without newline counts."""
    total = 0
    last = b"\n"
    with path.open("rb") as file:
        file.seek(start)
        left = size - start
        while left > 0 and (chunk := file.read(min(_CHUNK_BYTES, left))):
            total += chunk.count(b"\n")
            last = chunk[-1:]
            left -= len(chunk)
    return total + (last != b"\n")
