"""What other memories knew: records of other programs, and each time that some were taken in."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Trust


@dataclass(frozen=True, slots=True)
class ImportedRecord:
    """A record of another program. `id` stands for the record there, in whatever words; `version`
    is the hash of these. `kind` and `origin` are its kind and its name in the program it comes
    from, `session` the run it belonged to there; `taken` is when it came in."""

    bank: str
    id: str
    version: str
    program: str
    kind: str
    title: str
    text: str
    time: str
    origin: str
    session: str = ""
    files: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    trust: Trust = Trust.IMPORT
    taken: str = ""


class ImportBatch(NamedTuple):
    """Once that records of another program were taken in: from where, when, how many of each kind,
    and how many were skipped or failed, each by reason. It is undone as one."""

    bank: str
    id: str
    program: str
    place: str
    time: str
    kinds: dict[str, int]
    skipped: dict[str, int]
    failed: dict[str, int]
    redacted: int = 0
