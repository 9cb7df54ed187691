"""How what was erased for good is known when it is met again: by marks that tell neither its words
nor its name."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.ids import content_id
from holdfast.store.protocol import Reader


def mark(kind: str, name: str) -> str:
    """The mark of a turn, a session, a session's title, a line, a commit, a tag, a pull, an issue,
    a remark, or of the words of one of these three."""
    return content_id("erased", kind, name)


def line_name(path: str, offset: int) -> str:
    """How a line of a file is named."""
    return f"{offset}:{path}"


class Erased:
    """What must not be taken in again, among some names."""

    def __init__(self, reader: Reader, bank: str, names: Sequence[tuple[str, str]]) -> None:
        self._found: set[str] = set()
        # Seldom is anything erased at all; then no name need be hashed.
        if reader.erased(bank, (mark("any", ""),)):
            self._found = reader.erased(bank, [mark(kind, name) for kind, name in names])

    def has(self, kind: str, name: str) -> bool:
        """Whether a name stands for something erased."""
        return bool(self._found) and mark(kind, name) in self._found
