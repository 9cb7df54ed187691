"""What the team left behind in its repository: commit."""

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
