"""Installs Holdfast into agents other than Claude Code, and removes it again.

Changes are planned first and can be shown. Each file is backed up before it is changed. Removing
restores the bytes of the backup if nobody changed the file since, and otherwise removes exactly our
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from holdfast.errors import InputError
from holdfast.hosts.claude_code.config_file import (
    BOM,
    Change,
    ConfigFile,
    InstallPlan,
    read_bytes,
    save,
)
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange
from holdfast.sources.agent import UserEnvironment

Result = TypeVar("Result")


def plan_install(host: Host, user: UserEnvironment, holdfast: HoldfastCommand) -> InstallPlan:
    """The changes that install Holdfast into an agent."""
    plan = InstallPlan(notes=list(host.notes))
    for path, changes in _by_file(host.changes(user, holdfast)):
        file = ConfigFile(path, read_bytes(path))
        text = before = _decode(file, changes[0].empty)
        for change in changes:
            text = _apply(change, change.add, text)
            if _apply(change, change.is_name_taken, before):
                plan.notes.append(
                    f"{path} has an entry 'holdfast' of another program; it was not changed, "
                    f"so {host.title} cannot use this memory fully."
                )
        if text != before:
            plan.changes.append(Change(file, file.encode(text)))
    return plan


def plan_uninstall(
    hosts: Iterable[Host], user: UserEnvironment, holdfast: HoldfastCommand
) -> InstallPlan:
    """The changes that remove Holdfast from agents."""
    plan = InstallPlan()
    record = InstallRecord(holdfast.home, OTHER_AGENTS)
    for host in hosts:
        for path, changes in _by_file(host.changes(user, holdfast)):
            try:
                change = _removal(record, path, changes)
            except InputError:
                if str(path) in record.files:
                    raise
                continue  # we never wrote to it, so it need not be readable
            if change is not None:
                plan.changes.append(change)
    return plan


def _removal(record: InstallRecord, path: Path, changes: Sequence[SettingsChange]) -> Change | None:
    file, empty = ConfigFile(path, read_bytes(path)), changes[0].empty
    if file.raw is None:
        return None
    text = before = _decode(file, empty)
    for change in changes:
        text = _apply(change, change.remove, text)
    if record.is_untouched(path, file.raw):
        after = record.before(path)
    elif record.created(path) and text.strip() == empty.strip():
        after = None
    else:
        after = file.encode(text) if text != before else file.raw
    return Change(file, after) if after != file.raw else None


def is_installed(host: Host, user: UserEnvironment, holdfast: HoldfastCommand) -> bool:
    """Whether the settings of an agent have any entry of ours."""
    return bool(plan_uninstall([host], user, holdfast).changes)


def apply_install(home: Path, changes: Sequence[Change]) -> None:
    """Make the changes of `plan_install`; each file is backed up first."""
    record = InstallRecord(home, OTHER_AGENTS)
    for file, after, *_ in changes:
        if record.is_untouched(file.path, file.raw):
            record.update(file.path, after)
        else:
            record.add(file.path, file.raw, after)
        save(file, after)


def apply_uninstall(home: Path, changes: Sequence[Change]) -> None:
    """Make the changes of `plan_uninstall`."""
    record = InstallRecord(home, OTHER_AGENTS)
    for file, after, *_ in changes:
        save(file, after)
        record.forget(file.path, restored=after == record.before(file.path))


def _by_file(changes: Sequence[SettingsChange]) -> list[tuple[Path, list[SettingsChange]]]:
    found: dict[Path, list[SettingsChange]] = {}
    for change in changes:
        found.setdefault(change.path, []).append(change)
    return list(found.items())


def _decode(file: ConfigFile, empty: str) -> str:
    try:
        text = (file.raw or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file.path} is not UTF-8.", "Correct it, then run this again. Nothing was changed."
        ) from error
    return text if text.strip() else empty


def _apply(change: SettingsChange, function: Callable[[str], Result], text: str) -> Result:
    try:
        return function(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{change.path} cannot be understood: {error}.",
            "Correct it (comments must go), then run this again. Nothing was changed.",
        ) from error
