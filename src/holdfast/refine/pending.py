"""What is on disk and not yet read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from holdfast.model.ledger import Source
from holdfast.sources.claude_code.files import find_transcripts
from holdfast.sources.lines import count_lines
from holdfast.store.protocol import Reader


def next_line_start(path: Path, source: Source) -> int:
    """Where reading goes on: a last line taken without its newline leaves that newline
    before the next line."""
    if source.offset == 0:
        return 0
    with path.open("rb") as file:
        file.seek(source.offset - 1)
        before, after = file.read(1), file.read(1)
    return source.offset + (before != b"\n" and after == b"\n")


def stamp_of(stat: os.stat_result) -> str:
    """What changes with a file; the ledger keeps that of a file when it was read to its end."""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ino}"


class Pending(NamedTuple):
    """Lines on disk that are still to be read, and files that need another look."""

    lines: int
    files: int
    problems: tuple[str, ...]


def find_pending(reader: Reader, bank: str | None, inputs: Path | None) -> Pending:
    """What the files hold beyond what was read of them. Files below `inputs` that nobody has
    read yet count in full."""
    lines = files = 0
    problems: list[str] = []
    known: set[str] = set()
    for source in reader.sources(bank):
        known.add(source.path)
        path = Path(source.path)
        try:
            size = path.stat().st_size
            if size > source.offset:
                lines += count_lines(path, next_line_start(path, source), size)
            elif size < source.offset:
                problems.append(
                    f"{path}: shorter than what was read of it; it is read anew next time"
                )
        except OSError:
            continue
    for path in find_transcripts(inputs) if inputs is not None else ():
        if str(path) not in known:
            try:
                lines += count_lines(path, 0, path.stat().st_size)
                files += 1
            except OSError:
                continue
    return Pending(lines, files, tuple(problems))
