"""What a check returns, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import SettingsError, StoreError
from holdfast.hosts.claude_code.detect import HookStatus
from holdfast.settings import Settings

# The command that repairs what has a fix.
FIX = "holdfast doctor --fix"
# File names in a sentence; the rest is only counted.
_MAX_NAMES = 4


class Grade(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: a sentence for people, and what to do if there is a problem. `fix`
    repairs it and returns what it did. If the fix deletes something or takes long, `question` is
    asked first."""

    name: str
    grade: Grade
    sentence: str
    remedy: str = ""
    fix: Callable[[], str] | None = field(default=None, compare=False)
    question: str = ""


class DoctorContext(NamedTuple):
    """What checks look at. `memory` is None if it cannot be opened, and `open_error` says why;
    `settings_error` says what is wrong with the settings file, whose place the defaults take."""

    settings: Settings
    paths: HomePaths
    hooks: HookStatus
    memory: Holdfast | None
    open_error: StoreError | None = None
    settings_error: SettingsError | None = None


CheckGroup = Callable[[DoctorContext], list[Check]]


def ok(name: str, sentence: str) -> Check:
    """The result of a check that found no problem."""
    return Check(name, Grade.OK, sentence)


def check_paths(
    name: str,
    bad: Sequence[Path],
    fine: str,
    sentence: str,
    fix: Callable[[Path], object],
    done: str,
    remedy: str = FIX,
    question: str = "",
) -> Check:
    """A check of files that `fix` repairs one by one; `fine` is the sentence if none is bad. The
    names of the bad ones replace {} in `sentence`, in `done`, and in `question`."""
    if not bad:
        return ok(name, fine)
    names = ", ".join(path.name for path in bad[:_MAX_NAMES])
    if len(bad) > _MAX_NAMES:
        names += f" and {len(bad) - _MAX_NAMES} more"

    def fix_all() -> str:
        for path in bad:
            fix(path)
        return done.format(names)

    text = sentence.format(names)
    return Check(name, Grade.WARNING, text, remedy, fix_all, question.format(names))
