"""Write rules into files: the planned change, its diff, and the writing itself.

A change is written only if the file is still as it was when the change was planned, so that nothing
is written that was not shown. A file is replaced whole or not at all, and keeps its mode. Only
files inside the project (or the user's own folder) are written, and none that is read-only or has
conflict markers. Where in the text a rule goes is decided in `rule_text`.

The curation log records which lines were written, with fingerprints of the file before and after.
So they can be removed again, as long as nobody changed the file; then the file is, byte for byte,
what it was. The text of a rule that was derived from what people said is not recorded: it is in the
file, and its sources may be erased.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.learn.rule_text import RuleAddition, add_rule
from holdfast.model.curation import Action, Curation
from holdfast.regex import regex
from holdfast.sources.rule_locations import RULES_FOLDER

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class FileChange(NamedTuple):
    """A planned change of a file: its path for people, the file itself, and its bytes before (None
    if it does not exist) and after."""

    path: str
    file: Path
    before: bytes | None
    after: bytes

    @property
    def base(self) -> str:
        """The fingerprint of the file before; "" if it does not exist."""
        return fingerprint(self.before)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = _lines(self.before), _lines(self.after)
        name = f"a/{self.path}" if self.before is not None else "/dev/null"
        return "\n".join(difflib.unified_diff(old, new, name, f"b/{self.path}", lineterm=""))


def fingerprint(raw: bytes | None) -> str:
    """A hash of some bytes; "" for None."""
    return "" if raw is None else hashlib.sha256(raw).hexdigest()[:32]


def _lines(raw: bytes | None) -> list[str]:
    return (raw or b"").decode("utf-8", "replace").splitlines()


def _raw_lines(raw: bytes | None) -> list[bytes]:
    return (raw or b"").splitlines(keepends=True)


def rules_path(domain: str) -> str:
    """The path of the rules of a domain, relative to the project."""
    if not _NAME.fullmatch(domain):
        raise InputError(
            f"{domain!r} cannot be the name of a file of rules.",
            "Use letters, digits, - and _, as in `testing`.",
        )
    return f"{RULES_FOLDER}/{domain.lower()}.md"


def plan_addition(root: Path, path: str, addition: RuleAddition) -> FileChange:
    """Plan to add a rule to a file of the project."""
    file = resolve_inside(root, path)
    before = read_bytes(file)
    # Globs go only into a new file: in an existing one they would confine its other rules, too.
    allowed = addition._replace(paths=()) if before is not None else addition
    try:
        after = add_rule(before, allowed)
    except InputError as error:
        raise InputError(f"{path} was not changed: {error.message}", error.remedy) from error
    return FileChange(path, file, before, after)


def read_bytes(file: Path) -> bytes | None:
    """The bytes of a file; None if it does not exist."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror or error}.", "Check its permissions."
        ) from error


def resolve_inside(root: Path, path: str) -> Path:
    """The real path of a file in a folder; InputError if a link leads out of the folder."""
    inside = Path(os.path.realpath(root))
    file = Path(os.path.realpath(inside / path))
    if not file.is_relative_to(inside):
        raise InputError(
            f"{path} leads out of the project, to {file}.", "Nothing was changed; write it there."
        )
    return file


def write(change: FileChange) -> None:
    """Write a change; InputError if the file was changed since the change was planned."""
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
    """Delete the file of a change, unless it was changed since."""
    if read_bytes(change.file) == change.before:
        change.file.unlink()


@contextmanager
def written_or_reverted(change: FileChange) -> Generator[None]:
    """Write a change, and revert it if the body of the `with` statement fails."""
    write(change)
    try:
        yield
    except BaseException:
        revert(change)
        raise


def revert(change: FileChange, file_exists: bool = True) -> None:
    """Undo a change that was just written, unless the file was changed since; `file_exists` tells
    whether the change left a file."""
    after = change.after if file_exists else None
    with suppress(OSError, InputError):
        if read_bytes(change.file) != after:
            return
        if change.before is None:
            change.file.unlink()
        else:
            write(FileChange(change.path, change.file, after, change.before))


def _replace(change: FileChange) -> None:
    file = change.file
    status = file.stat() if change.before is not None else None
    if status is not None and not status.st_mode & 0o222:
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
        if status is not None:
            new.chmod(stat.S_IMODE(status.st_mode))
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


class WrittenLines(NamedTuple):
    """Lines that were added to a file, as spans from the first line to behind the last. `base` and
    `after` are fingerprints of the file before and after; `text` has the lines themselves, where a
    person wrote them."""

    path: str
    base: str
    after: str
    spans: tuple[tuple[int, int], ...]
    text: str = ""

    def log_text(self) -> str:
        """The written lines as the text of a log entry."""
        spans = ",".join(f"{first}-{last}" for first, last in self.spans)
        head = f"{self.path}\n{self.base or 0}..{self.after} {spans}"
        return f"{head}\n\n{self.text}" if self.text else head


def lines_written(change: FileChange, with_text: bool = False) -> WrittenLines:
    """The lines that a change wrote, with their text or without."""
    old, new = _raw_lines(change.before), _raw_lines(change.after)
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    spans = tuple((step[3], step[4]) for step in steps if step[0] != "equal")
    only_insertions = all(step[0] in ("insert", "equal") for step in steps)
    added = (
        b"".join(line for first, last in spans for line in new[first:last]) if with_text else b""
    )
    return WrittenLines(
        change.path,
        change.base,
        fingerprint(change.after),
        spans if only_insertions else (),
        added.decode("utf-8", "replace").strip(),
    )


def read_written(entry: Curation) -> WrittenLines | None:
    """The written lines of a log entry; None if it has none."""
    if entry.action not in (Action.WRITE, Action.APPROVE):
        return None
    head, _, text = entry.text.partition("\n\n")
    path, _, details = head.partition("\n")
    fingerprints, _, spans = details.partition(" ")
    base, dots, after = fingerprints.partition("..")
    if not dots:
        return None
    try:
        pairs = [span.split("-") for span in spans.split(",") if span]
        listed = tuple((int(first), int(last)) for first, last in pairs)
    except ValueError:
        return None
    return WrittenLines(path, "" if base == "0" else base, after, listed, text)


def removal(file: Path, written: WrittenLines) -> FileChange:
    """The change that removes written lines from their file; InputError if the file changed."""
    current = read_bytes(file)
    lines = _raw_lines(current)
    removed = {number for first, last in written.spans for number in range(first, last)}
    left = b"".join(line for number, line in enumerate(lines) if number not in removed)
    is_original = fingerprint(left) == written.base or (not written.base and not left)
    if current is None or fingerprint(current) != written.after or not is_original:
        raise InputError(
            f"{written.path} was changed since the rule was written.",
            "It was left as it is; take the rule out by hand.",
        )
    return FileChange(written.path, file, current, left)
