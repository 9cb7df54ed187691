"""What a check says, and what it is given to look at."""

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
    """How something stands."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `fix` mends it and says what it did; where that takes something away
    or takes long, `asks` is the question to ask first."""

    name: str
    grade: Grade
    sentence: str
    remedy: str = ""
    fix: Callable[[], str] | None = field(default=None, compare=False)
    question: str = ""


class DoctorContext(NamedTuple):
    """What is examined. `memory` is None where it cannot be opened, and `failure` says why;
    `unsettled` says what is wrong with the settings file, if anything."""

    settings: Settings
    paths: HomePaths
    hooks: HookStatus
    memory: Holdfast | None
    open_error: StoreError | None = None
    settings_error: SettingsError | None = None


CheckGroup = Callable[[DoctorContext], list[Check]]


def ok(name: str, sentence: str) -> Check:
    """All is well."""
    return Check(name, Grade.OK, sentence)


def make_private(path: Path) -> str:
    """Make a folder its owner's alone; says so."""
    path.chmod(0o700)
    return f"{path} is for its owner alone now."


def report_json(checks: Sequence[Check], mended: Sequence[object]) -> dict[str, Any]:
    """What `doctor` found, and what it mended."""
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
        "mended": to_jsonable(list(mended)),
    }
