"""The files that an evaluation writes, one JSON object per line, so that other tools can score
them: rankings, and what was distilled."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, cast

from holdfast.app.evaluation.distilled import Distilled, DistilledRecord, DistilledSession
from holdfast.app.evaluation.engine import Ranking, Record
from holdfast.errors import InputError

_RANK_KEYS = ("id", "ids", "sessions", "abstained", "ms")
# How much of an existing file is read to see what it is.
_MAX_FIRST_LINE_BYTES = 1 << 20

# Called with what was distilled of a set.
RecordDistilled = Callable[[Distilled], None]


@contextmanager
def open_ranks(path: Path | None) -> Generator[Record]:
    """A function that writes each ranking to the file; it does nothing without a path. Overwrites
    an existing file only if that is a file of rankings."""
    if path is None:
        yield lambda id, ranking: None
        return

    with _open_own(path, [_RANK_KEYS], "ranks") as file:

        def record(id: str, ranking: Ranking) -> None:
            file.write(rank_line(id, ranking))

        yield record


@contextmanager
def open_records(path: Path | None) -> Generator[RecordDistilled]:
    """A function that writes what was distilled to the file; it does nothing without a path.
    Overwrites an existing file only if that is such a file."""
    if path is None:
        yield lambda distilled: None
        return

    with _open_own(
        path, [DistilledRecord._fields, DistilledSession._fields], "what was distilled"
    ) as file:

        def record(distilled: Distilled) -> None:
            file.write(distilled_lines(distilled))

        yield record


def records_path(path: Path) -> Path:
    """Where records are written if rankings are written to `path`."""
    return path.with_name(f"{path.stem}.records{path.suffix}")


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


def distilled_lines(distilled: Distilled) -> str:
    """A line for each session and for each record."""
    sessions = [one._asdict() for one in distilled.sessions]
    records = [
        {**one._asdict(), "evidence": [line._asdict() for line in one.evidence]}
        for one in distilled.records
    ]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (*sessions, *records))


@contextmanager
def _open_own(path: Path, keys: Sequence[Sequence[str]], what: str) -> Generator[TextIO]:
    """The file, open for writing. One that is there already must begin with an object that has one
    of these sequences of keys."""
    try:
        if path.exists() and not _is_own(path, keys):
            raise InputError(
                f"{path} already exists and is not a file of {what}.", "Give --out another name."
            )
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", "Give --out a file you may write to."
        ) from error
    with file:
        yield file


def _is_own(path: Path, keys: Sequence[Sequence[str]]) -> bool:
    with path.open("rb") as file:
        line = file.readline(_MAX_FIRST_LINE_BYTES)
    if not line:
        return True
    try:
        found: object = json.loads(line)
    except ValueError:
        return False
    return isinstance(found, dict) and list(cast(dict[str, object], found)) in map(list, keys)
