"""Questions and their results: passage, filter, hit, recall, answer, citation."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass, field
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import EndedSentence, Kind
from holdfast.model.trust import Freshness, Status, Trust


class Layer(StrEnum):
    """The layers that a question searches in parallel."""

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
    # Answers of plugins and of team servers; they are never stored.
    "provided": Layer.PROVIDERS,
    "remote": Layer.TEAM,
}


class Passage(NamedTuple):
    """The searchable text of a record: what is matched, and what is shown. A turn has a role
    and its place in the session (`seq`). `hash` identifies the text to embed; "" if none."""

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
    """A position in the order of all records: by time, then kind, id and bank. A position with
    a time alone comes before every record of that time."""

    time: str
    kind: str = ""
    id: str = ""
    bank: str = ""


class RecordFilter(NamedTuple):
    """Conditions on records; "" sets none.

    `file` is a path, the end of one (`ui/rest.js`), or a folder with a slash at its end.
    `concept` is words that its keywords contain, in any form. `type` is that of an exchange.
    A record began at `since` or later, and before `until`; one without a time meets neither.
    """

    file: str = ""
    concept: str = ""
    type: str = ""
    since: str = ""
    until: str = ""


def matches_path(path: str, file: str) -> bool:
    """Whether a filter's `file` matches a path: itself, its end, or a folder that contains it."""
    path, file = (text.replace("\\", "/").removeprefix("./") for text in (path, file))
    if file.endswith("/"):
        return path.startswith(file)
    return bool(file) and (path == file or path.endswith("/" + file))


class SourceLocation(NamedTuple):
    """Where a hit comes from: a file and line on disk, or the agent's own id of it."""

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
    # What happened to its code since, as text; "" where nothing did or nothing is known.
    since: str = ""
    # Whether it is, or made, a commit that is not part of the branch in question.
    astray: bool = False
    trust: Trust = Trust.ASSISTANT
    # Who corrected it, and on which day; "" where nobody did.
    corrected: str = ""
    # Who shared it, and on which day; "" for records of this memory.
    shared: str = ""
    # Its name in the program that it was imported from, and that program; "" if not imported.
    imported: str = ""
    # URIs of the fact that replaced it, and of those that it replaced.
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    # Its sentences that no longer hold; what was decided, and what holds instead.
    ended: tuple[EndedSentence, ...] = ()
    # The agent of its session; "" for Claude Code.
    agent: str = ""
    # The kind of knowledge that it states, such as a lesson; None where it is no such knowledge.
    knowledge: Kind | None = None
    # The plugin and its tool, or the server, that returned it; "" for records of this memory.
    provider: str = ""
    weak: bool = False  # only loosely related: below the threshold of relevance
    why: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def is_from_outside(self) -> bool:
        """Whether its words are not of this project, or somebody else shares them: for an agent
        that is text from outside, which is quoted and never believed by itself."""
        return self.trust is Trust.EXTERNAL or bool(self.shared or self.provider)

    @property
    def how_it_ended(self) -> str:
        """How and when the last of its ended sentences ended, or how the whole of it did; "" if all
        of it holds."""
        if self.ended:
            return max(self.ended, key=lambda one: one.ended).label
        wholly = {Status.SUPERSEDED: "superseded", Status.RETRACTED: "retracted"}
        return wholly.get(self.status, "")


class RetrieverReport(NamedTuple):
    """How one retriever of a recall did."""

    name: str
    ms: float
    found: int
    timed_out: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RecallResult:
    """The result of a recall. It has `abstained` when all its hits are weak; then `fallbacks` are
    the other searches that were tried, and `suggestions` words to search for instead."""

    query: str
    bank: str
    abstained: bool
    hits: tuple[Hit, ...]
    strategies: tuple[RetrieverReport, ...] = ()
    fallbacks: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()

    @property
    def only_time(self) -> bool:
        """Whether the query asks for whatever happened at a time, and hits are of that time."""
        return any("only_time" in hit.why for hit in self.hits)


class Confidence(StrEnum):
    """How sure an answer is; `research.answering.confidence` says what each level promises."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Citation(NamedTuple):
    """A piece of evidence for an answer, which refers to it by `number`."""

    number: int
    uri: str
    layer: Layer
    excerpt: str
    browse_url: str
    time: str = ""
    trust: Trust = Trust.TOOL
    # Who shared it, and on which day; "" for records of this memory.
    shared: str = ""
    # How it ended, if it says what does not hold any more.
    ended: str = ""
    # The name of its bank, and what the session that it comes from is called; "" if not known.
    bank: str = ""
    session: str = ""


class ModelCost(NamedTuple):
    """What an answer cost; `model` is None where none was used, `usd` where no price is known."""

    model: str | None = None
    tokens: int = 0
    usd: float | None = 0


NO_COST = ModelCost()


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or an abstention; a `weak` one says "Perhaps" and does not claim to know."""

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
    weak: bool = False
