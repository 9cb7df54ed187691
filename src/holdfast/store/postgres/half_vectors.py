"""Vectors as pgvector takes them: 16-bit floats, in the form they have on the wire."""

from __future__ import annotations

import math
import struct
from typing import Any

from psycopg import pq
from psycopg.adapt import Dumper

_FLOAT_BYTES = 4
# A vector of ours has at most length 1; pgvector takes up to this many numbers.
_MAX_VALUE = 2.0
_MAX_DIMENSIONS = 16_000


class HalfVector(bytes):
    """One vector, ready to be sent."""

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return len(self) // 2 - 2


class HalfVectorDumper(Dumper):
    """Sends it as it is; which type it is meant for, the statement says."""

    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def to_half_vector(data: bytes) -> HalfVector | None:
    """A stored vector with less precision, if it is whole and one that a model gives."""
    size = len(data) // _FLOAT_BYTES
    if not size or len(data) % _FLOAT_BYTES or size > _MAX_DIMENSIONS:
        return None
    numbers: tuple[float, ...] = struct.unpack(f"<{size}f", data)
    # What is no number makes the sum none.
    if not math.isfinite(sum(numbers)) or max(map(abs, numbers)) > _MAX_VALUE:
        return None
    return HalfVector(struct.pack(f">hh{size}e", size, 0, *numbers))
