"""The file of rankings: one JSON line a question, so that other tools can score them."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.app.evaluation.engine import Ranking, Record
from holdfast.errors import InputError

# How each line of such a file starts.
_LINE_START = b'{"id": '


@contextmanager
def open_ranks(path: Path | None) -> Generator[Record]:
    """A function that writes each ranking to the file; it does nothing without a path. Overwrites
    an existing file only if that is a file of rankings."""
    if path is None:
        yield lambda id, ranking: None
        return
    try:
        _refuse_other_file(path)
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", "Give --out a file you may write to."
        ) from error

    def record(id: str, ranking: Ranking) -> None:
        file.write(rank_line(id, ranking))

    with file:
        yield record


def rank_line(id: str, ranking: Ranking) -> str:
    """The line for a question."""
    fields = {
        "id": id,
        "ids": ranking.ids,
        "sessions": ranking.sessions,
        "abstained": ranking.abstained,
        "ms": round(ranking.ms, 3),
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"


def _refuse_other_file(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        line = file.readline(1 << 20)
    if line and not (line.startswith(_LINE_START) and b'"sessions": [' in line):
        raise InputError(
            f"{path} is there already and is no file of ranks.", "Give --out another name."
        )
