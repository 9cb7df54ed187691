"""The protocol of anything that can be opened to read bytes."""

from __future__ import annotations

from typing import BinaryIO, Literal, Protocol


class Openable(Protocol):
    """Can be opened to read its bytes, as a `Path` can."""

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        """Its bytes from the start."""
        ...
