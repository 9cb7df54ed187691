"""What a store keeps of other people's shared memories. Every version that was taken in stays, with
the taking that brought it; what holds is the latest of those whose taking was not taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.query import Passage
from holdfast.model.team import SharedRecord


class ShareImport(NamedTuple):
    """Once that somebody took in what others share: from where, up to which commits, and when."""

    bank: str
    id: str
    place: str
    heads: tuple[str, ...]
    time: str


class ShareReader(Protocol):
    """What can be asked."""

    def shared(self, bank: str) -> list[SharedRecord]:
        """What others share and is shown, the latest first."""
        ...

    def share_imports(self, bank: str) -> list[ShareImport]:
        """Every taking, taken back or not, the oldest first."""
        ...


class ShareWriter(Protocol):
    """The ways in."""

    def sent_ids(self, bank: str) -> set[str]:
        """The ids of what was shared out of this memory."""
        ...

    def put_sent(self, bank: str, ids: Iterable[str]) -> None:
        """Note what was shared out of this memory."""
        ...

    def current_shared(self, bank: str) -> list[SharedRecord]:
        """What holds of each matter, whether it is shown, forgotten or gone."""
        ...

    def share_import_ids(self, bank: str, taking: str) -> list[str]:
        """The ids of what a taking brought."""
        ...

    def put_share_import(self, taking: ShareImport, records: Iterable[SharedRecord]) -> None:
        """Keep what a taking brought."""
        ...

    def put_shared_passages(
        self, bank: str, ids: Sequence[str], passages: Sequence[Passage]
    ) -> None:
        """Make some shared records findable as these passages, and not otherwise."""
        ...
