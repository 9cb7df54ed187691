"""Installs Holdfast into agents other than Claude Code, and removes it again.

Changes are planned first and can be shown. Each file is backed up before it is changed. Removing
restores the bytes of the backup if nobody changed the file since, and otherwise removes exactly our
entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from holdfast.errors import InputError
from holdfast.hosts.claude_code.config_file import BOM, ConfigFile, diff, read_bytes, save
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.hosts.host import HoldfastCommand, Host, SettingsChange
from holdfast.sources.agent import UserEnvironment

Result = TypeVar("Result")


class Change(NamedTuple):
    """The change of one file; `after` is None where it is deleted."""

    path: Path
    raw: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return diff(self.path, self.raw, self.after)


@dataclass(slots=True)
class Plan:
    """The changes to make, and notes for the user."""

    changes: list[Change] = field(default_factory=list[Change])
    notes: list[str] = field(default_factory=list[str])


def plan_install(host: Host, user: UserEnvironment, holdfast: HoldfastCommand) -> Plan:
    """The changes that install Holdfast into an agent."""
    plan = Plan(notes=list(host.notes))
    for path, changes in _by_file(host.changes(user, holdfast)):
        raw = read_bytes(path)
        text = before = _decode(raw, changes[0].empty, path)
        for change in changes:
            text = _apply(change, change.add, text)
            if _apply(change, change.is_name_taken, before):
                plan.notes.append(
                    f"{path} has a server called 'holdfast' that is not ours; it was left alone, "
                    f"so {host.title} cannot ask this memory."
                )
        if text != before:
            plan.changes.append(Change(path, raw, ConfigFile(path, raw).encode(text)))
    return plan


def plan_uninstall(hosts: Iterable[Host], user: UserEnvironment, holdfast: HoldfastCommand) -> Plan:
    """The changes that remove Holdfast from agents."""
    plan = Plan()
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
    raw = read_bytes(path)
    if raw is None:
        return None
    text = before = _decode(raw, changes[0].empty, path)
    for change in changes:
        text = _apply(change, change.remove, text)
    after = _restored(record, path, raw, text, text != before, changes[0].empty)
    return Change(path, raw, after) if after != raw else None


def _restored(
    record: InstallRecord, path: Path, raw: bytes, text: str, changed: bool, empty: str
) -> bytes | None:
    if record.is_untouched(path, raw):
        return record.before(path)
    if record.created(path) and text.strip() == empty.strip():
        return None
    return ConfigFile(path, raw).encode(text) if changed else raw


def is_installed(host: Host, user: UserEnvironment, holdfast: HoldfastCommand) -> bool:
    """Whether the settings of an agent have any entry of ours."""
    return bool(plan_uninstall([host], user, holdfast).changes)


def apply_install(home: Path, changes: Sequence[Change]) -> None:
    """Make the changes of `plan_install`; each file is backed up first."""
    record = InstallRecord(home, OTHER_AGENTS)
    for path, raw, after in changes:
        if record.is_untouched(path, raw):
            record.update(path, after)
        else:
            record.add(path, raw, after)
        save(ConfigFile(path, raw), after)


def apply_uninstall(home: Path, changes: Sequence[Change]) -> None:
    """Make the changes of `plan_uninstall`."""
    record = InstallRecord(home, OTHER_AGENTS)
    for path, raw, after in changes:
        save(ConfigFile(path, raw), after)
        record.forget(path, restored=after == record.before(path))


def _by_file(changes: Sequence[SettingsChange]) -> list[tuple[Path, list[SettingsChange]]]:
    found: dict[Path, list[SettingsChange]] = {}
    for change in changes:
        found.setdefault(change.path, []).append(change)
    return list(found.items())


def _decode(raw: bytes | None, empty: str, path: Path) -> str:
    try:
        text = (raw or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8.", "Correct it, then run this again. Nothing was changed."
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
