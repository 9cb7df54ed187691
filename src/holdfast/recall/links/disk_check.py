"""Cheap checks of files on disk: whether they are there, and whether they were changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

from holdfast.model.anchors import FileFreshness
from holdfast.model.trust import Freshness

# Files checked for one answer: bounds the time on a slow disk.
MAX_FILE_CHECKS = 80
# A quarter of them may be read, if they are no larger than this.
_READS_PER_CHECK = 4
MAX_FILE_BYTES = 512 * 1024


class DiskCheck:
    """Checks files under `root`, the working folder of a repository ("" for none). `read_at` is
    when its history was read. `has_blob` compares a file with a git blob; without it no file is
    read."""

    def __init__(
        self,
        root: str = "",
        read_at: str = "",
        max_checks: int = MAX_FILE_CHECKS,
        has_blob: Callable[[str, str], bool] = lambda path, blob: True,
    ) -> None:
        self._has_blob = has_blob
        self._root = root
        self._read_at = read_at
        self._checks_left = max_checks
        self._reads_left = max_checks // _READS_PER_CHECK

    def checked(self, fate: FileFreshness, name: str, blob: str, until: str) -> FileFreshness:
        """The freshness of a file that history knows as `name` with `blob`, corrected by the disk:
        gone if it is missing, changed if it was written after `until` and after history was
        read."""
        if not self._root or self._checks_left <= 0:
            return fate
        self._checks_left -= 1
        path = os.path.join(self._root, name)  # noqa: PTH118
        try:
            status = os.stat(path)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return fate._replace(freshness=Freshness.GONE, now="", commits=0, lines=0, since="")
        except (OSError, ValueError):
            return fate
        written = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
        if fate.freshness is not Freshness.FRESH or written <= max(until, self._read_at):
            return fate
        if not blob or status.st_size > MAX_FILE_BYTES or self._reads_left <= 0:
            return fate
        self._reads_left -= 1
        if self._has_blob(path, blob):
            return fate
        return fate._replace(freshness=Freshness.CHANGED, since=written)
