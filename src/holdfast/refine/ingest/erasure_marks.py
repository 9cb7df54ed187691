"""Recognises erased records when they are read again: by hashes that reveal neither their text nor
their name."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.ids import content_id
from holdfast.store.protocol import Reader


def erasure_mark(kind: str, name: str) -> str:
    """The hash that is stored for an erased record. `kind` is turn, session, title (of a session),
    line, call, commit, tag, pull, issue, remark, words (of a pull, issue or remark) or any."""
    return content_id("erased", kind, name)


def line_name(path: str, offset: int) -> str:
    """The name of a line of a file in erasure marks."""
    return f"{offset}:{path}"


class ErasedNames:
    """Which of some names, each with its kind, were erased and must not be stored again."""

    def __init__(self, reader: Reader, bank: str, names: Sequence[tuple[str, str]]) -> None:
        self._found: set[str] = set()
        # Most banks have no erasures; then no name has to be hashed.
        if reader.curation.erased_marks(bank, (erasure_mark("any", ""),)):
            self._found = reader.curation.erased_marks(
                bank, [erasure_mark(kind, name) for kind, name in names]
            )

    def has(self, kind: str, name: str) -> bool:
        """Whether a record was erased; its name must be among those given."""
        return bool(self._found) and erasure_mark(kind, name) in self._found
