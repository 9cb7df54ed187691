"""Moving into other agents, and out again: the same promises as for Claude Code.

What is to be done is worked out first and can be shown. Each file is put away before it is
changed; moving out gives it the bytes it had, if nobody changed it since, and else takes out
exactly what is ours.
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
    """What happens to one file; `after` is None where it goes."""

    path: Path
    raw: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        """What it does, as programmers read it."""
        return diff(self.path, self.raw, self.after)


@dataclass(slots=True)
class Plan:
    """What is to be done, and what the user should know about it."""

    changes: list[Change] = field(default_factory=list[Change])
    notes: list[str] = field(default_factory=list[str])


def plan_install(host: Host, where: UserEnvironment, ours: HoldfastCommand) -> Plan:
    """What setting up changes."""
    plan = Plan(notes=list(host.notes))
    for path, pieces in _by_file(host.changes(where, ours)):
        raw = read_bytes(path)
        text = before = _decode(raw, pieces[0].empty, path)
        for piece in pieces:
            text = _apply(piece, piece.add, text)
            if _apply(piece, piece.is_name_taken, before):
                plan.notes.append(
                    f"{path} has a server called 'holdfast' that is not ours; it was left alone, "
                    f"so {host.title} cannot ask this memory."
                )
        if text != before:
            plan.changes.append(Change(path, raw, ConfigFile(path, raw).encode(text)))
    return plan


def plan_uninstall(hosts: Iterable[Host], where: UserEnvironment, ours: HoldfastCommand) -> Plan:
    """What moving out of agents changes."""
    plan = Plan()
    record = InstallRecord(ours.home, OTHER_AGENTS)
    for host in hosts:
        for path, pieces in _by_file(host.changes(where, ours)):
            try:
                change = _taken_out(record, path, pieces)
            except InputError:
                if str(path) in record.files:
                    raise
                continue  # what we never wrote to need not be understood
            if change is not None:
                plan.changes.append(change)
    return plan


def _taken_out(
    record: InstallRecord, path: Path, pieces: Sequence[SettingsChange]
) -> Change | None:
    raw = read_bytes(path)
    if raw is None:
        return None
    text = before = _decode(raw, pieces[0].empty, path)
    for piece in pieces:
        text = _apply(piece, piece.remove, text)
    after = _restored(record, path, raw, text, text != before, pieces[0].empty)
    return Change(path, raw, after) if after != raw else None


def _restored(
    record: InstallRecord, path: Path, raw: bytes, text: str, changed: bool, empty: str
) -> bytes | None:
    if record.is_untouched(path, raw):
        return record.before(path)
    if record.created(path) and text.strip() == empty.strip():
        return None
    return ConfigFile(path, raw).encode(text) if changed else raw


def is_installed(host: Host, where: UserEnvironment, ours: HoldfastCommand) -> bool:
    """Whether anything of ours stands in the settings of an agent."""
    return bool(plan_uninstall([host], where, ours).changes)


def apply_install(home: Path, changes: Sequence[Change]) -> None:
    """Make changes, each after its file was put away."""
    record = InstallRecord(home, OTHER_AGENTS)
    for path, raw, after in changes:
        if record.is_untouched(path, raw):
            record.update(path, after)
        else:
            record.add(path, raw, after)
        save(ConfigFile(path, raw), after)


def apply_uninstall(home: Path, changes: Sequence[Change]) -> None:
    """Carry out what `plan_out` worked out."""
    record = InstallRecord(home, OTHER_AGENTS)
    for path, raw, after in changes:
        save(ConfigFile(path, raw), after)
        record.forget(path, restored=after == record.before(path))


def _by_file(pieces: Sequence[SettingsChange]) -> list[tuple[Path, list[SettingsChange]]]:
    found: dict[Path, list[SettingsChange]] = {}
    for piece in pieces:
        found.setdefault(piece.path, []).append(piece)
    return list(found.items())


def _decode(raw: bytes | None, empty: str, path: Path) -> str:
    try:
        text = (raw or b"").removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8.", "Correct it, then run this again. Nothing was changed."
        ) from error
    return text if text.strip() else empty


def _apply(piece: SettingsChange, change: Callable[[str], Result], text: str) -> Result:
    try:
        return change(text)
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{piece.path} cannot be understood: {error}.",
            "Correct it (comments must go), then run this again. Nothing was changed.",
        ) from error
