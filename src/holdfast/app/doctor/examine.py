"""All checks, and mending what can be mended."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from holdfast.app.doctor.check import Check, CheckGroup, DoctorContext, Grade
from holdfast.app.doctor.files import check_files
from holdfast.app.doctor.home import check_home
from holdfast.app.doctor.hooks import check_hooks
from holdfast.app.doctor.providers import check_providers
from holdfast.app.doctor.remotes import check_remotes
from holdfast.app.doctor.store import check_models, check_store
from holdfast.app.doctor.work import check_work
from holdfast.app.memory import Holdfast
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError, SettingsError, StoreError
from holdfast.hosts.claude_code.detect import detect_hooks
from holdfast.settings import Settings

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
    """What a fix did, or why it was not done."""

    name: str
    what: str
    done: bool


@contextmanager
def _patient(
    settings: Settings, folder: Path | None, unsettled: SettingsError | None
) -> Generator[DoctorContext]:
    places, seen = HomePaths(settings.home), detect_hooks(settings.claude_dir, folder)
    try:
        memory = Holdfast(settings, create=False)
    except StoreError as error:
        yield DoctorContext(settings, places, seen, None, error, unsettled)
        return
    with memory:
        yield DoctorContext(settings, places, seen, memory, None, unsettled)


def run_checks(
    settings: Settings, folder: Path | None, settings_error: SettingsError | None = None
) -> list[Check]:
    """Look at everything; changes nothing. `unsettled` tells why the settings are not those of
    their file."""
    with _patient(settings, folder, settings_error) as context:
        return [check for family in CHECK_GROUPS for check in _looked(family, context)]


def run_fixes(
    settings: Settings,
    folder: Path | None,
    approve: Callable[[Check], bool],
    settings_error: SettingsError | None = None,
) -> list[FixResult]:
    """Fix what can be fixed; `may` is asked where something is taken away or takes long."""
    done: list[FixResult] = []
    with _patient(settings, folder, settings_error) as context:
        for family in CHECK_GROUPS:
            for check in _looked(family, context):
                if check.grade is Grade.OK or check.fix is None:
                    continue
                if check.question and not approve(check):
                    done.append(FixResult(check.name, "left as it is.", False))
                    continue
                try:
                    done.append(FixResult(check.name, check.fix(), True))
                except (HoldfastError, OSError) as error:
                    done.append(FixResult(check.name, f"could not be mended: {error}", False))
    return done


def _looked(family: CheckGroup, context: DoctorContext) -> list[Check]:
    """The checks of a family; one that breaks is itself a finding."""
    name = family.__name__.removeprefix("check_")
    try:
        return family(context)
    except (HoldfastError, OSError) as error:
        return [Check(name, Grade.BROKEN, f"Could not be looked at: {error}.", "holdfast status")]
