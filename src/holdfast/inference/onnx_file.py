"""Finds a stored tensor in an ONNX file without the `onnx` package.

An ONNX file is a protocol buffer: fields of known length, one after the other. To find one table,
the others are skipped, so the file opens in about a millisecond and is then read by page.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import ModelError

INT8 = 3

_GRAPH, _INITIALIZER = 7, 5
_DIMS, _DATA_TYPE, _NAME, _RAW_DATA = 1, 2, 8, 9
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


class Tensor(NamedTuple):
    """Shape, element type and byte range of a stored tensor."""

    shape: tuple[int, ...]
    kind: int
    offset: int
    size: int


class _Field(NamedTuple):
    number: int
    value: int
    start: int
    end: int


def find_tensor(path: Path, name: str) -> Tensor:
    """The tensor with this name among the constants of the model's graph."""
    damaged = ModelError(
        f"{path} is not an ONNX file with a table {name!r}.",
        "Install Holdfast again: pip install --force-reinstall holdfast-memory.",
    )
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            found = _find(data, name.encode())
    except (OSError, ValueError, IndexError) as error:
        raise damaged from error
    if found is None:
        raise damaged
    return found


def _find(data: mmap.mmap, name: bytes) -> Tensor | None:
    for graph in _fields(data, 0, len(data)):
        if graph.number == _GRAPH:
            for field in _fields(data, graph.start, graph.end):
                if field.number == _INITIALIZER:
                    found = _tensor(data, field, name)
                    if found is not None:
                        return found
    return None


def _tensor(data: mmap.mmap, field: _Field, name: bytes) -> Tensor | None:
    shape: list[int] = []
    kind, offset, size, named = 0, 0, 0, False
    for part in _fields(data, field.start, field.end):
        if part.number == _NAME:
            named = data[part.start : part.end] == name
        elif part.number == _DATA_TYPE:
            kind = part.value
        elif part.number == _RAW_DATA:
            offset, size = part.start, part.end - part.start
        elif part.number == _DIMS:
            shape.extend(_numbers(data, part))
    return Tensor(tuple(shape), kind, offset, size) if named else None


def _numbers(data: mmap.mmap, field: _Field) -> Iterator[int]:
    """The values of a repeated number, written one by one or packed."""
    if field.start == field.end:
        yield field.value
    at = field.start
    while at < field.end:
        value, at = _varint(data, at)
        yield value


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[_Field]:
    at = start
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        value = size = 0
        if wire == _VARINT:
            value, at = _varint(data, at)
        elif wire == _LENGTH:
            size, at = _varint(data, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire}")
        if at + size > end:
            raise ValueError("a field ends after its file")
        yield _Field(number, value, at, at + size)
        at += size


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without end")
