"""What a reader makes of one line of a transcript: turns, results of tools, facts of the session.

Drafts have no bank and no position in their session yet, and are not redacted. They are plain
tuples, because every line of every transcript makes one.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.lines import FailureReason, LineOutcome, SkipReason
from holdfast.model.records import Role, ToolCall
from holdfast.model.trust import Trust


class DraftTurn(NamedTuple):
    """A turn. Its id is derived from `key`, which must be the same whenever the line is read."""

    key: tuple[str, ...]
    time: str
    role: Role
    trust: Trust
    text: str = ""
    speaker: str = ""
    tool: ToolCall | None = None


class DraftResult(NamedTuple):
    """The result of a tool call that an earlier line announced."""

    call: str
    ok: bool
    result: str
    lines: str
    time: str


class DraftSession(NamedTuple):
    """What a line, or a whole file, says about a session. `host` is the agent's own id of it,
    `subagent` the role of a subagent, and `parent` the session that started that."""

    id: str
    host: str
    parent: str = ""
    subagent: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""


NO_SESSION = DraftSession("", "")


class ParsedLine(NamedTuple):
    """The outcome of one line: what was captured, or the reason why nothing was. `ref` occurs in
    the line and finds it again."""

    outcome: LineOutcome
    reason: str = ""
    session: str = ""
    branch: str = ""
    turns: Sequence[DraftTurn] = ()
    results: Sequence[DraftResult] = ()
    ref: str = ""
    title: str = ""


def skipped(reason: SkipReason) -> ParsedLine:
    """The outcome of a line that is readable and holds nothing to remember."""
    return _SKIPPED[reason]


_SKIPPED = {reason: ParsedLine(LineOutcome.SKIPPED, reason.value) for reason in SkipReason}
# The outcome of a record that cannot be understood; a later version tries it again.
WRONG_SHAPE = ParsedLine(LineOutcome.FAILED, FailureReason.WRONG_SHAPE.value)


class FileInfo(NamedTuple):
    """The file that a line is in. Paths below `root`, the project's folder, are made relative to
    it. `session` is set where the file holds one session alone."""

    path: str
    agent: str
    stem: str
    root: str
    session: DraftSession = NO_SESSION

    @property
    def user_trust(self) -> Trust:
        """The trust in user messages: in the session of a subagent its parent wrote them."""
        return Trust.ASSISTANT if self.session.parent else Trust.USER


def captured(
    file: FileInfo, turns: Sequence[DraftTurn], results: Sequence[DraftResult] = (), ref: str = ""
) -> ParsedLine:
    """The outcome of a line with turns or results, in a file that holds one session."""
    session = file.session
    return ParsedLine(LineOutcome.CAPTURED, "", session.id, session.branch, turns, results, ref)
