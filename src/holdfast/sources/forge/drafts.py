"""The protocol of a forge, and the records it gives: threads, the parts of pulls, and remarks.

A draft holds the text of the forge as it is: nothing is redacted yet and nothing is trusted. Lists
come in pages, the oldest change first, so that reading may stop after any page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from holdfast.model.forge import ForgeAccount, RemarkKind, ThreadState

_Draft = TypeVar("_Draft", covariant=True)


class Account(NamedTuple):
    """The author of a text; whether they are a member of the team, and whether they are a bot."""

    login: str
    team: bool = False
    bot: bool = False


class ThreadDraft(NamedTuple):
    """A pull or an issue, as the list of them shows it."""

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
    """A comment, a review or a comment on code. `id` is the forge's own, `number` that of its
    thread."""

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
    """The parts of one pull: its files and commits, the commit it was merged as, its branches, its
    reviews, and the names of its authors in commits."""

    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    merge: str = ""
    base: str = ""
    branch: str = ""
    state: ThreadState | None = None
    messages: tuple[str, ...] = ()
    # Issues that it closes, if the forge says so in other words than `Fixes #7`.
    fixes: tuple[int, ...] = ()
    reviews: tuple[RemarkDraft, ...] = ()
    logins: tuple[ForgeAccount, ...] = ()


class Page(NamedTuple, Generic[_Draft]):
    """One page of a list; `until` is when the last of its drafts changed. Where the page is the
    whole list, `address` and `tag` (an ETag) let a later run skip it if it is unchanged. `total`
    is about how many drafts the list has, 0 if unknown."""

    drafts: list[_Draft]
    until: str
    address: str = ""
    tag: str = ""
    total: int = 0


class Forge(Protocol):
    """A repository on a forge. Every failure is a ForgeError."""

    # `github.com/owner/name`, and `owner/name`.
    repo: str
    own: str
    # The names that `remarks` takes.
    lists: tuple[str, ...]

    @property
    def requests(self) -> int:
        """How many requests were made so far."""
        ...

    def threads(self, since: str, tags: Mapping[str, str]) -> Iterator[Page[ThreadDraft]]:
        """The pulls and issues that changed since a time, "" for all. `tags` are ETags of earlier
        pages by their address; an unchanged page is not given again."""
        ...

    def pull(self, number: int) -> PullDraft | None:
        """The parts of one pull; None if the forge does not have it any more."""
        ...

    def notes(self, thread: ThreadDraft) -> tuple[RemarkDraft, ...]:
        """The remarks of a thread that changed, as far as they are in no list."""
        ...

    def remarks(
        self, name: str, since: str, tags: Mapping[str, str]
    ) -> Iterator[Page[RemarkDraft]]:
        """The remarks of one list that changed since a time."""
        ...
