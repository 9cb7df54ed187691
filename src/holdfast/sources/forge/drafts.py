"""The records that a forge gives: threads, the parts of pulls, and remarks.

A draft holds the text of the forge as it is: nothing is redacted yet and nothing is trusted. Lists
come in pages, the oldest change first, so that reading may stop after any page.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

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
