"""Installs Holdfast into Claude Code, and removes it again without a trace.

Changes are planned first and can be shown; nothing is written until they are applied. The scripts
that hooks run are copied into the home, so that an upgrade of the package never removes a script
that a running session uses. Claude Code's own memory is neither read nor changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, cast

from holdfast.capture.home_paths import HomePaths
from holdfast.capture.inbox import make_inbox
from holdfast.errors import InputError
from holdfast.hosts.claude_code import config_file, permissions, settings_entries
from holdfast.hosts.claude_code.config_file import Change, ConfigFile, InstallPlan
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.claude_code.json_text import read
from holdfast.hosts.claude_code.locations import Scope, SettingsFiles

_FLAGS = ("-I", "-E")
_PRINT_PACKAGE = "import holdfast; print(holdfast.__file__)"
# For starting a Python once; a cold disk may take long.
_IMPORT_TIMEOUT_S = 60


class Interpreter(NamedTuple):
    """A Python that can run Holdfast from any folder, and its flags. `other_copy` is set where it
    would run another copy of Holdfast than this one."""

    path: str
    flags: str
    other_copy: str = ""


def find_interpreter(path: str = sys.executable) -> Interpreter:
    """How to run Holdfast without the environment variables of this shell."""
    ours = os.path.realpath(Path(__file__).parents[2] / "__init__.py")
    other: Interpreter | None = None
    for flags in _FLAGS:
        found = _imported_package(path, flags)
        if found and os.path.realpath(found) == ours:
            return Interpreter(path, flags)
        if found:
            other = other or Interpreter(path, flags, found)
    if other is None:
        raise InputError(
            f"{path} finds Holdfast only with the environment of this shell.",
            "Install it where hooks can find it, e.g. with pipx; then run setup.",
        )
    return other


def _imported_package(path: str, flags: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    try:
        done = subprocess.run(
            [path, flags, "-c", _PRINT_PACKAGE],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            timeout=_IMPORT_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def scripts() -> dict[str, bytes]:
    """The scripts that hooks run, by name, in this version."""
    folder = resources.files("holdfast.hosts.claude_code") / "scripts"
    return {
        item.name: item.read_bytes()
        for item in folder.iterdir()
        if item.name.endswith((".sh", ".py")) and item.name != "__init__.py"
    }


def home_files(places: HomePaths, python: Interpreter) -> dict[Path, bytes]:
    """Every file that the home must hold before a hook can run."""
    files = {places.hooks / name: content for name, content in scripts().items()}
    files[places.interpreter] = os.fsencode(f"{python.path}\n{python.flags}\n")
    return files


def outdated_files(places: HomePaths, python: Interpreter) -> list[Path]:
    """The files of the home that are missing, or not those of this version."""
    return [
        path
        for path, content in home_files(places, python).items()
        if not path.is_file() or path.read_bytes() != content
    ]


def prepare_home(places: HomePaths, python: Interpreter) -> None:
    """Write the files that hooks need into the home."""
    try:
        for folder in (places.home, places.hooks):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        for path in outdated_files(places, python):
            config_file.write_atomically(
                path, home_files(places, python)[path], 0o700 if path.suffix == ".sh" else 0o600
            )
        make_inbox(places)
    except OSError as error:
        raise InputError(
            f"Cannot write to {places.home}: {error.strerror or error}.",
            "Check its permissions, or choose another home with HOLDFAST_HOME.",
        ) from error


def plan_install(
    home: Path,
    files: SettingsFiles,
    python: Interpreter,
    default_home: Path,
    with_plugin: bool = False,
    allowed_tools: Sequence[str] = (),
) -> InstallPlan:
    """The changes that install Holdfast. With the plugin our own entries are removed instead,
    because both together would report every event twice. Claude Code may use `allowed_tools` of our
    server without asking."""
    plan = InstallPlan()
    hooks, servers = config_file.load(files.hooks_file), config_file.load(files.servers_file)
    rules = permissions.tool_rules(allowed_tools, with_plugin)
    outdated = permissions.tool_rules(_recorded_tools(home, files), not with_plugin)
    if with_plugin:
        without_hooks = settings_entries.remove_hooks(hooks.text, home)
        _change_hooks(plan, hooks, permissions.remove_rules(without_hooks, outdated), rules)
        if files.project in settings_entries.projects_with_server(servers.text, home, default_home):
            without_server = settings_entries.remove_server(servers.text, files.project)
            _change(plan, servers, without_server, lock=True)
        return plan
    is_name_taken = settings_entries.is_name_taken(servers.text, files.project)
    with_hooks = permissions.remove_rules(settings_entries.add_hooks(hooks.text, home), outdated)
    _change_hooks(plan, hooks, with_hooks, () if is_name_taken else rules)
    entry = settings_entries.server_entry(python.path, python.flags, home, home == default_home)
    with_server = settings_entries.add_server(servers.text, files.project, entry)
    _change(plan, servers, with_server, lock=True)
    if is_name_taken:
        plan.notes.append(
            f"{files.servers_file} has a server {settings_entries.SERVER!r} of another "
            "program; it was not changed, so Claude cannot use this memory."
        )
    for other in settings_entries.other_homes(hooks.text, home):
        plan.notes.append(f"Hooks of another Holdfast, at {other}, stay there as well.")
    return plan


def _change_hooks(plan: InstallPlan, file: ConfigFile, text: str, rules: Sequence[str]) -> None:
    added = permissions.add_rules(text, rules)
    if added.text != file.text:
        plan.changes.append(Change(file, file.encode(added.text), allowed=added.rules))


def allowed_tools(home: Path, files: SettingsFiles) -> list[str]:
    """The tools that setup allowed in a scope, and that are still allowed there."""
    text = config_file.load(files.hooks_file).text
    return [
        permissions.tool_of(rule)
        for rule in InstallRecord(home).allowed(files.hooks_file)
        if permissions.is_allowed(text, rule)
    ]


def _recorded_tools(home: Path, files: SettingsFiles) -> list[str]:
    return list(map(permissions.tool_of, InstallRecord(home).allowed(files.hooks_file)))


def _change(plan: InstallPlan, file: ConfigFile, text: str, lock: bool = False) -> None:
    if text != file.text:
        plan.changes.append(Change(file, file.encode(text), lock))


def apply_install(home: Path, changes: Sequence[Change], default_home: Path) -> None:
    """Make the changes of `plan_install`; each file is backed up first."""
    record = InstallRecord(home)
    for change in changes:
        path, raw = change.file.path, change.file.raw
        if record.is_untouched(path, raw):
            record.update(path, change.after)
        else:
            record.add(path, _without_us(home, change.file, default_home), change.after)
        text = change.file.decode(change.after)
        kept = [rule for rule in record.allowed(path) if permissions.is_allowed(text, rule)]
        record.set_allowed(path, dict.fromkeys([*kept, *change.allowed]))
        config_file.save(change.file, change.after, change.lock)


def _without_us(home: Path, file: ConfigFile, default_home: Path) -> bytes | None:
    if file.raw is None:
        return None
    text = settings_entries.remove_hooks(file.text, home)
    text = permissions.remove_rules(text, InstallRecord(home).allowed(file.path))
    for project in settings_entries.projects_with_server(text, home, default_home):
        text = settings_entries.remove_server(text, project)
    return file.raw if text == file.text else file.encode(text)


def plan_uninstall(
    home: Path, scopes: Sequence[SettingsFiles], everything: bool, default: Path
) -> InstallPlan:
    """The changes that remove Holdfast: from the files of the given scopes, and with `everything`
    from every file that we ever changed."""
    plan = InstallPlan()
    record = InstallRecord(home)
    hooks_files = {files.hooks_file for files in scopes}
    servers = {(files.servers_file, files.project) for files in scopes}
    paths = [*hooks_files, *dict.fromkeys(path for path, _ in servers)]
    if everything:
        paths = list(dict.fromkeys([*paths, *map(Path, record.files)]))
    for path in paths:
        file = config_file.load(path)
        if file.raw is None:
            continue
        text = file.text
        if everything or path in hooks_files:
            text = settings_entries.remove_hooks(text, home)
            text = permissions.remove_rules(text, record.allowed(path))
        for project in settings_entries.projects_with_server(text, home, default):
            if everything or (path, project) in servers:
                text = settings_entries.remove_server(text, project)
        after = _restored(record, file, text)
        if after != file.raw:
            plan.changes.append(Change(file, after, lock=path.name in _LOCKED_FILES))
    return plan


# Claude Code writes these itself, and locks them meanwhile.
_LOCKED_FILES = (".claude.json", ".config.json")


def _restored(record: InstallRecord, file: ConfigFile, text: str) -> bytes | None:
    """The bytes for a file whose document becomes `text`: those of the backup, if they are the same
    document and nobody changed the file since."""
    path = file.path
    if record.is_untouched(path, file.raw):
        before = record.before(path)
        if _same(file.decode(before), text):
            return before
    if text == file.text:
        return file.raw
    if record.created(path) and _same(text, "{}"):
        return None
    return file.encode(text)


def _same(one: str, other: str) -> bool:
    """Whether two documents are equal, apart from empty containers."""
    return _without_empty(read(one).value) == _without_empty(read(other).value)


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        fields = {key: _without_empty(inner) for key, inner in cast(dict[str, Any], value).items()}
        return {key: inner for key, inner in fields.items() if inner not in ({}, [])}
    if isinstance(value, list):
        return [_without_empty(inner) for inner in cast(list[Any], value)]
    return value


def apply_uninstall(home: Path, changes: Sequence[Change], default: Path) -> None:
    """Make the changes of `plan_uninstall`."""
    record = InstallRecord(home)
    for change in changes:
        path = change.file.path
        config_file.save(change.file, change.after, change.lock)
        left = change.file.decode(change.after)
        ours = settings_entries.find_hooks(left, home) or settings_entries.projects_with_server(
            left, home, default
        )
        if ours and str(path) in record.files:
            record.update(path, change.after)
        else:
            record.forget(path, restored=change.after == record.before(path))
    for change in changes:
        folder = change.file.path.parent
        # A project's `.claude` may have held nothing but the file that we created.
        if change.after is None and folder.name == ".claude":
            with suppress(OSError):  # something else is in it, or it is gone already
                folder.rmdir()


def installed_scopes(home: Path, scopes: Sequence[SettingsFiles], default: Path) -> list[Scope]:
    """The scopes that have entries of ours."""
    found: list[Scope] = []
    for files in scopes:
        hooks = config_file.load(files.hooks_file)
        servers = config_file.load(files.servers_file)
        ours = files.project in settings_entries.projects_with_server(servers.text, home, default)
        if settings_entries.find_hooks(hooks.text, home) or ours:
            found.append(files.scope)
    return found
