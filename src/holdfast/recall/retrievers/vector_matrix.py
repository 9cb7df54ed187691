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
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.store.protocol import Reader
from holdfast.store.protocol.vectors import StoredVector, VectorSpan

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

MAX_UNWRITTEN = 2000
_MAGIC = b"HOLDVEC2"
# magic, dimension, rows, checksum of what stands behind the vectors, checksum of the last vector
_HEADER = struct.Struct("<8sIQII")
_BATCH = 5000
_SUFFIX = ".vectors"
_ABANDONED_S = 3600
_ROWS_AT_ONCE = 32_768
# Vectors have at most length 1; a little more is rounding.
_LONGEST = 1.01
# How far the sum of all products may be from the product with the sum of all vectors: some for
# itself, and some for each row. Measured at 100,000 rows of 384 numbers: 0.00001.
_ROUNDING = 1e-3
_ROUNDING_A_ROW = 1e-7


class ScanResult(NamedTuple):
    """The best of a scan, numbers with scores, the span of all scores, and how many vectors had
    to be passed over because they are damaged."""

    best: list[tuple[int, float]]
    lowest: float
    highest: float
    skipped: int = 0


class _File(NamedTuple):
    """Vectors with their numbers; `total`, of a file, is the sum of the vectors as written."""

    numbers: Numbers
    vectors: Floats
    total: Doubles | None = None


class _Held(NamedTuple):
    """What is in hand, and as of which state of the store: set at once, for threads share it."""

    span: VectorSpan
    parts: list[_File]

    @property
    def skipped(self) -> int:
        """How many the store has and we have not. What is gone from the store since the file was
        written hides as many, until the file is written anew."""
        return max(0, self.span.total - sum(len(part.numbers) for part in self.parts))


def read_vector(data: bytes, dimension: int) -> Floats | None:
    """A stored vector, if it is whole and one that a model gives."""
    if len(data) != dimension * 4:
        return None
    vector = np.frombuffer(data, np.float32)
    with np.errstate(all="ignore"):
        return vector if float(vector @ vector) <= _LONGEST**2 else None


def rank_stored_vectors(named: Sequence[StoredVector], vector: Floats, limit: int) -> ScanResult:
    """The best of those that a store names, by the product of each of them with the vector."""
    read = [(one.number, read_vector(one.data, len(vector))) for one in named]
    whole = [(number, own) for number, own in read if own is not None]
    if not whole:
        return ScanResult([], 0.0, 0.0, len(named))
    scores = np.stack([own for _, own in whole]) @ vector
    top = np.argsort(-scores, kind="stable")[:limit]
    best = [(whole[int(i)][0], float(scores[i])) for i in top]
    return ScanResult(best, float(scores.min()), float(scores.max()), len(named) - len(whole))


class VectorMatrix:
    """One bank's vectors of one model."""

    def __init__(self, folder: Path, bank: str, model: str, dimension: int) -> None:
        self._bank = bank
        self._model = model
        self._dimension = dimension
        mark = zlib.crc32(f"{bank}\n{model}\n{dimension}".encode("utf-8", "surrogatepass"))
        self._folder = folder
        self.path = folder / f"{mark:08x}{_SUFFIX}"
        self._held: _Held | None = None

    def scan(
        self, reader: Reader, query: Floats, limit: int, among: Sequence[int] | None = None
    ) -> ScanResult:
        """The vectors nearest to a query, by the product of every one of them with it; only those
        of some numbers, if `among` names them."""
        held = self._bring_up(reader)
        products = [_products(part.vectors, query) for part in held.parts]
        if not all(map(_believable, held.parts, products, [query] * len(products))):
            self._discard()
            held = self._bring_up(reader, anew=True)
            products = [_products(part.vectors, query) for part in held.parts]
        scores = np.concatenate(products)
        if not len(scores):
            return ScanResult([], 0.0, 0.0, held.skipped)
        numbers = np.concatenate([part.numbers for part in held.parts])
        lowest, highest = float(scores.min()), float(scores.max())
        if among is not None:
            wanted = np.isin(numbers, np.array(among, np.int64))
            numbers, scores = numbers[wanted], scores[wanted]
        reach = min(limit, len(scores))
        top = np.argpartition(-scores, reach - 1)[:reach] if reach else np.zeros(0, np.intp)
        top = top[np.argsort(-scores[top], kind="stable")]
        best = [(int(numbers[i]), float(scores[i])) for i in top]
        return ScanResult(best, lowest, highest, held.skipped)

    def skips(self, reader: Reader) -> bool:
        """Whether a search passes over vectors because they are damaged."""
        return self._bring_up(reader).skipped > 0

    def damaged(self, reader: Reader) -> list[str]:
        """The hashes of what has a vector that no search can use; every vector is read."""
        found: dict[str, None] = {}
        known = 0
        while some := reader.vectors_after(self._bank, self._model, known, _BATCH):
            known = some[-1].number
            whole = set(self._stack(some).numbers.tolist())
            found |= {vector.hash: None for vector in some if vector.number not in whole}
        return list(found)

    def _bring_up(self, reader: Reader, anew: bool = False) -> _Held:
        """Hold the file, as it is or made anew, and what came after it, as of now."""
        # Not the reader's generation: each question comes with a reader of its own. Numbers only
        # ever grow, so whatever is added or removed changes the span.
        span = reader.vector_span(self._bank, self._model)
        held = self._held
        if held is not None and span == held.span:
            return held
        file = None if anew else self._read(reader)
        if anew or self._lags(reader, file):
            file = self._anew(reader)
        known = int(file.numbers[-1]) if file is not None and len(file.numbers) else 0
        tail = self._stack(reader.vectors_after(self._bank, self._model, known, MAX_UNWRITTEN * 2))
        parts = [tail] if file is None else [file, tail]
        held = self._held = _Held(span, parts)
        return held

    def refresh(self, reader: Reader) -> bool:
        """Write the file anew if too much is missing from it; says whether it did."""
        held = self._read(reader)
        if not self._lags(reader, held):
            return False
        self._held = None
        return self._write(reader) is not None

    def _lags(self, reader: Reader, held: _File | None) -> bool:
        """Whether more is missing from the file, or more of it is gone from the store, than a
        search should bear."""
        if held is None:
            return reader.vector_span(self._bank, self._model).total > MAX_UNWRITTEN
        later = reader.vectors_after(
            self._bank, self._model, int(held.numbers[-1]), MAX_UNWRITTEN + 1
        )
        span = reader.vector_span(self._bank, self._model)
        return len(later) > MAX_UNWRITTEN or span.total - len(later) < len(held.numbers) // 2

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
            with self.path.open("rb") as file:
                head = file.read(_HEADER.size)
                magic, dimension, rows, data_sum, last_sum = _HEADER.unpack(head)
                behind = _HEADER.size + rows * dimension * 4
                right = magic == _MAGIC and dimension == self._dimension and rows > 0
                more = rows * 8 + dimension * 8
                if not right or os.fstat(file.fileno()).st_size != behind + more:
                    return None
                file.seek(behind)
                data = file.read(more)
                if zlib.crc32(data) != data_sum:
                    return None
                # Of the open file, not of its name: another process may have put a new one there.
                vectors = np.memmap(file, np.float32, "r", _HEADER.size, (rows, dimension))
        except (OSError, struct.error, ValueError):
            return None
        numbers = np.frombuffer(data, np.int64, rows)
        total = np.frombuffer(data, np.float64, offset=rows * 8)
        last = reader.vectors_after(self._bank, self._model, int(numbers[-1]) - 1, 1)
        ours = bool(last) and last[0].number == numbers[-1]
        if not ours or zlib.crc32(last[0].data) != last_sum:
            return None
        return _File(numbers, vectors, total)

    def _write(self, reader: Reader) -> _File | None:
        """Write all vectors to a new file and put it in the place of the old one; None where
        nothing can be written."""
        own = f"{os.getpid()}-{threading.get_ident()}"
        beside = self._folder / f".{self.path.name}.{own}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb") as to:
                self._write_rows(reader, to)
            beside.replace(self.path)
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
        total = np.zeros(self._dimension)
        last = b""
        for part in self._batches(reader):
            if len(part.numbers):
                to.write(part.vectors.tobytes())
                numbers.append(part.numbers)
                total += part.vectors.sum(axis=0, dtype=np.float64)
                last = part.vectors[-1].tobytes()
        rows = sum(map(len, numbers))
        data = b"".join(part.tobytes() for part in (*numbers, total))
        to.write(data)
        to.seek(0)
        to.write(_HEADER.pack(_MAGIC, self._dimension, rows, zlib.crc32(data), zlib.crc32(last)))

    def _discard(self) -> None:
        self._held = None
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def remove_stale_files(folder: Path, matrices: Sequence[VectorMatrix]) -> None:
    """Remove the files of models and banks that are gone, and what a process that was killed
    left half-written. One that is still being written is young."""
    kept = {matrix.path for matrix in matrices}
    with suppress(OSError):
        for path in folder.iterdir():
            left = path.name.startswith(".") and time.time() - path.stat().st_mtime > _ABANDONED_S
            if left or (path.suffix == _SUFFIX and path not in kept):
                path.unlink(missing_ok=True)


def is_complete(path: Path) -> bool:
    """Whether a file is a matrix of ours with nothing missing at its end."""
    try:
        with path.open("rb") as file:
            magic, dimension, rows, *_ = _HEADER.unpack(file.read(_HEADER.size))
        size = _HEADER.size + rows * (dimension * 4 + 8) + dimension * 8
        return bool(magic == _MAGIC and path.stat().st_size == size)
    except (OSError, struct.error):
        return False


def _believable(part: _File, products: Floats, query: Floats) -> bool:
    """Whether the vectors of a file can be those that were written. They have at most length 1,
    so none has a greater product; and all products together are the product with their sum, so
    a stretch of zeros, or of other vectors, shows where it would change an answer."""
    if part.total is None:
        return True
    if not np.isfinite(products).all() or float(np.abs(products).max()) > _LONGEST:
        return False
    apart = abs(float(products.sum(dtype=np.float64)) - float(part.total @ query))
    return apart <= _ROUNDING + _ROUNDING_A_ROW * len(products)


def _products(vectors: Floats, query: Floats) -> Floats:
    """Every row with the query, in pieces: a scan keeps no second copy of the matrix."""
    with np.errstate(all="ignore"):  # of a damaged file; the products tell
        pieces = [
            np.asarray(vectors[start : start + _ROWS_AT_ONCE]) @ query
            for start in range(0, len(vectors), _ROWS_AT_ONCE)
        ]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)
