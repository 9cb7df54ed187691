"""Vectors of 16-bit floats in the binary format of pgvector."""

from __future__ import annotations

import math
import struct
from typing import Any

from psycopg import pq
from psycopg.adapt import Dumper

_FLOAT_BYTES = 4
# Embeddings have a length of at most 1, so a larger value means damage.
_MAX_VALUE = 2.0
# What pgvector takes.
_MAX_DIMENSIONS = 16_000


class HalfVector(bytes):
    """One vector, ready to be sent."""

    @property
    def size(self) -> int:
        """How many dimensions it has."""
        return len(self) // 2 - 2


class HalfVectorDumper(Dumper):
    """Sends it as it is; the statement casts it to its type."""

    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def to_half_vector(data: bytes) -> HalfVector | None:
    """A stored vector as 16-bit floats; None where it is damaged or not one that a model gives."""
    size = len(data) // _FLOAT_BYTES
    if not size or len(data) % _FLOAT_BYTES or size > _MAX_DIMENSIONS:
        return None
    numbers: tuple[float, ...] = struct.unpack(f"<{size}f", data)
    # NaN or infinity makes the sum so.
    if not math.isfinite(sum(numbers)) or max(map(abs, numbers)) > _MAX_VALUE:
        return None
    return HalfVector(struct.pack(f">hh{size}e", size, 0, *numbers))
