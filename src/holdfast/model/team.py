"""Records of the team: commits, and memories that people share."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Trust


class Scope(StrEnum):
    """Who may read a record: its owner, everybody on the project, in the team, or in the
    organisation. A record without a scope is personal."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANISATION = "organisation"


# The scopes in which something can be shared, by name.
SHARED_SCOPES = {scope.value: scope for scope in Scope if scope is not Scope.PERSONAL}


class FileChange(NamedTuple):
    """A change of a file by a commit. `fate` is git's letter: `A`dded, `M`odified, `D`eleted,
    `R`enamed, `C`opied or another `T`ype. `was` is its previous name; `added` and `removed` count
    lines; `blob` is git's name of its content afterwards."""

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
    """A memory that somebody shares. `id` identifies what was shared by whom, whatever its text;
    `version` is the hash of the text. `kind`, `origin` and `lineage` are its kind, name and trust
    in the memory that it comes from. One that is `gone` was taken back."""

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
    scope: Scope = Scope.PERSONAL
