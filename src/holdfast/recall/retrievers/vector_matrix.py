"""The vectors of a bank as one memory-mapped matrix, so that an exact search is one product.

The file is a cache: what it finds is looked up again in the store. It holds the vectors up to some
number; later ones are read from the store until there are enough of them to write the file again.
It is written to a temporary file and renamed, so any number of processes may read and write it. A
file that is missing, damaged or of another memory is replaced.
"""

from __future__ import annotations

import os
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import compress
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.operating_system import replace_file
from holdfast.store.index.vectors import StoredVector, VectorSpan
from holdfast.store.protocol import Reader

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

# Vectors that are not in the file yet are read from the store at each search, up to this many. More
# make searches slower, fewer make the file be written more often.
MAX_UNWRITTEN = 2000
_MAGIC = b"HOLDVEC2"
# magic, dimension, rows, checksum of what follows the vectors, checksum of the last vector
_HEADER = struct.Struct("<8sIQII")
_SUFFIX = ".vectors"
# How many vectors are read from the store at once: bounds the memory used.
_BATCH_SIZE = 5000
# A temporary file of this age was left by a process that was killed.
_ABANDONED_S = 3600
# Vectors have at most length 1; a little more is rounding.
_MAX_LENGTH = 1.01
# How far the sum of all products may be from the product with the sum of all vectors: a fixed part,
# and a part for each row. Measured at 100,000 rows of 384 numbers: 0.00001.
_ROUNDING = 1e-3
_ROUNDING_PER_ROW = 1e-7


class ScanResult(NamedTuple):
    """The result of a scan: the best vectors by number with their scores, the range of all scores,
    and how many vectors were skipped because they are damaged."""

    best: list[tuple[int, float]]
    lowest: float
    highest: float
    skipped: int = 0


class _Vectors(NamedTuple):
    """Vectors with their numbers; for a file, `total` is the sum of the vectors as written."""

    numbers: Numbers
    vectors: Floats
    total: Doubles | None = None


class _Loaded(NamedTuple):
    """The loaded vectors, and the state of the store they belong to. Replaced as a whole, because
    threads share it."""

    span: VectorSpan
    parts: list[_Vectors]

    @property
    def skipped(self) -> int:
        """How many vectors of the store are not loaded. Vectors deleted from the store since the
        file was written hide as many, until the file is written again."""
        return max(0, self.span.total - sum(len(part.numbers) for part in self.parts))


def read_vector(data: bytes, dimension: int) -> Floats | None:
    """A stored vector; None if it is incomplete or cannot come from a model."""
    if len(data) != dimension * 4:
        return None
    vector = np.frombuffer(data, np.float32)
    with np.errstate(all="ignore"):
        return vector if float(vector @ vector) <= _MAX_LENGTH**2 else None


def read_vectors(
    stored: Iterable[StoredVector], dimension: int
) -> tuple[list[StoredVector], Floats]:
    """Those of the stored vectors that are usable (complete, finite, and not longer than 1), and
    their values as the rows of one array."""
    whole = [one for one in stored if len(one.data) == dimension * 4]
    values = np.frombuffer(b"".join(one.data for one in whole), np.float32)
    values = values.reshape(len(whole), dimension)
    with np.errstate(all="ignore"):
        usable = np.einsum("ij,ij->i", values, values) <= _MAX_LENGTH**2
    if usable.all():
        return whole, values
    return list(compress(whole, usable.tolist())), values[usable]


def row_products(rows: Floats, vector: Floats) -> Floats:
    """The product of every row with a vector. Unlike a product of matrices, it runs in one thread:
    those of OpenBLAS spin for 27 ms after each call, so that a scan of 100,000 rows took 26 ms of
    processor instead of 17. A mapped file is read without a copy of it."""
    with np.errstate(all="ignore"):  # a damaged file is recognised by the products
        return np.einsum("ij,j->i", np.asarray(rows), vector)


def rank_stored_vectors(named: Sequence[StoredVector], vector: Floats, limit: int) -> ScanResult:
    """Rank the vectors that a store returned by their product with a query vector."""
    usable, values = read_vectors(named, len(vector))
    if not usable:
        return ScanResult([], 0.0, 0.0, len(named))
    scores = row_products(values, vector)
    top = np.argsort(-scores, kind="stable")[:limit]
    best = [(usable[int(i)].number, float(scores[i])) for i in top]
    return ScanResult(best, float(scores.min()), float(scores.max()), len(named) - len(usable))


class VectorMatrix:
    """One bank's vectors of one model."""

    def __init__(self, folder: Path, bank: str, model: str, dimension: int) -> None:
        self._bank = bank
        self._model = model
        self._dimension = dimension
        mark = zlib.crc32(f"{bank}\n{model}\n{dimension}".encode("utf-8", "surrogatepass"))
        self._folder = folder
        self.path = folder / f"{mark:08x}{_SUFFIX}"
        self._loaded: _Loaded | None = None

    def scan(
        self, reader: Reader, query: Floats, limit: int, among: Sequence[int] | None = None
    ) -> ScanResult:
        """The vectors nearest to a query by their product with it; with `among`, only those of
        these numbers."""
        loaded = self._load_current(reader)
        products = [row_products(part.vectors, query) for part in loaded.parts]
        if not all(map(_is_undamaged, loaded.parts, products, [query] * len(products))):
            self._discard()
            loaded = self._load_current(reader, rewrite=True)
            products = [row_products(part.vectors, query) for part in loaded.parts]
        scores = np.concatenate(products)
        if not len(scores):
            return ScanResult([], 0.0, 0.0, loaded.skipped)
        numbers = np.concatenate([part.numbers for part in loaded.parts])
        lowest, highest = float(scores.min()), float(scores.max())
        if among is not None:
            wanted = np.isin(numbers, np.array(among, np.int64))
            numbers, scores = numbers[wanted], scores[wanted]
        reach = min(limit, len(scores))
        top = np.argpartition(-scores, reach - 1)[:reach] if reach else np.zeros(0, np.intp)
        top = top[np.argsort(-scores[top], kind="stable")]
        best = [(int(numbers[i]), float(scores[i])) for i in top]
        return ScanResult(best, lowest, highest, loaded.skipped)

    def skips(self, reader: Reader) -> bool:
        """Whether a search skips vectors because they are damaged."""
        return self._load_current(reader).skipped > 0

    def damaged(self, reader: Reader) -> list[str]:
        """The hashes of all texts whose vector is damaged. Reads every vector."""
        found: dict[str, None] = {}
        known = 0
        while some := reader.vectors.after(self._bank, self._model, known, _BATCH_SIZE):
            known = some[-1].number
            whole = set(self._stack(some).numbers.tolist())
            found |= {vector.hash: None for vector in some if vector.number not in whole}
        return list(found)

    def _load_current(self, reader: Reader, rewrite: bool = False) -> _Loaded:
        """Load the file (rewritten if `rewrite`, or if too old) and the vectors added since."""
        # The reader's generation cannot tell: each search has a reader of its own. Numbers only
        # ever grow, so whatever is added or removed changes the span.
        span = reader.vectors.span(self._bank, self._model)
        loaded = self._loaded
        if loaded is not None and span == loaded.span:
            return loaded
        file = None if rewrite else self._read_file(reader)
        if rewrite or self._is_outdated(reader, file):
            file = self._write_file(reader) or self._load_from_store(reader)
        known = int(file.numbers[-1]) if file is not None and len(file.numbers) else 0
        tail = self._stack(reader.vectors.after(self._bank, self._model, known, MAX_UNWRITTEN * 2))
        parts = [tail] if file is None else [file, tail]
        loaded = self._loaded = _Loaded(span, parts)
        return loaded

    def refresh(self, reader: Reader) -> bool:
        """Write the file again if too many vectors are missing from it; returns whether it did."""
        loaded = self._read_file(reader)
        if not self._is_outdated(reader, loaded):
            return False
        self._loaded = None
        return self._write_file(reader) is not None

    def _is_outdated(self, reader: Reader, loaded: _Vectors | None) -> bool:
        """Whether more than `MAX_UNWRITTEN` vectors are missing from the file, or half of the file
        is gone from the store."""
        if loaded is None:
            return reader.vectors.span(self._bank, self._model).total > MAX_UNWRITTEN
        later = reader.vectors.after(
            self._bank, self._model, int(loaded.numbers[-1]), MAX_UNWRITTEN + 1
        )
        span = reader.vectors.span(self._bank, self._model)
        return len(later) > MAX_UNWRITTEN or span.total - len(later) < len(loaded.numbers) // 2

    def _stack(self, found: list[StoredVector]) -> _Vectors:
        usable, values = read_vectors(found, self._dimension)
        return _Vectors(np.array([one.number for one in usable], np.int64), values)

    def _batches(self, reader: Reader) -> Iterator[_Vectors]:
        known = 0
        while found := reader.vectors.after(self._bank, self._model, known, _BATCH_SIZE):
            known = found[-1].number
            yield self._stack(found)

    def _load_from_store(self, reader: Reader) -> _Vectors:
        """All vectors from the store: slow, for a folder that cannot be written."""
        parts = list(self._batches(reader))
        if not parts:
            return _Vectors(np.zeros(0, np.int64), np.zeros((0, self._dimension), np.float32))
        return _Vectors(
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.vectors for part in parts]),
        )

    def _read_file(self, reader: Reader) -> _Vectors | None:
        """The file; None unless it is complete and belongs to this memory."""
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
                # The open file, not its path: another process may have replaced it.
                vectors = np.memmap(file, np.float32, "r", _HEADER.size, (rows, dimension))
        except (OSError, struct.error, ValueError):
            return None
        numbers = np.frombuffer(data, np.int64, rows)
        total = np.frombuffer(data, np.float64, offset=rows * 8)
        last = reader.vectors.after(self._bank, self._model, int(numbers[-1]) - 1, 1)
        ours = bool(last) and last[0].number == numbers[-1]
        if not ours or zlib.crc32(last[0].data) != last_sum:
            return None
        return _Vectors(numbers, vectors, total)

    def _write_file(self, reader: Reader) -> _Vectors | None:
        """Write all vectors to a new file that replaces the old one; None if that is not
        possible."""
        own = f"{os.getpid()}-{threading.get_ident()}"
        beside = self._folder / f".{self.path.name}.{own}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), "wb") as to:
                self._write_rows(reader, to)
            replace_file(beside, self.path)
        except OSError:
            return None
        finally:
            # Also when the store interrupts a search that takes too long.
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        return self._read_file(reader)

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
        self._loaded = None
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def remove_stale_files(folder: Path, matrices: Sequence[VectorMatrix]) -> None:
    """Remove the files of models and banks that no longer exist, and old temporary files. Recent
    ones may still be written."""
    kept = {matrix.path for matrix in matrices}
    with suppress(OSError):
        for path in folder.iterdir():
            left = path.name.startswith(".") and time.time() - path.stat().st_mtime > _ABANDONED_S
            if left or (path.suffix == _SUFFIX and path not in kept):
                path.unlink(missing_ok=True)


def is_complete(path: Path) -> bool:
    """Whether a file is a complete matrix file."""
    try:
        with path.open("rb") as file:
            magic, dimension, rows, *_ = _HEADER.unpack(file.read(_HEADER.size))
        size = _HEADER.size + rows * (dimension * 4 + 8) + dimension * 8
        return bool(magic == _MAGIC and path.stat().st_size == size)
    except (OSError, struct.error):
        return False


def _is_undamaged(part: _Vectors, products: Floats, query: Floats) -> bool:
    """Whether the vectors of a file can be those that were written. No vector is longer than 1, so
    no product is greater; and the sum of all products must be the product with the stored sum of
    all vectors, so zeroed or replaced rows show if they would change a result."""
    if part.total is None:
        return True
    if not np.isfinite(products).all() or float(np.abs(products).max()) > _MAX_LENGTH:
        return False
    apart = abs(float(products.sum(dtype=np.float64)) - float(part.total @ query))
    return apart <= _ROUNDING + _ROUNDING_PER_ROW * len(products)
