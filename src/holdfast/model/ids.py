"""Stable ids for records.

An id is a hash of what makes a record itself, so that doing the same work twice names the
same row. Ids never contain a bank: a record keeps its name when a bank is renamed.
"""

from __future__ import annotations

import hashlib

ID_BYTES = 8


def content_id(*parts: str) -> str:
    """Hash the parts to 16 hex digits; the borders between parts count."""
    joined = "".join([f"{len(part)}:{part}" for part in parts]).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=ID_BYTES).hexdigest()
