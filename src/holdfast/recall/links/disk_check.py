"""A look at files as they are on disk now, so far as that costs next to nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

from holdfast.model.anchors import FileFreshness
from holdfast.model.trust import Freshness

MAX_FILE_CHECKS = 80
MAX_FILE_BYTES = 512 * 1024


class DiskCheck:
    """The working folder of a repository, "" for none; `read_at` is when its history was read, and
    `most` how many files may be looked at. `holds` tells whether a file holds what git knows by a
    name; without it nobody reads files."""

    def __init__(
        self,
        root: str = "",
        read_at: str = "",
        most: int = MAX_FILE_CHECKS,
        holds: Callable[[str, str], bool] = lambda path, blob: True,
    ) -> None:
        self._holds = holds
        self._root = root
        self._read_at = read_at
        self._looks = most
        self._reads = most // 4

    def checked(self, fate: FileFreshness, name: str, blob: str, until: str) -> FileFreshness:
        """What became of a file that history has as `name`, holding `blob`: not there, or changed
        after `until` and after history was read, so that only the disk knows of it."""
        if not self._root or self._looks <= 0:
            return fate
        self._looks -= 1
        path = os.path.join(self._root, name)  # noqa: PTH118
        try:
            seen = os.stat(path)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return fate._replace(freshness=Freshness.GONE, now="", commits=0, lines=0, since="")
        except (OSError, ValueError):
            return fate
        written = datetime.fromtimestamp(seen.st_mtime, UTC).isoformat()
        if fate.freshness is not Freshness.FRESH or written <= max(until, self._read_at):
            return fate
        if not blob or seen.st_size > MAX_FILE_BYTES or self._reads <= 0:
            return fate
        self._reads -= 1
        if self._holds(path, blob):
            return fate
        return fate._replace(freshness=Freshness.CHANGED, since=written)
