"""URIs of other programs, resolved to records that were imported from them.

Notes taken before an import may cite a record as the other program named it, such as
`claude-mem://observation/12`. A resolver is looked up by scheme and returns our URI, or None if
nothing of that name was imported.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import NotFoundError
from holdfast.model.uris import SCHEME, uri
from holdfast.store.protocol import Reader

# Takes a reader, a bank id (None for all banks) and a URI of the scheme.
Resolver = Callable[[Reader, str | None, str], str | None]


def _resolve_imported(reader: Reader, bank: str | None, name: str) -> str | None:
    """The record that was imported under this URI, the latest if there are several. The URI of a
    session gives its summary, or else the latest record of it."""
    found = reader.imports.by_origin(bank, name)
    if not found:
        session = name.partition("://session/")[2]
        within = reader.imports.in_session(bank, session) if session else []
        found = [one for one in within if one.kind == "summary"] or within
        found = [one for one in found if one.origin.startswith(name.partition("://")[0])]
        return uri("imported", found[0].id) if found else None
    return uri("imported", max(found, key=lambda one: (one.taken, one.time, one.id)).id)


_PROGRAMS = ("claude-mem", "claude-memory", "memory", "mem0", "hindsight")
RESOLVERS: dict[str, Resolver] = dict.fromkeys(_PROGRAMS, _resolve_imported)


def resolve_uri(reader: Reader, bank: str | None, text: str) -> str:
    """Our URI for a record that is named by another program's. A text without a scheme, or with
    ours, is returned as it is."""
    scheme, sign, _ = text.strip().partition("://")
    if not sign or text.strip().startswith(SCHEME):
        return text.strip()
    resolver = RESOLVERS.get(scheme)
    found = resolver(reader, bank, text.strip()) if resolver is not None else None
    if found is None:
        raise NotFoundError(
            f"Memory has no record {text[:200]!r}.",
            "Import its data, or give a holdfast:// URI.",
        )
    return found
