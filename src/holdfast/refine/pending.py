"""What is on disk and not yet read."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.model.ledger import Source
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


def pending_lines(reader: Reader, bank: str | None) -> int:
    """Lines on disk that have not been read yet, in files that are known."""
    pending = 0
    for source in reader.sources(bank):
        try:
            stat = os.stat(source.path)  # noqa: PTH116 - one call a file, of many
            if stat.st_size > source.offset:
                path = Path(source.path)
                pending += count_lines(path, next_line_start(path, source), stat.st_size)
        except OSError:
            continue
    return pending
