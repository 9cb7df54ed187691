"""The file of ranks: one line a question, so that others can score the same rankings anew."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast.app.evaluation.engine import Ranking
from holdfast.app.evaluation.evaluate import Record
from holdfast.errors import InputError

_START = b'{"id": '


@contextmanager
def open_ranks(path: Path | None) -> Generator[Record]:
    """Writes each ranking as it comes; without a path nothing. Only an older file of ranks is
    ever written over."""
    if path is None:
        yield lambda id, ranking: None
        return
    try:
        _refuse_others(path)
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
    """A question's id and its ranking."""
    whole = {
        "id": id,
        "ids": ranking.ids,
        "sessions": ranking.sessions,
        "abstained": ranking.abstained,
        "ms": round(ranking.ms, 3),
    }
    return json.dumps(whole, ensure_ascii=False) + "\n"


def _refuse_others(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        line = file.readline(1 << 20)
    if line and not (line.startswith(_START) and b'"sessions": [' in line):
        raise InputError(
            f"{path} is there already and is no file of ranks.", "Give --out another name."
        )
