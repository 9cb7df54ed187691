"""Questions and what comes back: hit, recall, answer, citation."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Freshness, Status, Trust


class Layer(StrEnum):
    """What a question races over."""

    RULES = "rules"
    SUMMARIES = "summaries"
    OBSERVATIONS = "observations"
    TRANSCRIPTS = "transcripts"
    TEAM = "team"
    PROVIDERS = "providers"


LAYER_BY_KIND = {
    "rule": Layer.RULES,
    "digest": Layer.SUMMARIES,
    "concept": Layer.SUMMARIES,
    "exchange": Layer.OBSERVATIONS,
    "memory": Layer.OBSERVATIONS,
    "fact": Layer.OBSERVATIONS,
    "imported": Layer.OBSERVATIONS,
    "turn": Layer.TRANSCRIPTS,
    "commit": Layer.TEAM,
    "shared": Layer.TEAM,
    "pull": Layer.TEAM,
    "issue": Layer.TEAM,
    "remark": Layer.TEAM,
    # What a plugin, or a server of the team's, said when it was asked. It is never stored.
    "provided": Layer.PROVIDERS,
    "remote": Layer.TEAM,
}


class Passage(NamedTuple):
    """A searchable piece of a record: what is matched, and what is shown. A turn has a role
    and its place in the session; `hash` names what would be embedded, "" if nothing is to be."""

    bank: str
    kind: str
    id: str
    session: str
    time: str
    body: str
    context: str = ""
    trust: Trust = Trust.ASSISTANT
    status: Status = Status.OBSERVED
    role: str = ""
    seq: int = 0
    hash: str = ""


class TimelinePosition(NamedTuple):
    """A place in the order of all records: by time, then kind, then id, then bank. One with a
    time alone lies before every record of that time."""

    time: str
    kind: str = ""
    id: str = ""
    bank: str = ""


class RecordFilter(NamedTuple):
    """What a record must have; "" asks for nothing.

    `file` is a path, the end of one (`ui/rest.js`), or a folder with a slash at its end.
    `concept` is words that its keywords hold, in any form. `type` is that of an exchange.
    It began at `since` or later, and before `until`; what has no time did neither.
    """

    file: str = ""
    concept: str = ""
    type: str = ""
    since: str = ""
    until: str = ""


class SourceLocation(NamedTuple):
    """Where a hit came from: a file and line on disk, or an id of the host's own."""

    path: str = ""
    line: int = 0
    id: str = ""


NO_LOCATION = SourceLocation()


@dataclass(frozen=True, slots=True)
class Hit:
    """One found record."""

    uri: str
    kind: str
    layer: Layer
    score: float
    text: str
    time: str
    session: str
    bank: str
    source: SourceLocation = NO_LOCATION
    status: Status = Status.OBSERVED
    freshness: Freshness = Freshness.UNKNOWN
    # What became of its code since, in words; "" where nothing did or nothing is known.
    since: str = ""
    # Whether it is, or made, a commit that the line of history asked about does not contain.
    astray: bool = False
    trust: Trust = Trust.ASSISTANT
    # Who said it anew, and on which day; "" for words as they were.
    corrected: str = ""
    # Who shared it, and on which day; "" for what is our own.
    shared: str = ""
    # Where it was imported from: its name there, and the program; "" for what was not.
    imported: str = ""
    # URIs of the fact that holds in its place, and of those in whose place it holds.
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    # The agent that it was said to or done by, "" where that is Claude Code.
    agent: str = ""
    # Which plugin said it, and by which tool, or which server; "" for what is ours.
    provider: str = ""
    why: dict[str, float] = field(default_factory=dict[str, float])


class Strategy(NamedTuple):
    """How one arm of a recall fared."""

    name: str
    ms: float
    found: int
    timed_out: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The result of a recall; `abstained` when nothing clears the relevance floor, and then
    `misses` are the nearest that did not. `fallbacks` are the ways that were tried then, and
    `suggestions` words of the bank to ask with instead."""

    query: str
    bank: str
    abstained: bool
    hits: tuple[Hit, ...]
    strategies: tuple[Strategy, ...] = ()
    fallbacks: tuple[str, ...] = ()
    misses: tuple[Hit, ...] = ()
    suggestions: tuple[str, ...] = ()


class Confidence(StrEnum):
    """How well the evidence covers a question; `research.answer` states the meaning of each."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Citation(NamedTuple):
    """A piece of evidence under an answer; `number` is how the answer refers to it."""

    number: int
    uri: str
    layer: Layer
    excerpt: str
    browse_url: str
    time: str = ""
    trust: Trust = Trust.TOOL


class ModelCost(NamedTuple):
    """What a model took to answer; none where none was asked. `usd` is None where no price is
    known."""

    model: str | None = None
    tokens: int = 0
    usd: float | None = 0


NO_COST = ModelCost()


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or an abstention that says so."""

    question: str
    answer: str
    confidence: Confidence
    abstained: bool
    source: str
    citations: tuple[Citation, ...] = ()
    layers_searched: tuple[Layer, ...] = ()
    caveats: tuple[str, ...] = ()
    session_id: str = ""
    cost: ModelCost = NO_COST
