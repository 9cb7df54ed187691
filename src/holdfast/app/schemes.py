"""Names of records in other programs' words: whoever imports their data says what is meant.

A citation may name a record by another scheme than ours, such as `claude-mem://observation/12` in
notes that were taken before the import. A resolver is looked up by scheme and gives our own name
for it, or None where it is of nothing that was imported.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import NotFoundError
from holdfast.model.uris import SCHEME
from holdfast.store.protocol import Reader

# Given a reader, a bank (None for all) and a URI of the scheme.
Resolver = Callable[[Reader, str | None, str], str | None]

RESOLVERS: dict[str, Resolver] = {}


def resolve(reader: Reader, bank: str | None, text: str) -> str:
    """Our name for a record; what has no scheme, or ours, stays as it is."""
    scheme, sign, _ = text.strip().partition("://")
    if not sign or text.strip().startswith(SCHEME):
        return text.strip()
    resolver = RESOLVERS.get(scheme)
    found = resolver(reader, bank, text.strip()) if resolver is not None else None
    if found is None:
        raise NotFoundError(
            f"Nothing in memory is known as {text[:200]!r}.",
            "Import the data it is of, or name a record by its holdfast:// URI.",
        )
    return found
