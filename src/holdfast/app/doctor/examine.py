"""Runs all checks, and applies the fixes of those that found a problem."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from holdfast.app.doctor.check import Check, CheckGroup, DoctorContext, Grade
from holdfast.app.doctor.external import check_providers, check_remotes
from holdfast.app.doctor.files import check_files
from holdfast.app.doctor.home import check_home
from holdfast.app.doctor.hooks import check_hooks
from holdfast.app.doctor.store import check_models, check_store
from holdfast.app.doctor.work import check_work
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError, SettingsError, StoreError
from holdfast.hosts.claude_code.detect import detect_hooks
from holdfast.settings import Settings

# In the order of the output. Fixes run in the same order, so hooks and home come before the store.
CHECK_GROUPS: tuple[CheckGroup, ...] = (
    check_hooks,
    check_home,
    check_files,
    check_work,
    check_store,
    check_models,
    check_providers,
    check_remotes,
)


class FixResult(NamedTuple):
    """What a fix did, or why it was not done. The field names are keys of the JSON output."""

    name: str
    what: str
    done: bool


@contextmanager
def _open_context(
    settings: Settings, folder: Path | None, settings_error: SettingsError | None
) -> Generator[DoctorContext]:
    paths, hooks = HomePaths(settings.home), detect_hooks(settings.claude_dir, folder)
    try:
        memory = Holdfast(settings, create=False)
    except StoreError as error:
        yield DoctorContext(settings, paths, hooks, None, error, settings_error)
        return
    with memory:
        yield DoctorContext(settings, paths, hooks, memory, None, settings_error)


def run_checks(
    settings: Settings, folder: Path | None, settings_error: SettingsError | None = None
) -> list[Check]:
    """Run all checks; changes nothing. `settings_error` says why `settings` are the defaults and
    not those of the file."""
    with _open_context(settings, folder, settings_error) as context:
        return [check for group in CHECK_GROUPS for check in _run_group(group, context)]


def run_fixes(
    settings: Settings,
    folder: Path | None,
    approve: Callable[[Check], bool],
    settings_error: SettingsError | None = None,
) -> list[FixResult]:
    """Fix what can be fixed. `approve` is asked about fixes that delete something or take long.
    Each group is checked after the fixes of the groups before it."""
    results: list[FixResult] = []
    with _open_context(settings, folder, settings_error) as context:
        for group in CHECK_GROUPS:
            for check in _run_group(group, context):
                if check.grade is Grade.OK or check.fix is None:
                    continue
                if check.question and not approve(check):
                    results.append(FixResult(check.name, "left as it is.", False))
                    continue
                try:
                    results.append(FixResult(check.name, check.fix(), True))
                except (HoldfastError, OSError) as error:
                    results.append(FixResult(check.name, f"could not be fixed: {error}", False))
    return results


def _run_group(group: CheckGroup, context: DoctorContext) -> list[Check]:
    """The checks of a group; an error in one of them is reported as a problem."""
    name = group.__name__.removeprefix("check_")
    try:
        return group(context)
    except (HoldfastError, OSError) as error:
        return [Check(name, Grade.BROKEN, f"Could not be checked: {error}.", "holdfast status")]
