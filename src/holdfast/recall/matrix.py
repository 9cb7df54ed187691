"""The vectors of a bank as one memory-mapped matrix, so that an exact search is one product.

The matrix is derived and only ever nominates: what it finds is looked up again in the store. It
holds the vectors up to a number; later ones are read from the store until they are many enough
to write the file anew. It is written beside and renamed, so any number of processes may read and
write it. A file that is missing, damaged or of another memory is not used and made again.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.store.protocol import Reader, StoredVector, VectorSpan

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]

TAIL = 2000
_MAGIC = b"HOLDVEC1"
# magic, dimension, rows, checksum of the numbers, checksum of the last vector
_HEADER = struct.Struct("<8sIQII")
_BATCH = 5000
_ROWS_AT_ONCE = 32_768
# Vectors have at most length 1; a little more is rounding.
_LONGEST = 1.01


class Scanned(NamedTuple):
    """The best of a scan, numbers with scores, and the span of all scores."""

    best: list[tuple[int, float]]
    lowest: float
    highest: float


class _File(NamedTuple):
    numbers: Numbers
    vectors: Floats


class Matrix:
    """One bank's vectors of one model."""

    def __init__(self, folder: Path, bank: str, model: str, dimension: int) -> None:
        self._bank = bank
        self._model = model
        self._dimension = dimension
        mark = zlib.crc32(f"{bank}\n{model}\n{dimension}".encode("utf-8", "surrogatepass"))
        self._folder = folder
        self._path = folder / f"{mark:08x}.vectors"
        self._parts: list[_File] = []
        self._span: VectorSpan | None = None

    def scan(self, reader: Reader, query: Floats, limit: int) -> Scanned:
        """The vectors nearest to a query, by the product of every one of them with it."""
        self._bring_up(reader)
        scores = np.concatenate([_products(part.vectors, query) for part in self._parts])
        if len(scores) and not _possible(scores):
            self._discard()
            self._parts = [self._anew(reader)]
            scores = _products(self._parts[0].vectors, query)
        if not len(scores):
            return Scanned([], 0.0, 0.0)
        numbers = np.concatenate([part.numbers for part in self._parts])
        top = np.argpartition(-scores, min(limit, len(scores) - 1))[:limit]
        top = top[np.argsort(-scores[top], kind="stable")]
        best = [(int(numbers[i]), float(scores[i])) for i in top]
        return Scanned(best, float(scores.min()), float(scores.max()))

    def _bring_up(self, reader: Reader) -> None:
        """Hold the file and what came after it, as of now."""
        # Not the reader's generation: each question comes with a reader of its own. Numbers only
        # ever grow, so whatever is added or removed changes the span.
        span = reader.vector_span(self._bank, self._model)
        if self._parts and span == self._span:
            return
        held = self._read(reader)
        if self._lags(reader, held):
            held = self._anew(reader)
        known = int(held.numbers[-1]) if held is not None and len(held.numbers) else 0
        tail = self._stack(reader.vectors_after(self._bank, self._model, known, TAIL * 2))
        self._parts = [tail] if held is None else [held, tail]
        self._span = span

    def refresh(self, reader: Reader) -> bool:
        """Write the file anew if too much is missing from it; says whether it did."""
        held = self._read(reader)
        if not self._lags(reader, held):
            return False
        self._parts = []
        return self._write(reader) is not None

    def _lags(self, reader: Reader, held: _File | None) -> bool:
        """Whether more is missing from the file, or more of it is gone from the store, than a
        search should bear."""
        if held is None:
            return reader.vector_span(self._bank, self._model).total > TAIL
        later = reader.vectors_after(self._bank, self._model, int(held.numbers[-1]), TAIL + 1)
        span = reader.vector_span(self._bank, self._model)
        return len(later) > TAIL or span.total - len(later) < len(held.numbers) // 2

    def _stack(self, found: list[StoredVector]) -> _File:
        """The vectors that are whole; half a vector is as good as none, and so is one that no
        model gives: with what is no number in it, or too long."""
        whole = [v for v in found if len(v.data) == self._dimension * 4]
        vectors = np.frombuffer(b"".join(v.data for v in whole), np.float32)
        vectors = vectors.reshape(len(whole), self._dimension)
        numbers = np.array([v.number for v in whole], np.int64)
        with np.errstate(all="ignore"):
            sound = np.square(vectors).sum(axis=1) <= _LONGEST**2
        return _File(numbers[sound], vectors[sound])

    def _anew(self, reader: Reader) -> _File:
        return self._write(reader) or self._load(reader)

    def _batches(self, reader: Reader) -> Iterator[_File]:
        known = 0
        while found := reader.vectors_after(self._bank, self._model, known, _BATCH):
            known = found[-1].number
            yield self._stack(found)

    def _load(self, reader: Reader) -> _File:
        """All vectors straight from the store: the slow way, for a folder that cannot be
        written."""
        parts = list(self._batches(reader))
        if not parts:
            return _File(np.zeros(0, np.int64), np.zeros((0, self._dimension), np.float32))
        return _File(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.vectors for part in parts]),
        )

    def _read(self, reader: Reader) -> _File | None:
        """The file, if it is whole and of this memory."""
        try:
            with self._path.open("rb") as file:
                head = file.read(_HEADER.size)
                magic, dimension, rows, numbers_sum, last_sum = _HEADER.unpack(head)
                behind = _HEADER.size + rows * dimension * 4
                right = magic == _MAGIC and dimension == self._dimension and rows > 0
                if not right or os.fstat(file.fileno()).st_size != behind + rows * 8:
                    return None
                file.seek(behind)
                data = file.read(rows * 8)
                if zlib.crc32(data) != numbers_sum:
                    return None
                # Of the open file, not of its name: another process may have put a new one there.
                vectors = np.memmap(file, np.float32, "r", _HEADER.size, (rows, dimension))
        except (OSError, struct.error, ValueError):
            return None
        numbers = np.frombuffer(data, np.int64)
        last = reader.vectors_after(self._bank, self._model, int(numbers[-1]) - 1, 1)
        ours = bool(last) and last[0].number == numbers[-1]
        if not ours or zlib.crc32(last[0].data) != last_sum:
            return None
        return _File(numbers, vectors)

    def _write(self, reader: Reader) -> _File | None:
        """Write all vectors to a new file and put it in the place of the old one; None where
        nothing can be written."""
        own = f"{os.getpid()}-{threading.get_ident()}"
        beside = self._folder / f".{self._path.name}.{own}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb") as to:
                self._write_rows(reader, to)
            beside.replace(self._path)
        except OSError:
            return None
        finally:
            # Also when the store breaks off, as it does for a search that takes too long.
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        return self._read(reader)

    def _write_rows(self, reader: Reader, to: BinaryIO) -> None:
        to.write(b"\0" * _HEADER.size)
        numbers: list[Numbers] = []
        last = b""
        for part in self._batches(reader):
            if len(part.numbers):
                to.write(part.vectors.tobytes())
                numbers.append(part.numbers)
                last = part.vectors[-1].tobytes()
        data = b"".join(part.tobytes() for part in numbers)
        to.write(data)
        to.seek(0)
        rows = len(data) // 8
        to.write(_HEADER.pack(_MAGIC, self._dimension, rows, zlib.crc32(data), zlib.crc32(last)))

    def _discard(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def is_whole(path: Path) -> bool:
    """Whether a file is a matrix of ours with nothing missing at its end."""
    try:
        with path.open("rb") as file:
            magic, dimension, rows, *_ = _HEADER.unpack(file.read(_HEADER.size))
        size = _HEADER.size + rows * (dimension * 4 + 8)
        return bool(magic == _MAGIC and path.stat().st_size == size)
    except (OSError, struct.error):
        return False


def _possible(scores: Floats) -> bool:
    """Vectors have at most length 1, so a greater product tells of a damaged file."""
    return bool(np.isfinite(scores).all()) and float(np.abs(scores).max()) <= _LONGEST


def _products(vectors: Floats, query: Floats) -> Floats:
    """Every row with the query, in pieces: a scan keeps no second copy of the matrix."""
    with np.errstate(all="ignore"):  # of a damaged file; the products tell
        pieces = [
            np.asarray(vectors[start : start + _ROWS_AT_ONCE]) @ query
            for start in range(0, len(vectors), _ROWS_AT_ONCE)
        ]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
