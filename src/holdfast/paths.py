"""Comparison of paths by the rules of a system: Windows and macOS treat names as equal that
Linux tells apart. Pure functions of text; no disk is read."""

from __future__ import annotations

import re
import sys
import unicodedata

_VERBATIM_PREFIX = re.compile(r"^[\\/]{2}[?.][\\/]")
_GIT_BASH_DRIVE = re.compile(r"^/([a-zA-Z])(?=/|\Z)")


def comparable_path(path: str, system: str = sys.platform) -> str:
    """The form in which a path is compared; what is shown is the path as it was given."""
    if system == "win32":
        return _comparable_windows_path(path)
    if system == "darwin":
        return unicodedata.normalize("NFC", path).casefold().rstrip("/") or path
    return path


def _comparable_windows_path(path: str) -> str:
    bare = _VERBATIM_PREFIX.sub("", path)
    if bare[:4].upper() in ("UNC\\", "UNC/") and bare != path:
        bare = f"\\\\{bare[4:]}"
    bare = _GIT_BASH_DRIVE.sub(lambda found: f"{found[1]}:", bare)
    parts = [part for part in re.split(r"[\\/]+", bare) if part]
    # Windows takes spaces and dots at the end of a name away, but for the two that mean folders.
    kept = [part if part in (".", "..") else part.rstrip(" .") or part for part in parts]
    shared = "\\\\" if re.match(r"[\\/]{2}[^\\/]", bare) else ""
    rooted = "\\" if not shared and re.match(r"[\\/]", bare) else ""
    return (shared + rooted + "\\".join(kept)).casefold()
