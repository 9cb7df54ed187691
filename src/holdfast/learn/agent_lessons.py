"""Lessons: rules that an agent proposes, which wait for a person as entries of the curation log.

As log entries they survive a rebuild, and `undo` removes them. A lesson is proposed until somebody
decides about it. It never becomes a rule without a person, because an agent may repeat what a web
page told it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.learn.rule_writing import fingerprint, read_bytes
from holdfast.model.curation import Action, Curation
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Proposal, ProposalKind
from holdfast.model.trust import Trust
from holdfast.model.uris import uri

LESSON = "lesson"
# The path of a lesson for the user's own rules, not those of a project, begins so.
USER_PREFIX = "~/"


class Lesson(NamedTuple):
    """A rule that an agent proposes: its file, the globs of the files it is for, and its text."""

    path: str
    paths: tuple[str, ...]
    text: str

    @property
    def target(self) -> str:
        """Its URI; the same text for the same file is the same lesson."""
        return uri(LESSON, content_id(LESSON, self.path, self.text))

    def log_text(self) -> str:
        """The lesson as the text of a log entry."""
        return "\n".join((self.path, *self.paths, "", self.text))


def read_lesson(entry: Curation) -> Lesson | None:
    """The lesson of a log entry; None if it has none, or an incomplete one."""
    head, gap, text = entry.text.partition("\n\n")
    path, *paths = head.split("\n")
    if entry.action is not Action.TEACH or not (gap and text.strip() and path.endswith(".md")):
        return None
    return Lesson(path, tuple(paths), text)


def open_lessons(
    log: Iterable[Curation], decided: set[str], root: Path | None, user_folder: Path | None
) -> Iterator[Proposal]:
    """Proposals for the lessons of a log that nobody has decided about. `decided` are the targets
    of decisions; `root` and `user_folder` are where the files of rules are."""
    for entry in log:
        lesson = read_lesson(entry)
        if lesson is not None and entry.target not in decided:
            folder = user_folder if lesson.path.startswith(USER_PREFIX) else root
            yield _proposal(entry, lesson, folder)


def _proposal(entry: Curation, lesson: Lesson, folder: Path | None) -> Proposal:
    file = folder / lesson.path.removeprefix(USER_PREFIX) if folder is not None else None
    return Proposal(
        entry.bank,
        content_id("proposal", entry.target),
        ProposalKind.PROMOTE,
        entry.target,
        lesson.text,
        Path(lesson.path).stem,
        lesson.path,
        f"proposed by {entry.who}",
        entry.time,
        Trust.ASSISTANT,
        lesson.paths,
        (),
        fingerprint(read_bytes(file)) if file is not None else "",
    )


def is_proposed(log: Sequence[Curation], lesson: Lesson) -> bool:
    """Whether a lesson is among the decisions in effect."""
    return any(entry.action is Action.TEACH and entry.target == lesson.target for entry in log)
