"""Reads and writes settings files of agents safely.

A file that is not a JSON object is refused before anything is changed. A write keeps byte order
mark, line ends, mode and owner, follows a symbolic link to the real file (people keep these files
in repositories of their own), and is atomic. A file that another program changed since it was read
is not overwritten.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.hosts.claude_code.json_text import read
from holdfast.operating_system import replace_file, user_and_group

BOM = b"\xef\xbb\xbf"
# Claude Code itself counts a lock as stale after ten seconds; setup does not wait that long.
_LOCK_TIMEOUT_S = 3.0
_LOCK_STALE_S = 10.0
_LOCK_POLL_S = 0.05


class ConfigFile(NamedTuple):
    """A file as it was read. `raw` is None where there was none."""

    path: Path
    raw: bytes | None

    @property
    def text(self) -> str:
        """The document; an empty object where there is none."""
        return self.decode(self.raw)

    def decode(self, raw: bytes | None) -> str:
        """The document of some bytes; an empty object where they are blank."""
        text = (raw or b"").removeprefix(BOM).decode("utf-8")
        return text if text.strip() else "{}\n"

    def encode(self, text: str) -> bytes:
        """The bytes of a document, with a byte order mark if this file has one."""
        mark = BOM if (self.raw or b"").startswith(BOM) else b""
        return mark + text.encode("utf-8")


class Change(NamedTuple):
    """The change of one file; `after` is None where it is deleted. `allowed` are the permission
    rules that it adds."""

    file: ConfigFile
    after: bytes | None
    lock: bool = False
    allowed: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        sides = (self.file.raw, self.after)
        before, after = ((raw or b"").decode("utf-8", "replace").splitlines() for raw in sides)
        old, new = (os.devnull if raw is None else str(self.file.path) for raw in sides)
        return "\n".join(difflib.unified_diff(before, after, old, new, n=2, lineterm=""))


@dataclass(slots=True)
class InstallPlan:
    """The changes that install or remove Holdfast, and notes for the user."""

    changes: list[Change] = field(default_factory=list[Change])
    notes: list[str] = field(default_factory=list[str])


def read_bytes(path: Path) -> bytes | None:
    """The content of a file, None where there is none; raises InputError if it is unreadable."""
    try:
        return _bytes_or_none(path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.",
            "Check what it is and its permissions. Nothing was changed.",
        ) from error


def load(path: Path) -> ConfigFile:
    """Read a file; raises InputError where it is not a JSON object."""
    file = ConfigFile(path, read_bytes(path))
    if file.raw is None:
        return file
    try:
        root = read(file.text)
    except ValueError as error:
        raise InputError(
            f"{path} is not valid JSON: {error}.",
            "Correct it (Claude Code cannot use it either), then run this again. "
            "Nothing was changed.",
        ) from error
    if not isinstance(root.value, dict):
        raise InputError(
            f"{path} is not a JSON object.",
            "Correct it, then run this again. Nothing was changed.",
        )
    return file


def save(file: ConfigFile, after: bytes | None, lock: bool = False) -> None:
    """Replace a file by new bytes, or delete it where they are None. With `lock` Claude Code is
    kept from writing the same file meanwhile."""
    target = Path(os.path.realpath(file.path))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(target) if lock else contextlib.nullcontext():
            if _bytes_or_none(target) != file.raw:
                raise InputError(
                    f"{file.path} was changed by another program just now.",
                    "It was left as it is; run this again.",
                )
            if after is None:
                target.unlink(missing_ok=True)
            else:
                write_atomically(target, after)
    except OSError as error:
        raise InputError(
            f"{file.path} cannot be written: {error.strerror or error}.",
            "Check the permissions of the file and its folder.",
        ) from error


def _bytes_or_none(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write_atomically(target: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file atomically. Without a mode it keeps the one it has, or is private to its owner
    if it is new."""
    there = target.stat() if target.exists() else None
    if mode is None:
        mode = stat.S_IMODE(there.st_mode) if there else 0o600
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if there and (there.st_uid, there.st_gid) != user_and_group():
            with contextlib.suppress(PermissionError):
                os.chown(new, there.st_uid, there.st_gid)
        new.chmod(mode)
        replace_file(new, target)
    finally:
        new.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(target: Path) -> Generator[None]:
    """Hold the lock that Claude Code takes on its own file: a folder beside it. Where it is stale
    or not released in time we go on without: `save` compares the content once more anyway."""
    lock = target.with_name(target.name + ".lock")
    give_up = time.monotonic() + _LOCK_TIMEOUT_S
    held = False
    while not held and time.monotonic() < give_up:
        try:
            lock.mkdir()
            held = True
        except FileExistsError:
            if _age(lock) > _LOCK_STALE_S:
                break
            time.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        if held:
            lock.rmdir()


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
