"""What the team left on its forge: pull, issue."""

from __future__ import annotations

from holdfast.frozen import dataclass
from holdfast.model.trust import Trust


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
