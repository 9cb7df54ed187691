"""A bank: the memory of one project, isolated from every other; and clues to its repository."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass, field
from holdfast.lazy_named_tuple import NamedTuple


@dataclass(frozen=True, slots=True)
class Disposition:
    """How a bank reasons, each from 1 to 5."""

    skepticism: int = 3
    literalism: int = 3
    empathy: int = 3


@dataclass(frozen=True, slots=True)
class Bank:
    """One project. `aliases` are all identities under which it was found (git remote, folder,
    root commit; see `sources.project`). `retention` is the number of months after which a session
    is hidden; 0 for never."""

    id: str
    name: str
    created: str
    background: str = ""
    disposition: Disposition = field(default_factory=Disposition)
    aliases: tuple[str, ...] = ()
    retention: int = 0


class ClueKind(StrEnum):
    """By what a repository is known: its remote, the repository of a pull request that was made
    in it, a folder that has a worktree of it, and commits of it."""

    REMOTE = "remote"
    PULL = "pull"
    WORKTREE = "worktree"
    # The whole hash of the commit that was checked out.
    HEAD = "head"
    # The short hash of a commit that was made, and a hash of its subject.
    COMMIT = "commit"


class Clue(NamedTuple):
    """One thing that was shown in a folder. A remote is written as `sources.project` does."""

    folder: str
    kind: ClueKind
    value: str


class StoredClue(NamedTuple):
    """A clue with the bank and the source it is from."""

    bank: str
    source: int
    folder: str
    kind: ClueKind
    value: str
