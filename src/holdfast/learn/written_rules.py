"""Lines written into a rule file, as the curation log records them: which lines, and fingerprints
of the file before and after. So they can be removed again, as long as nobody changed the file; then
the file is, byte for byte, what it was.

The text of a rule that was derived from what people said is not recorded: it is in the file, and
its sources may be erased.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.learn.rule_writing import FileChange, fingerprint, read_bytes
from holdfast.model.curation import Action, Curation


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
    old, new = _lines(change.before), _lines(change.after)
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


def _lines(raw: bytes | None) -> list[bytes]:
    return (raw or b"").splitlines(keepends=True)


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
    lines = _lines(current)
    removed = {number for first, last in written.spans for number in range(first, last)}
    left = b"".join(line for number, line in enumerate(lines) if number not in removed)
    is_original = fingerprint(left) == written.base or (not written.base and not left)
    if current is None or fingerprint(current) != written.after or not is_original:
        raise InputError(
            f"{written.path} was changed since the rule was written.",
            "It was left as it is; take the rule out by hand.",
        )
    return FileChange(written.path, file, current, left)
