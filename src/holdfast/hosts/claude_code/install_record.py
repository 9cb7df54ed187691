"""What we changed, and how it was before: kept in the home, so that it can be undone.

For each file the bytes it had before we first came, and the hash of what we left. A file that
still has that hash gets its old bytes back; any other has only our entries taken out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.hosts.claude_code.config_file import write_atomically

_VERSION = 1
_NAME = "claude-code.json"
# The record of what was changed for other agents.
OTHER_AGENTS = "agents.json"


class Entry(NamedTuple):
    """`before` names a file beside the record, "" where there was no file; `after` is a hash."""

    before: str
    after: str


def fingerprint(raw: bytes | None) -> str:
    """What tells one content from another."""
    return hashlib.sha256(raw).hexdigest() if raw is not None else ""


class InstallRecord:
    """The record of one home."""

    def __init__(self, home: Path, name: str = _NAME) -> None:
        self.folder = home / "backups"
        self._path = self.folder / name
        self.files = self._read()

    def _read(self) -> dict[str, Entry]:
        try:
            told: Any = json.loads(self._path.read_bytes())
            files = cast(dict[str, Any], told["files"]) if told["v"] == _VERSION else {}
            return {path: Entry(str(e["before"]), str(e["after"])) for path, e in files.items()}
        except (OSError, ValueError, KeyError, TypeError):
            # Without a record our entries can still be told from all others.
            return {}

    def before(self, path: Path) -> bytes | None:
        """The bytes that a file had; None where there was no file, or nothing is known."""
        entry = self.files.get(str(path))
        if entry is None or not entry.before:
            return None
        try:
            return (self.folder / entry.before).read_bytes()
        except OSError:
            return None

    def is_untouched(self, path: Path, raw: bytes | None) -> bool:
        """Whether a file is as we left it, and we still have what it was."""
        entry = self.files.get(str(path))
        if entry is None or entry.after != fingerprint(raw):
            return False
        return not entry.before or (self.folder / entry.before).is_file()

    def created(self, path: Path) -> bool:
        """Whether there was no such file before us."""
        entry = self.files.get(str(path))
        return entry is not None and not entry.before

    def add(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        """Keep what a file was before us, and know again what we left."""
        name = ""
        if before is not None:
            moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            name = f"{path.name.lstrip('.')}.{moment}.{fingerprint(before)[:8]}"
            self._make()
            write_atomically(self.folder / name, before, 0o600)
        self.files[str(path)] = Entry(name, fingerprint(after))
        self._write()

    def update(self, path: Path, after: bytes | None) -> None:
        """We left something else in a file that was ours already."""
        self.files[str(path)] = self.files[str(path)]._replace(after=fingerprint(after))
        self._write()

    def forget(self, path: Path, restored: bool = False) -> None:
        """Nothing of ours is in a file any more. Its old content goes once it is back in its
        place, because settings may hold secrets; else it stays, for a person to look at."""
        entry = self.files.pop(str(path), None)
        if entry is None:
            return
        if restored and entry.before:
            (self.folder / entry.before).unlink(missing_ok=True)
        self._write()

    def _make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _write(self) -> None:
        self._make()
        if not self.files:
            self._path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            return
        files = {path: entry._asdict() for path, entry in self.files.items()}
        told = json.dumps({"v": _VERSION, "files": files}, indent=1)
        write_atomically(self._path, told.encode(), 0o600)
