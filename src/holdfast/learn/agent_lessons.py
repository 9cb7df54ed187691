"""What an agent wants to teach: it waits for a person, as an entry of the log of decisions.

So it is there after everything was made again, `undo` takes it back, and it is proposed for as long
as nobody has decided about it. An agent may repeat what a page told it; whether its words become a
rule is up to a person in any case.
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
USER_PREFIX = "~/"


class Lesson(NamedTuple):
    """A rule that an agent wants written: the file, the globs that the rule is for, its words."""

    path: str
    paths: tuple[str, ...]
    text: str

    @property
    def target(self) -> str:
        """Its name; the same words for the same file are the same lesson."""
        return uri(LESSON, content_id(LESSON, self.path, self.text))

    def log_text(self) -> str:
        """As the log keeps it."""
        return "\n".join((self.path, *self.paths, "", self.text))


def read_lesson(entry: Curation) -> Lesson | None:
    """The lesson that an entry of the log holds; None if it holds none, or no whole one."""
    head, gap, text = entry.text.partition("\n\n")
    path, *paths = head.split("\n")
    if entry.action is not Action.TEACH or not (gap and text.strip() and path.endswith(".md")):
        return None
    return Lesson(path, tuple(paths), text)


def open_lessons(
    log: Iterable[Curation], decided: set[str], root: Path | None, of_user: Path | None
) -> Iterator[Proposal]:
    """What agents want to teach, as far as it stands and nobody decided about it."""
    for entry in log:
        lesson = read_lesson(entry)
        if lesson is not None and entry.target not in decided:
            yield _proposal(entry, lesson, _file(lesson.path, root, of_user))


def _file(path: str, root: Path | None, of_user: Path | None) -> Path | None:
    base = of_user if path.startswith(USER_PREFIX) else root
    return base / path.removeprefix(USER_PREFIX) if base is not None else None


def _proposal(entry: Curation, lesson: Lesson, file: Path | None) -> Proposal:
    domain = Path(lesson.path).stem
    return Proposal(
        entry.bank,
        content_id("proposal", entry.target),
        ProposalKind.PROMOTE,
        entry.target,
        lesson.text,
        domain,
        lesson.path,
        f"proposed by {entry.who}",
        entry.time,
        Trust.ASSISTANT,
        lesson.paths,
        (),
        fingerprint(read_bytes(file)) if file is not None else "",
    )


def is_proposed(log: Sequence[Curation], lesson: Lesson) -> bool:
    """Whether a lesson waits already, by a log of decisions that stand."""
    return any(e.action is Action.TEACH and e.target == lesson.target for e in log)
