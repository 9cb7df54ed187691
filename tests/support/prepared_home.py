"""A home that takes long to make, made once for all examples of a property."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path


class PreparedHome:
    """A folder that each example changes, and that is put back for the next one. It keeps its
    place, because a memory knows the paths of the transcripts that it has read."""

    def __init__(self, folder: Path, make: Callable[[Path], None]) -> None:
        self._home, self._made = folder / "home", folder / "made"
        make(self._home)
        shutil.copytree(self._home, self._made)

    def fresh(self) -> Path:
        """The folder as it was made."""
        shutil.rmtree(self._home)
        shutil.copytree(self._made, self._home)
        return self._home
