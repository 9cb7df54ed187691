"""What the team left behind in its repository: commit."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Trust


class FileChange(NamedTuple):
    """What became of a file: `A`dded, `M`odified, `D`eleted, `R`enamed, `C`opied or another `T`ype;
    its name before, and how many lines came and went."""

    path: str
    fate: str = "M"
    was: str = ""
    added: int = 0
    removed: int = 0
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `id` is its full sha."""

    bank: str
    id: str
    time: str
    author: str
    email: str
    subject: str
    body: str = ""
    files: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    trust: Trust = Trust.TEAM
