"""The version of this program; the build reads it from here."""

from __future__ import annotations

import os

__version__ = "0.2.0"


def full_version() -> str:
    """The version, with the commit that the wheel was built from where that is known."""
    try:
        with open(os.path.join(os.path.dirname(__file__), "commit"), encoding="ascii") as file:  # noqa: PTH118, PTH120, PTH123 - pathlib takes longer to import than a version to print
            commit = file.read().strip()
    except (OSError, ValueError):
        return __version__
    return f"{__version__} ({commit})"
