"""Checks of plugins that are searched: whether they can be used, and whether calls failed.

No plugin is started.
"""

from __future__ import annotations

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.search.plugin_search import Providers, ProviderStatus
from holdfast.app.status.health import current_folder
from holdfast.settings import OFF

_NAME = "providers"


def check_providers(context: DoctorContext) -> list[Check]:
    """One check for each plugin with a problem; a single one if there is none."""
    if context.settings.providers.use == OFF:
        return [ok(_NAME, "Off: no plugin is asked.")]
    found = Providers(context.settings, utc_now, current_folder())
    problems = [check for item in found.listed() if (check := _check(item)) is not None]
    problems += [
        Check(_NAME, Grade.WARNING, problem, "See docs/providers.md") for problem in found.problems
    ]
    count = len(found.usable())
    return problems or [ok(_NAME, f"{count} plugin{'s' * (count != 1)} can be asked.")]


def _check(item: ProviderStatus) -> Check | None:
    name, standing = item.provider.name, item.reliability
    if item.provider.problem:
        sentence = f"{name} cannot be asked: {item.provider.problem}."
        return Check(_NAME, Grade.WARNING, sentence, "See docs/providers.md")
    if item.is_paused or standing.failures:
        rest = f"; left alone until {standing.resting_until[:16]}Z" if item.is_paused else ""
        sentence = f"{name} failed {standing.failures} times: {standing.problem}{rest}."
        return Check(_NAME, Grade.WARNING, sentence, f"holdfast providers test {name} QUERY")
    return None
