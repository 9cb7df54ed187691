"""What a forge must be able to give: threads, what belongs to a pull, and remarks, as drafts.

A draft is what the forge says, word for word: nothing is redacted yet, and no text in it may be
trusted. Lists come in pages, the oldest change first, so that reading may stop after any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from holdfast.model.forge import Login, RemarkKind, ThreadState

_Draft = TypeVar("_Draft", covariant=True)


class Account(NamedTuple):
    """Who wrote something: whether they belong to the team, and whether it is a program."""

    login: str
    team: bool = False
    bot: bool = False


class ThreadDraft(NamedTuple):
    """A pull or an issue as it stands in a list."""

    number: int
    is_pull: bool
    time: str
    updated: str
    author: Account
    title: str
    body: str
    state: ThreadState
    url: str
    closed: str = ""
    labels: tuple[str, ...] = ()


class RemarkDraft(NamedTuple):
    """A comment, a review or a remark beside code. `id` is the forge's own, `number` that of the
    thread it stands under."""

    id: str
    kind: RemarkKind
    number: int
    is_pull: bool
    time: str
    updated: str
    author: Account
    text: str
    state: str = ""
    path: str = ""
    line: int = 0
    url: str = ""


class PullDraft(NamedTuple):
    """What belongs to one pull: its files and commits, the commit it went in as, its branches, its
    reviews, and who its authors are in commits."""

    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    merge: str = ""
    base: str = ""
    branch: str = ""
    state: ThreadState | None = None
    messages: tuple[str, ...] = ()
    reviews: tuple[RemarkDraft, ...] = ()
    logins: tuple[Login, ...] = ()


class Page(NamedTuple, Generic[_Draft]):
    """Some drafts of a list; `until` is when the last of them changed. `address` and `tag` are set
    where the same question may later be answered with "as before". `total` is how many the list
    may have in all, 0 if nobody knows."""

    drafts: list[_Draft]
    until: str
    address: str = ""
    tag: str = ""
    total: int = 0


class Forge(Protocol):
    """A repository on a forge. `repo` is its whole name, host first; `own` how people call it;
    `lists` names its lists of remarks. Whatever goes wrong is a ForgeError."""

    @property
    def repo(self) -> str:
        """`github.com/owner/name`."""
        ...

    @property
    def own(self) -> str:
        """`owner/name`."""
        ...

    @property
    def lists(self) -> tuple[str, ...]:
        """The names that `remarks` takes."""
        ...

    @property
    def requests(self) -> int:
        """How many requests were made so far."""
        ...

    def threads(self, since: str, tags: Mapping[str, str]) -> Iterator[Page[ThreadDraft]]:
        """The pulls and issues that changed since a time, "" for all; nothing where the forge says
        that the answer to an address is still the one that has this tag."""
        ...

    def pull(self, number: int) -> PullDraft | None:
        """What belongs to one pull; None if the forge does not have it any more."""
        ...

    def remarks(
        self, name: str, since: str, tags: Mapping[str, str]
    ) -> Iterator[Page[RemarkDraft]]:
        """The remarks of one list that changed since a time."""
        ...
