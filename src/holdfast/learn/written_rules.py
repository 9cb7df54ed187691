"""What was written into a file of rules, as the log of decisions keeps it: which lines, and what
tells the file as it was and as it became. So it can be taken out again, for as long as nobody has
changed the file; then the file is, byte for byte, what it was.

The words of a rule that was made of what people said are not kept here: they are in the file, and
what they were made of may be erased.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.learn.rule_writing import FileChange, fingerprint, read_bytes
from holdfast.model.curation import Action, Curation


class WrittenLines(NamedTuple):
    """Lines that were added to a file, each span from its first to behind its last; `base` and
    `after` tell the file before and since. `text` are the words, where they are somebody's own."""

    path: str
    base: str
    after: str
    spans: tuple[tuple[int, int], ...]
    text: str = ""

    def log_text(self) -> str:
        """As the log keeps it."""
        spans = ",".join(f"{first}-{last}" for first, last in self.spans)
        head = f"{self.path}\n{self.base or 0}..{self.after} {spans}"
        return f"{head}\n\n{self.text}" if self.text else head


def lines_written(change: FileChange, with_text: bool = False) -> WrittenLines:
    """What a change wrote, with its words or without."""
    old, new = _lines(change.before), _lines(change.after)
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    spans = tuple((step[3], step[4]) for step in steps if step[0] != "equal")
    alone = all(step[0] in ("insert", "equal") for step in steps)
    words = b"".join(line for first, last in spans for line in new[first:last]) if with_text else b""
    return WrittenLines(
        change.path,
        change.base,
        fingerprint(change.after),
        spans if alone else (),
        words.decode("utf-8", "replace").strip(),
    )


def _lines(raw: bytes | None) -> list[bytes]:
    return (raw or b"").splitlines(keepends=True)


def read_written(entry: Curation) -> WrittenLines | None:
    """What an entry of the log says was written; None if it does not say."""
    if entry.action not in (Action.WRITE, Action.APPROVE):
        return None
    head, _, text = entry.text.partition("\n\n")
    path, _, marks = head.partition("\n")
    both, _, spans = marks.partition(" ")
    base, dots, after = both.partition("..")
    if not dots:
        return None
    try:
        pairs = [span.split("-") for span in spans.split(",") if span]
        listed = tuple((int(first), int(last)) for first, last in pairs)
    except ValueError:
        return None
    return WrittenLines(path, "" if base == "0" else base, after, listed, text)


def removal(file: Path, written: WrittenLines) -> FileChange:
    """The change that takes it out of its file again."""
    now = read_bytes(file)
    lines = _lines(now)
    gone = {place for first, last in written.spans for place in range(first, last)}
    left = b"".join(line for place, line in enumerate(lines) if place not in gone)
    as_was = fingerprint(left) == written.base or (not written.base and not left)
    if now is None or fingerprint(now) != written.after or not as_was:
        raise InputError(
            f"{written.path} was changed since the rule was written.",
            "It was left as it is; take the rule out by hand.",
        )
    return FileChange(written.path, file, now, left)
