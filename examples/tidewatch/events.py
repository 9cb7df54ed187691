"""What happens in a session: what people say, what the agent says and does."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class User:
    """A person types. `reminder` is what the program adds to the message unseen."""

    text: str
    reminder: str = ""


@dataclass(frozen=True)
class Queued:
    """A person types while the agent is still at work."""

    text: str


@dataclass(frozen=True)
class Says:
    """The agent speaks."""

    text: str


@dataclass(frozen=True)
class Thinks:
    """The agent thinks."""

    text: str


@dataclass(frozen=True)
class Read:
    """The agent reads lines of a file, from `start` on."""

    path: str
    text: str
    start: int = 1


@dataclass(frozen=True)
class Edit:
    """The agent changes a file at a line."""

    path: str
    line: int
    old: str
    new: str


@dataclass(frozen=True)
class Write:
    """The agent writes a new file."""

    path: str
    text: str


@dataclass(frozen=True)
class Bash:
    """The agent runs a command."""

    command: str
    output: str = ""
    exit: int = 0


@dataclass(frozen=True)
class Grep:
    """The agent searches the files; a hit reads `path:line:text`."""

    pattern: str
    path: str
    hits: tuple[str, ...]


@dataclass(frozen=True)
class Fetch:
    """The agent reads a page of the web."""

    url: str
    prompt: str
    result: str


@dataclass(frozen=True)
class Ask:
    """The agent asks, and the person picks an option."""

    question: str
    header: str
    options: tuple[tuple[str, str], ...]
    answer: str


@dataclass(frozen=True)
class Delegate:
    """The agent hands a task to a subagent, which keeps a transcript of its own."""

    kind: str
    description: str
    prompt: str
    steps: tuple[Event, ...]
    report: str


@dataclass(frozen=True)
class Hook:
    """A hook ran and put a text before the agent."""

    event: str
    command: str
    context: str


@dataclass(frozen=True)
class Snapshot:
    """The program notes which files it could put back."""

    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """A person gives a slash command."""

    name: str


@dataclass(frozen=True)
class Compacted:
    """The conversation grew too long and goes on from a summary."""

    summary: str


@dataclass(frozen=True)
class Title:
    """The program names the session."""

    text: str


@dataclass(frozen=True)
class Pause:
    """Nobody does anything for a while."""

    minutes: int


Event = (
    User
    | Queued
    | Says
    | Thinks
    | Read
    | Edit
    | Write
    | Bash
    | Grep
    | Fetch
    | Ask
    | Delegate
    | Hook
    | Snapshot
    | Command
    | Compacted
    | Title
    | Pause
)


@dataclass(frozen=True)
class Session:
    """One sitting: its name makes its ids, so the same story always gives the same files."""

    name: str
    start: str
    events: tuple[Event, ...] = field(default=())
    branch: str = "main"
