"""Context that was injected into sessions, and what the sessions did with it."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple


class InjectionKind(StrEnum):
    """The event at which context was injected into a session."""

    START = "start"
    GOAL = "goal"
    FILE = "file"
    ERROR = "error"


class InjectionUse(StrEnum):
    """What the rest of the session shows about an injection; `unknown` until it was looked at."""

    UNKNOWN = "unknown"
    CITED = "cited"
    FILE = "file"
    WORDING = "wording"
    CONTRADICTED = "contradicted"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that was injected into a session, made of these `records`. `session` is the id
    that the agent itself uses. `arrived` is whether the transcript shows the text, None until it
    was looked at. `because` quotes the part of the session from which its `use` was concluded."""

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
    """That a session used a record that was injected into it: the URI of a fact, of a memory or
    of the turn that states one; the turn that shows the use, and when. Where a person marked an
    answer as useful, there is no turn, and the session is that of the question."""

    record: str
    session: str
    turn: str
    time: str
