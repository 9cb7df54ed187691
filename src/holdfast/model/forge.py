"""What the team left on its forge: pull, issue, and the remarks under them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Trust


class ThreadState(StrEnum):
    """What became of a pull or an issue; `merged` is for pulls, `declined` for issues that were
    closed as not planned. A pull that is `closed` was not merged."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"
    DECLINED = "declined"


class RemarkKind(StrEnum):
    """A comment under a thread, a review of a pull, or a remark beside a line of its diff."""

    COMMENT = "comment"
    REVIEW = "review"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull or merge request; what was said under it are remarks. `merge` is the commit it
    went in as, `fixes` are the numbers of the issues that it closes. `id` is `12@owner.name`."""

    bank: str
    id: str
    number: int
    time: str
    author: str
    title: str
    body: str = ""
    state: ThreadState = ThreadState.OPEN
    url: str = ""
    trust: Trust = Trust.EXTERNAL
    repo: str = ""
    updated: str = ""
    closed: str = ""
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    merge: str = ""
    base: str = ""
    branch: str = ""
    fixes: tuple[int, ...] = ()
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue; what was said under it are remarks."""

    bank: str
    id: str
    number: int
    time: str
    author: str
    title: str
    body: str = ""
    state: ThreadState = ThreadState.OPEN
    url: str = ""
    trust: Trust = Trust.EXTERNAL
    repo: str = ""
    updated: str = ""
    closed: str = ""
    labels: tuple[str, ...] = ()
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """What somebody said under a pull or an issue, whose URI is `thread`. `state` is the verdict
    of a review; `path` and `line` are where in the code it stands."""

    bank: str
    id: str
    thread: str
    kind: RemarkKind
    time: str
    author: str
    text: str
    state: str = ""
    path: str = ""
    line: int = 0
    url: str = ""
    trust: Trust = Trust.EXTERNAL
    updated: str = ""
    bot: bool = False


class ForgeAccount(NamedTuple):
    """Who an account of a forge is in commits."""

    login: str
    name: str
    email: str


Thread = Pull | Issue


def thread_id(number: int, repo: str) -> str:
    """What a thread of a repository is known by: `12@owner.name`."""
    return f"{number}@{repo.lower().replace('/', '.')}"
