"""What bytes are read from."""

from __future__ import annotations

from typing import BinaryIO, Literal, Protocol


class Openable(Protocol):
    """What can be opened to read its bytes: a path is one."""

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        """Its bytes from the start."""
        ...
