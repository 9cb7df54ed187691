"""Rules in files: what would be written, as a diff, and the writing itself.

Nothing is written that was not shown: what is written is held against the file as it is at that
moment. A file is replaced whole or not at all, and keeps its mode. Only files inside of the project
(or of the user's own folder) are written, and never one that is read-only, in conflict or open.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.learn.rule_text import RuleAddition, add_rule
from holdfast.sources.rule_places import MEMORY_FILE, RULES_FOLDER

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class FileChange(NamedTuple):
    """What adding a rule does to a file: its name, where it lies, and its bytes before and
    after."""

    path: str
    file: Path
    before: bytes | None
    after: bytes

    @property
    def base(self) -> str:
        """What tells the file as it is before; "" if it is not there."""
        return fingerprint(self.before)

    @property
    def diff(self) -> str:
        """What changes, line by line."""
        old, new = _lines(self.before), _lines(self.after)
        name = f"a/{self.path}" if self.before is not None else "/dev/null"
        return "\n".join(difflib.unified_diff(old, new, name, f"b/{self.path}", lineterm=""))


def fingerprint(raw: bytes | None) -> str:
    """What tells some bytes from others; "" for none."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()[:32]


def _lines(raw: bytes | None) -> list[str]:
    return (raw or b"").decode("utf-8", "replace").splitlines()


def rules_path(domain: str) -> str:
    """The file of a domain's rules, by its name in the project."""
    if not _NAME.fullmatch(domain):
        raise InputError(
            f"{domain!r} cannot be the name of a file of rules.",
            "Use letters, digits, - and _, as in `testing`.",
        )
    return f"{RULES_FOLDER}/{domain.lower()}.md"


def plan_addition(root: Path, path: str, addition: RuleAddition) -> FileChange:
    """What adding a rule to a file of the project would do."""
    file = resolve_inside(root, path)
    before = read_bytes(file)
    # `paths` is for files that are made for the rule; in another it would confine what is there.
    known = addition._replace(paths=()) if before is not None else addition
    try:
        after = add_rule(before, known)
    except InputError as error:
        raise InputError(f"{path} was not changed: {error.message}", error.remedy) from error
    return FileChange(path, file, before, after)


def read_bytes(file: Path) -> bytes | None:
    """What a file holds; None if it is not there."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error


def resolve_inside(root: Path, path: str) -> Path:
    """Where a file of the project lies; never outside of it."""
    inside = Path(os.path.realpath(root))
    file = Path(os.path.realpath(inside / path))
    if not file.is_relative_to(inside):
        raise InputError(
            f"{path} leads out of the project, to {file}.", "Nothing was changed; write it there."
        )
    return file


def write(change: FileChange) -> None:
    """Put the new bytes in the place of the old ones."""
    try:
        change.file.parent.mkdir(parents=True, exist_ok=True)
        if read_bytes(change.file) != change.before:
            raise InputError(
                f"{change.path} was changed just now.", "It was left as it is; run this again."
            )
        _replace(change)
    except OSError as error:
        raise InputError(
            f"{change.path} cannot be written: {error.strerror or error}.",
            "Check the permissions of the file and its folder. Nothing was changed.",
        ) from error


def remove_file(change: FileChange) -> None:
    """Take away a file that was made for what is taken out of it."""
    if read_bytes(change.file) == change.before:
        change.file.unlink()


def revert(change: FileChange, file_exists: bool = True) -> None:
    """Undo a change that was made just now, unless somebody else changed the file since; `there`
    tells whether it left a file."""
    after = change.after if file_exists else None
    with suppress(OSError, InputError):
        if read_bytes(change.file) != after:
            return
        if change.before is None:
            change.file.unlink()
        else:
            write(FileChange(change.path, change.file, after, change.before))


@contextmanager
def written_or_reverted(change: FileChange) -> Generator[None]:
    """Write a change, for as long as what is done along with it comes to its end; if that fails,
    the file is what it was."""
    write(change)
    try:
        yield
    except BaseException:
        revert(change)
        raise


def _replace(change: FileChange) -> None:
    file = change.file
    there = file.stat() if change.before is not None else None
    if there is not None and not there.st_mode & 0o222:
        raise InputError(
            f"{change.path} is read-only.", "Make it writable, or add the rule by hand."
        )
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        with os.fdopen(handle, "wb") as stream:
            stream.write(change.after)
            stream.flush()
            os.fsync(stream.fileno())
        if there is not None:
            new.chmod(stat.S_IMODE(there.st_mode))
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def is_memory_file(path: str) -> bool:
    """Whether a file is the project's semantic memory."""
    return path == MEMORY_FILE
