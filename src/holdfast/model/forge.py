"""Records of a forge such as GitHub: pull, issue, and the remarks under them."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Trust


class ThreadState(StrEnum):
    """The state of a pull or an issue; `merged` is for pulls, `declined` for issues that were
    closed as not planned. A pull that is `closed` was not merged."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"
    DECLINED = "declined"


class RemarkKind(StrEnum):
    """A comment in a thread, a review of a pull, or a comment on a line of its diff."""

    COMMENT = "comment"
    REVIEW = "review"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull or merge request; its comments are remarks. `merge` is the commit by which it was
    merged, `fixes` are the numbers of the issues that it closes. `id` is `12@owner.name`."""

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
    """One issue; its comments are remarks."""

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
    """One comment or review in the pull or issue with the URI `thread`. `state` is the verdict of
    a review; `path` and `line` are the place in the code that it is about."""

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
    """An account of a forge, and the name and address that its owner has in commits."""

    login: str
    name: str
    email: str


Thread = Pull | Issue


def thread_id(number: int, repo: str) -> str:
    """The id of a pull or an issue: `12@owner.name`."""
    return f"{number}@{repo.lower().replace('/', '.')}"
