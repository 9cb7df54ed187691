"""What the team left behind in its repository: commit, and what its people share."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Trust


class Scope(StrEnum):
    """Who may read a record: its owner, whoever works on the project or belongs to the team, or
    everybody in the organisation. What has none is personal."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANISATION = "organisation"


# Those in which something can be shared, by their words.
SHARED_SCOPES = {scope.value: scope for scope in Scope if scope is not Scope.PERSONAL}


class FileChange(NamedTuple):
    """What became of a file: `A`dded, `M`odified, `D`eleted, `R`enamed, `C`opied or another `T`ype;
    its name before, how many lines came and went, and git's name of its content afterwards."""

    path: str
    fate: str = "M"
    was: str = ""
    added: int = 0
    removed: int = 0
    binary: bool = False
    blob: str = ""


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


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """A memory that somebody shares. `id` stands for what was shared by whom, in whatever words;
    `version` is the hash of these. `kind` and `origin` are its kind and name in the memory it comes
    from, `lineage` whose words they are there. One that is `gone` was taken back."""

    bank: str
    id: str
    version: str
    kind: str
    text: str
    author: str
    email: str
    shared: str
    origin: str
    time: str = ""
    trust: Trust = Trust.EXTERNAL
    lineage: Trust = Trust.EXTERNAL
    files: tuple[str, ...] = ()
    note: str = ""
    gone: bool = False
    # Who may read it. Nobody but its owner, unless it says so.
    scope: Scope = Scope.PERSONAL
