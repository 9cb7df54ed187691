"""Memories that other people share. Every imported version is kept, with the share import that
brought it; the current one is the latest whose import was not undone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.query import Passage
from holdfast.model.team import SharedRecord


class ShareImport(NamedTuple):
    """One import of what others share: from where (`place`), up to which commits (`heads`), and
    when."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str


class ShareReader(Protocol):
    """Reads shared records."""

    def shared(self, bank: str) -> list[SharedRecord]:
        """The records that others share and that are shown, the latest first."""
        ...

    def share_imports(self, bank: str) -> list[ShareImport]:
        """Every share import, undone or not, the oldest first."""
        ...


class ShareWriter(Protocol):
    """Writes shared records."""

    def sent_ids(self, bank: str) -> set[str]:
        """The ids of the records that were shared from this memory."""
        ...

    def put_sent(self, bank: str, ids: Iterable[str]) -> None:
        """Add to the ids of the records that were shared from this memory."""
        ...

    def current_shared(self, bank: str) -> list[SharedRecord]:
        """The current version of each shared record, hidden and withdrawn ones included."""
        ...

    def share_import_ids(self, bank: str, share_import: str) -> list[str]:
        """The ids of the records that a share import brought."""
        ...

    def put_share_import(self, share_import: ShareImport, records: Iterable[SharedRecord]) -> None:
        """Store a share import with its records."""
        ...

    def put_shared_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        """Replace the passages of some shared records."""
        ...
