"""Counts what is on disk and not read yet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from holdfast.model.ledgers.lines import Source
from holdfast.sources.lines import Openable, count_lines
from holdfast.sources.source_files import source_snapshot
from holdfast.store.protocol import Reader


def next_line_start(file: Openable, source: Source) -> int:
    """The offset of the first unread line. If the last line was read before its newline was
    written, that newline is skipped."""
    if source.offset == 0:
        return 0
    with file.open("rb") as opened:
        opened.seek(source.offset - 1)
        before, after = opened.read(1), opened.read(1)
    return source.offset + (before != b"\n" and after == b"\n")


class Pending(NamedTuple):
    """Unread lines on disk, files of which nothing is read yet, and files that shrank."""

    lines: int
    files: int
    problems: tuple[str, ...]


def find_pending(
    reader: Reader, bank: str | None, inputs: Iterable[tuple[Path, str]] = ()
) -> Pending:
    """What the known files hold beyond what was read of them, and all of those `inputs`, each with
    its agent, that are not known yet."""
    lines = files = 0
    problems: list[str] = []
    known: set[str] = set()
    for source in reader.sources(bank):
        known.add(source.path)
        try:
            seen = source_snapshot(Path(source.path), source.agent)
            if seen.is_same(source.stamp):
                continue
            if seen.size > source.offset:
                start = next_line_start(seen.file, source)
                lines += count_lines(seen.file, start, seen.size)
            elif seen.size < source.offset:
                problems.append(
                    f"{source.path}: shorter than what was read of it; it is read anew next time"
                )
        except OSError:
            continue
    for path, agent in inputs:
        if str(path) not in known:
            try:
                seen = source_snapshot(path, agent)
                lines += count_lines(seen.file, 0, seen.size)
                files += 1
            except OSError:
                continue
    return Pending(lines, files, tuple(problems))
