"""Checks of plugins and team servers: whether they can be used, whether calls failed, and what
could not be sent. No plugin is started, and no server is contacted.
"""

from __future__ import annotations

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.remote.remote_search import Remotes
from holdfast.app.search.plugin_search import Providers, ProviderStatus
from holdfast.app.status.health import current_folder
from holdfast.errors import InputError, StoreError
from holdfast.settings import OFF
from holdfast.store.records.outbox import OutboxItem, OutboxState

_PROVIDERS, _REMOTES = "providers", "remotes"
# Failures in a row that count as a problem: fewer are usual when a server restarts or a laptop is
# offline.
_MIN_FAILURES = 5


def check_providers(context: DoctorContext) -> list[Check]:
    """One check for each plugin with a problem; a single one if there is none."""
    if context.settings.providers.use == OFF:
        return [ok(_PROVIDERS, "Plugins are not queried.")]
    found = Providers(context.settings, utc_now, current_folder())
    problems = [check for item in found.listed() if (check := _provider_problem(item)) is not None]
    problems += [
        Check(_PROVIDERS, Grade.WARNING, problem, "See docs/providers.md")
        for problem in found.problems
    ]
    count = len(found.usable())
    return problems or [ok(_PROVIDERS, f"{count} plugin{'s' * (count != 1)} can be queried.")]


def _provider_problem(item: ProviderStatus) -> Check | None:
    name, reliability = item.provider.name, item.reliability
    if item.provider.problem:
        sentence = f"{name} cannot be used: {item.provider.problem}."
        return Check(_PROVIDERS, Grade.WARNING, sentence, "See docs/providers.md")
    if item.is_paused or reliability.failures:
        rest = f"; paused until {reliability.resting_until[:16]}Z" if item.is_paused else ""
        sentence = f"{name} failed {reliability.failures} times: {reliability.problem}{rest}."
        return Check(_PROVIDERS, Grade.WARNING, sentence, f"holdfast providers test {name} QUERY")
    return None


def check_remotes(context: DoctorContext) -> list[Check]:
    """One check for each problem; a single one if there is none."""
    settings = context.settings
    if not settings.remotes.exists():
        return [ok(_REMOTES, "No team server is configured.")]
    try:
        listed = Remotes(settings, utc_now).listed()
    except InputError as error:
        return [Check(_REMOTES, Grade.BROKEN, error.message, error.remedy)]
    problems: list[Check] = []
    for item in listed:
        name = item.remote.name
        if item.reliability.failures >= _MIN_FAILURES:
            sentence = (
                f"{name} failed {item.reliability.failures} times: {item.reliability.problem}."
            )
            problems.append(
                Check(_REMOTES, Grade.WARNING, sentence, f"holdfast remote test {name}")
            )
        problems += _unsent(name, _outbox(context, name))
    unasked = ' They are not queried: remote.use is "off".' if settings.remote.use == OFF else ""
    names = ", ".join(item.remote.name for item in listed)
    return problems or [ok(_REMOTES, f"Configured: {names}.{unasked}")]


def _outbox(context: DoctorContext, name: str) -> list[OutboxItem]:
    try:
        return context.memory.reader.outbox.items(name) if context.memory is not None else []
    except StoreError:
        return []  # the check of the store reports it


def _unsent(name: str, items: list[OutboxItem]) -> list[Check]:
    """What the server refused, and what repeatedly could not be sent."""
    refused = [item for item in items if item.state is OutboxState.REFUSED]
    often = [
        item
        for item in items
        if item.state is OutboxState.WAITING and item.attempts >= _MIN_FAILURES
    ]
    found: list[Check] = []
    if refused:
        sentence = f"{name} refused {len(refused)} of your shared records: {refused[0].problem}."
        found.append(Check(_REMOTES, Grade.WARNING, sentence, f"holdfast share --list --to {name}"))
    if often:
        sentence = (
            f"{len(often)} of your shared records could not be sent to {name}: {often[0].problem}."
        )
        found.append(Check(_REMOTES, Grade.WARNING, sentence, f"holdfast remote push {name}"))
    return found
