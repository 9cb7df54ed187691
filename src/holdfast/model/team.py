"""What the team left behind outside of sessions: commit, pull, issue."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.model.trust import Trust


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
class Pull:
    """One pull or merge request with its discussion."""

    bank: str
    id: str
    number: int
    time: str
    author: str
    title: str
    body: str = ""
    state: str = ""
    url: str = ""
    trust: Trust = Trust.EXTERNAL


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue with its discussion."""

    bank: str
    id: str
    number: int
    time: str
    author: str
    title: str
    body: str = ""
    state: str = ""
    url: str = ""
    trust: Trust = Trust.EXTERNAL
