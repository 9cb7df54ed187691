"""Context that was injected into sessions, and what the sessions did with it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass


class InjectionKind(StrEnum):
    """On what occasion something was put into a session."""

    START = "start"
    GOAL = "goal"
    FILE = "file"
    ERROR = "error"


class InjectionUse(StrEnum):
    """What became of it: nobody knows yet, or what the rest of the session shows."""

    UNKNOWN = "unknown"
    CITED = "cited"
    FILE = "file"
    WORDING = "wording"
    CONTRADICTED = "contradicted"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that was put into a session, from these `records`. `session` is the host's own
    id; `arrived` tells whether the transcript shows it, None while nobody has looked. `because`
    is the piece of the session that its `use` was told from."""

    id: str
    bank: str
    session: str
    time: str
    kind: InjectionKind
    characters: int
    records: tuple[str, ...] = ()
    arrived: bool | None = None
    use: InjectionUse = InjectionUse.UNKNOWN
    because: str = ""


class RecordUse(NamedTuple):
    """A fact, a memory or the turn that states one, by URI, that a session was told and made use
    of: the turn that shows it, and when. Where a person said that an answer was of use, there is
    no turn, and the session is that of the question."""

    record: str
    session: str
    turn: str
    time: str
