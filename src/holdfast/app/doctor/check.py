"""What a check finds, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import SettingsError, StoreError
from holdfast.hosts.claude_code.detect import HookStatus, detect_hooks
from holdfast.settings import Settings

# The command that repairs what has a fix.
FIX = "holdfast doctor --fix"
# File names in a sentence; the rest is only counted.
_MAX_NAMES = 4

Fix = Callable[[], str]


class Grade(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found: a sentence for people, and what to do if there is a problem. `fix`
    repairs it and returns what it did. If the fix deletes something or takes long, `question` is
    asked first. The list of checks gives the name."""

    grade: Grade
    sentence: str
    remedy: str = ""
    fix: Fix | None = field(default=None, compare=False)
    question: str = ""
    name: str = ""


Finding = Iterator[Check]


class Mended(NamedTuple):
    """What a fix did, or why it was not done."""

    name: str
    what: str
    done: bool


class DoctorContext:
    """What checks look at. `memory` is None if it cannot be opened, which `open_error` explains, or
    is damaged; `derived_faults` are those found on the way. `settings_error` says what is wrong
    with the settings file, whose place the defaults take."""

    def __init__(
        self, settings: Settings, folder: Path | None, settings_error: SettingsError | None
    ) -> None:
        self.settings = settings
        self.settings_error = settings_error
        self.paths = HomePaths(settings.home)
        self.hooks: HookStatus = detect_hooks(settings.claude_dir, folder)
        self.memory: Holdfast | None = None
        self.open_error: StoreError | None = None
        self.derived_faults: tuple[str, ...] = ()
        try:
            self.memory = Holdfast(settings, create=False)
        except StoreError as error:
            self.open_error = error

    def close(self) -> None:
        """Close the memory."""
        if self.memory is not None:
            self.memory.close()


def ok(sentence: str) -> Check:
    """Nothing is wrong, and something is worth saying."""
    return Check(Grade.OK, sentence)


def warning(sentence: str, remedy: str, fix: Fix | None = None, question: str = "") -> Check:
    """A problem that leaves things working."""
    return Check(Grade.WARNING, sentence, remedy, fix, question)


def broken(sentence: str, remedy: str, fix: Fix | None = None, question: str = "") -> Check:
    """A problem because of which something does not work."""
    return Check(Grade.BROKEN, sentence, remedy, fix, question)


def bad_files(
    bad: Sequence[Path],
    sentence: str,
    fix: Callable[[Path], object],
    done: str,
    question: str = "",
) -> Finding:
    """Files that `fix` repairs one by one. Their names replace {} in `sentence`, in `done`, and in
    `question`."""
    if not bad:
        return
    names = ", ".join(path.name for path in bad[:_MAX_NAMES])
    if len(bad) > _MAX_NAMES:
        names += f" and {len(bad) - _MAX_NAMES} more"

    def fix_all() -> str:
        for path in bad:
            fix(path)
        return done.format(names)

    yield warning(sentence.format(names), FIX, fix_all, question.format(names))
