"""Servers of the team's: whether their keys are kept well, and what could not be sent. Nobody is
asked."""

from __future__ import annotations

from holdfast.app.core.context import utc_now
from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.remote.remote_search import Remotes
from holdfast.errors import InputError, StoreError
from holdfast.settings import OFF
from holdfast.store.protocol.outbox import OutboxItem, OutboxState

_NAME = "remotes"
_OFTEN = 5


def check_remotes(context: DoctorContext) -> list[Check]:
    """One line for all where they are in order, else one for each that is not."""
    settings = context.settings
    if not settings.remotes.exists():
        return [ok(_NAME, "No server is named.")]
    try:
        listed = Remotes(settings, utc_now).listed()
    except InputError as error:
        return [Check(_NAME, Grade.BROKEN, error.message, error.remedy)]
    wrong: list[Check] = []
    for item in listed:
        name = item.remote.name
        if item.reliability.failures >= _OFTEN:
            told = f"{name} failed {item.reliability.failures} times: {item.reliability.problem}."
            wrong.append(Check(_NAME, Grade.WARNING, told, f"holdfast remote test {name}"))
        wrong += _stuck(name, _parcels(context, name))
    unasked = ' They are not asked: remote.use is "off".' if settings.remote.use == OFF else ""
    names = ", ".join(item.remote.name for item in listed)
    return wrong or [ok(_NAME, f"Named: {names}.{unasked}")]


def _parcels(context: DoctorContext, name: str) -> list[OutboxItem]:
    try:
        return context.memory.reader.outbox(name) if context.memory is not None else []
    except StoreError:
        return []  # a check of its own tells of it


def _stuck(name: str, parcels: list[OutboxItem]) -> list[Check]:
    """What was refused, and what was tried often."""
    refused = [p for p in parcels if p.state is OutboxState.REFUSED]
    often = [p for p in parcels if p.state is OutboxState.WAITING and p.attempts >= _OFTEN]
    found: list[Check] = []
    if refused:
        told = f"{name} refused {len(refused)} of what you shared: {refused[0].problem}."
        found.append(Check(_NAME, Grade.WARNING, told, f"holdfast share --list --to {name}"))
    if often:
        told = f"{len(often)} of what you shared could not be sent to {name}: {often[0].problem}."
        found.append(Check(_NAME, Grade.WARNING, told, f"holdfast remote push {name}"))
    return found
