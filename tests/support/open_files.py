"""Which files this process holds open."""

from __future__ import annotations

from pathlib import Path

import psutil


def open_files_in(folder: Path) -> list[str]:
    """The names of the files below a folder that this process holds open, sorted; a file that is
    open twice is named twice."""
    root = folder.resolve()
    held = [Path(file.path) for file in psutil.Process().open_files()]
    return sorted(path.name for path in held if path.is_relative_to(root))
