"""Vectors as pgvector takes them: 16-bit floats, in the form they have on the wire."""

from __future__ import annotations

import math
import struct
from typing import Any

from psycopg import pq
from psycopg.adapt import Dumper

_FLOAT = 4
# A vector of ours has at most length 1; pgvector takes up to this many numbers.
_GREATEST = 2.0
_MOST = 16_000


class Half(bytes):
    """One vector, ready to be sent."""

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return len(self) // 2 - 2


class HalfDumper(Dumper):
    """Sends it as it is; which type it is meant for, the statement says."""

    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def half(data: bytes) -> Half | None:
    """A stored vector with less precision, if it is whole and one that a model gives."""
    size = len(data) // _FLOAT
    if not size or len(data) % _FLOAT or size > _MOST:
        return None
    numbers: tuple[float, ...] = struct.unpack(f"<{size}f", data)
    # What is no number makes the sum none.
    if not math.isfinite(sum(numbers)) or max(map(abs, numbers)) > _GREATEST:
        return None
    return Half(struct.pack(f">hh{size}e", size, 0, *numbers))
