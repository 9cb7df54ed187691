"""What a check returns, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import SettingsError, StoreError
from holdfast.hosts.claude_code.detect import HookStatus
from holdfast.model.to_json import to_jsonable
from holdfast.settings import Settings


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


def make_private(path: Path) -> str:
    """Close a folder to other users; returns a sentence that says so."""
    path.chmod(0o700)
    return f"{path} is for its owner alone now."


def report_json(checks: Sequence[Check], fixes: Sequence[object]) -> dict[str, Any]:
    """The results of checks and fixes as JSON."""
    return {
        "healthy": not any(check.grade is Grade.BROKEN for check in checks),
        "checks": [
            {
                "name": check.name,
                "grade": check.grade.value,
                "sentence": check.sentence,
                "remedy": check.remedy,
                "fixable": check.fix is not None,
            }
            for check in checks
        ],
        "mended": to_jsonable(list(fixes)),
    }
