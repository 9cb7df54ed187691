"""URIs of other programs, resolved to records that were imported from them.

Notes taken before an import may cite a record as the other program named it, such as
`claude-mem://observation/12`.
"""

from __future__ import annotations

from holdfast.errors import NotFoundError
from holdfast.model.uris import SCHEME, uri
from holdfast.store.protocol import Reader

_PROGRAMS = ("claude-mem", "claude-memory", "memory", "mem0", "hindsight")


def resolve_uri(reader: Reader, bank: str | None, text: str) -> str:
    """Our URI for a record that is named by another program's: the latest that was imported under
    it. The URI of a session gives its summary, or else the latest record of it. A text without a
    scheme, or with ours, is returned as it is."""
    text = text.strip()
    program, sign, name = text.partition("://")
    if not sign or text.startswith(SCHEME):
        return text
    found = list(reader.imports.by_origin(bank, text)) if program in _PROGRAMS else []
    if found:
        return uri("imported", max(found, key=lambda one: (one.taken, one.time, one.id)).id)
    if program in _PROGRAMS and name.startswith("session/"):
        within = reader.imports.in_session(bank, name.removeprefix("session/"))
        within = [one for one in within if one.origin.startswith(program)]
        for one in sorted(within, key=lambda one: one.kind != "summary"):
            return uri("imported", one.id)
    raise NotFoundError(
        f"Memory has no record {text[:200]!r}.", "Import its data, or give a holdfast:// URI."
    )
