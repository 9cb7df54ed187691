"""Records in the home which settings files we changed, so that it can be undone.

For each file it keeps the bytes from before our first change, and the hash of what we wrote. A file
that still has this hash gets its old bytes back; from any other only our entries are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.hosts.claude_code.config_file import write_atomically

_VERSION = 1
_CLAUDE_CODE = "claude-code.json"
# The record of what was changed for other agents.
OTHER_AGENTS = "agents.json"


class Entry(NamedTuple):
    """`before` names a file beside the record, "" where there was no file; `after` is a hash;
    `allowed` are the permission rules that we added."""

    before: str
    after: str
    allowed: tuple[str, ...] = ()


def fingerprint(raw: bytes | None) -> str:
    """A hash of a content."""
    return hashlib.sha256(raw).hexdigest() if raw is not None else ""


class InstallRecord:
    """The record of one home, for Claude Code or for the other agents."""

    def __init__(self, home: Path, name: str = _CLAUDE_CODE) -> None:
        self.folder = home / "backups"
        self._path = self.folder / name
        self.files = self._read()

    def _read(self) -> dict[str, Entry]:
        try:
            content: Any = json.loads(self._path.read_bytes())
            files = cast(dict[str, Any], content["files"]) if content["v"] == _VERSION else {}
            return {
                path: Entry(
                    str(e["before"]), str(e["after"]), tuple(map(str, e.get("allowed", ())))
                )
                for path, e in files.items()
            }
        except (OSError, ValueError, KeyError, TypeError):
            # Our entries can be recognised without a record, too.
            return {}

    def before(self, path: Path) -> bytes | None:
        """The bytes of a file before us; None where there was none, or they are unknown."""
        entry = self.files.get(str(path))
        if entry is None or not entry.before:
            return None
        try:
            return (self.folder / entry.before).read_bytes()
        except OSError:
            return None

    def is_untouched(self, path: Path, raw: bytes | None) -> bool:
        """Whether a file is as we wrote it, and its backup is there."""
        entry = self.files.get(str(path))
        if entry is None or entry.after != fingerprint(raw):
            return False
        return not entry.before or (self.folder / entry.before).is_file()

    def created(self, path: Path) -> bool:
        """Whether we created a file."""
        entry = self.files.get(str(path))
        return entry is not None and not entry.before

    def allowed(self, path: Path) -> tuple[str, ...]:
        """The permission rules that we added to a file."""
        entry = self.files.get(str(path))
        return entry.allowed if entry else ()

    def add(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        """Back up a file, and record what we write."""
        name = ""
        if before is not None:
            now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
            name = f"{path.name.lstrip('.')}.{now}.{fingerprint(before)[:8]}"
            self._save(self.folder / name, before)
        self.files[str(path)] = Entry(name, fingerprint(after), self.allowed(path))
        self._write()

    def set_allowed(self, path: Path, rules: Iterable[str]) -> None:
        """Record which permission rules in a file are ours."""
        self.files[str(path)] = self.files[str(path)]._replace(allowed=tuple(rules))
        self._write()

    def update(self, path: Path, after: bytes | None) -> None:
        """Record that we write a file again."""
        self.files[str(path)] = self.files[str(path)]._replace(after=fingerprint(after))
        self._write()

    def forget(self, path: Path, restored: bool = False) -> None:
        """Record that a file has no entry of ours any more. Its backup is deleted once it is
        restored, because settings may hold secrets; otherwise it stays for the user."""
        entry = self.files.pop(str(path), None)
        if entry is None:
            return
        if restored and entry.before:
            (self.folder / entry.before).unlink(missing_ok=True)
        self._write()

    def _save(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, content, 0o600)

    def _write(self) -> None:
        if not self.files:
            self._path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            return
        files = {path: entry._asdict() for path, entry in self.files.items()}
        content = json.dumps({"v": _VERSION, "files": files}, indent=1)
        self._save(self._path, content.encode())
