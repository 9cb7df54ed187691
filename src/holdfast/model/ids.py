"""Stable ids for records.

An id is a hash of what identifies a record, so that doing the same work twice writes the same
row. Ids never contain a bank: a record keeps its id when it moves to another bank.
"""

from __future__ import annotations

try:
    # The same function as in hashlib, which takes 4 ms to import because it opens OpenSSL.
    from _blake2 import blake2b
except ImportError:  # a Python that was built without it
    from hashlib import blake2b

# 16 hex digits: short enough to type, and no collision is expected below billions of records.
ID_BYTES = 8


def content_id(*parts: str) -> str:
    """Hash the parts to 16 hex digits; ("ab", "c") and ("a", "bc") give different ids."""
    joined = "".join([f"{len(part)}:{part}" for part in parts]).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=ID_BYTES).hexdigest()
