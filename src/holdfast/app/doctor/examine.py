"""The list of checks: running them, and applying the fixes of those that found a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from holdfast.app.doctor import home, hooks, models, store
from holdfast.app.doctor.check import Check, DoctorContext, Finding, Grade, Mended, broken, ok
from holdfast.errors import HoldfastError, SettingsError
from holdfast.settings import Settings

# Name, check, and what is said if it finds nothing, in the order of the output. Fixes run in the
# same order, so hooks and home come before the store.
CHECKS: tuple[tuple[str, Callable[[DoctorContext], Finding], str], ...] = (
    ("hooks", hooks.entries, "Claude Code hooks are installed for all events."),
    ("duplicates", hooks.duplicates, "No hook is installed twice."),
    ("server", hooks.server, "Claude Code can start the MCP server."),
    ("scripts", hooks.scripts, "The hook scripts are up to date."),
    ("interpreter", hooks.interpreter, "The hooks' Python runs this version of Holdfast."),
    ("home", partial(home.folder, lambda c: c.settings.home), "Only you can access the home."),
    ("hook folder", partial(home.folder, lambda c: c.paths.hooks), "Only you can access it."),
    ("inbox", partial(home.folder, lambda c: c.paths.inbox()), "Only you can access it."),
    ("disk", home.free_space, "There is enough free space."),
    ("settings", home.settings_file, "The settings can be read."),
    ("privacy", home.privacy, "Only you can read the memory."),
    ("leftovers", home.leftovers, "No temporary files are left."),
    ("journals", home.journals, "Every line of the journals is an event."),
    ("backups", home.backups, "Every backup can be read."),
    ("events", home.events, "No event waits for longer than it should."),
    ("worker", home.worker, "No worker is running; hooks start one when needed."),
    ("tasks", home.tasks, "No failed tasks."),
    ("transcripts", home.transcripts, "No transcript is about to be deleted unread."),
    ("memory", store.memory, "The database is intact."),
    ("derived", store.derived, "Derived records match their sources."),
    ("ledger", store.ledger, "All lines are accounted for."),
    ("vectors", store.vectors, "The stored vectors are intact."),
    ("vector search", store.vector_search, ""),
    ("model", models.embedder, "The embedding model is intact."),
    ("reranker", models.reranker, "The reranker is intact."),
    ("service", models.service, "The model service is ready."),
    ("providers", models.providers, "No plugin fails."),
    ("remotes", models.remotes, "No team server fails."),
)


def run_checks(
    settings: Settings, folder: Path | None, settings_error: SettingsError | None = None
) -> list[Check]:
    """Run all checks; changes nothing. `settings_error` says why `settings` are the defaults and
    not those of the file."""
    return list(_checks(settings, folder, settings_error))


def _checks(
    settings: Settings, folder: Path | None, settings_error: SettingsError | None
) -> Iterator[Check]:
    """The results of one check after the other; an error in one is its result."""
    context = DoctorContext(settings, folder, settings_error)
    with closing(context):
        for name, check, fine in CHECKS:
            try:
                found = list(check(context))
            except (HoldfastError, OSError) as error:
                remedy = getattr(error, "remedy", "") or "holdfast status"
                found = [broken(f"Could not be checked: {error}.", remedy)]
            found = found or ([ok(fine)] if fine else [])
            yield from (replace(one, name=name) for one in found)


def run_fixes(
    settings: Settings,
    folder: Path | None,
    approve: Callable[[Check], bool],
    settings_error: SettingsError | None = None,
) -> list[Mended]:
    """Fix what can be fixed. `approve` is asked about fixes that delete something or take long.
    Each check runs after the fixes of those before it."""
    results: list[Mended] = []
    for check in _checks(settings, folder, settings_error):
        if check.grade is Grade.OK or check.fix is None:
            continue
        if check.question and not approve(check):
            results.append(Mended(check.name, "left as it is.", False))
            continue
        try:
            results.append(Mended(check.name, check.fix(), True))
        except (HoldfastError, OSError) as error:
            results.append(Mended(check.name, f"could not be fixed: {error}", False))
    return results
