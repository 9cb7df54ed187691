"""Whether Claude Code runs our hooks, and whether what they run is there and ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from holdfast.app.doctor.check import Check, DoctorContext, Grade, ok
from holdfast.app.status.health import current_folder
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError
from holdfast.hosts.claude_code import config_file, install, settings_entries
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.version import __version__

_RUN_S = 60
_CHECK = "import holdfast; print(holdfast.__version__)"


def check_hooks(context: DoctorContext) -> list[Check]:
    """Entries, scripts, interpreter, and whether all is there once."""
    found = [_entries(context), _once(context), _server(context)]
    if context.hooks.is_installed or context.paths.hooks.is_dir():
        found += [_scripts(context), _interpreter(context)]
    return found


def _entries(context: DoctorContext) -> Check:
    name, seen = "hooks", context.hooks
    for problem in seen.problems:
        return Check(name, Grade.BROKEN, f"{problem}.", "Correct that file; it is Claude Code's.")
    if seen.off is not None:
        sentence = f"{seen.off} says disableAllHooks: Claude Code runs no hooks at all."
        return Check(name, Grade.BROKEN, sentence, "Take that setting out of the file.")
    if not seen.is_installed and InstallRecord(context.paths.home, OTHER_AGENTS).files:
        return Check(name, Grade.OK, "Other agents are set up, and Claude Code is not.")
    if not seen.is_installed:
        sentence = "Claude Code does not tell Holdfast of its sessions."
        return Check(name, Grade.WARNING, sentence, "holdfast setup")
    if seen.missing:
        sentence = f"Claude Code does not tell of {', '.join(seen.missing)}."
        return _mendable(context, name, Grade.BROKEN, sentence, "holdfast setup")
    ours = context.paths.hooks / "capture.sh"
    paths = {path for paths in seen.scripts.values() for path in paths}
    for path in sorted(paths):
        if not path.exists():
            sentence = f"Claude Code runs {path}, which is not there."
            remedy = "holdfast doctor --fix" if path == ours else "holdfast setup"
            if path == ours:
                return Check(name, Grade.BROKEN, sentence, remedy)
            return _mendable(context, name, Grade.BROKEN, sentence, remedy)
        if os.path.realpath(path) != os.path.realpath(ours):
            sentence = f"Claude Code runs {path}: its events go to another home than this one."
            return Check(name, Grade.WARNING, sentence, "holdfast setup, or set HOLDFAST_HOME")
    return ok(name, "Claude Code tells Holdfast of every event it needs.")


def _once(context: DoctorContext) -> Check:
    seen = context.hooks
    twice = [event for event, paths in seen.scripts.items() if len(paths) > 1]
    if seen.scripts and seen.plugins:
        sentence = "The hooks are in the settings and in the plugin: each event comes twice."
        return Check("once", Grade.WARNING, sentence, "holdfast uninstall, or disable the plugin")
    if twice:
        sentence = f"The settings name our hook more than once for {', '.join(twice)}."
        return _mendable(context, "once", Grade.WARNING, sentence, "holdfast setup")
    return ok("once", "No hook is installed twice.")


def _server(context: DoctorContext) -> Check:
    """Whether Claude can ask: the entry that setup made is there, and its program too."""
    name, home = "server", context.settings.home
    file = host.servers_file(context.settings.claude_dir, context.settings.own_claude_dir)
    ours = _our_server(file, home)
    if ours is None:
        if (
            str(file) not in InstallRecord(home).files
            or context.hooks.plugins
            or not context.hooks.is_installed
        ):
            return ok(name, "No server was set up here.")
        sentence = f"{file} does not name the server any more: Claude cannot ask this memory."
        return _mendable(context, name, Grade.WARNING, sentence, "holdfast setup")
    if ours and not Path(ours).exists():
        sentence = f"{file} names {ours} for the server, which is not there."
        return _mendable(context, name, Grade.BROKEN, sentence, "holdfast setup")
    return ok(name, "Claude can ask this memory.")


def _our_server(file: Path, home: Path) -> str | None:
    """The program of our server's entry; None where there is no entry, "" where it names none."""
    try:
        found = config_file.load(file)
        if "" not in settings_entries.projects_with_server(found.text, home, host.default_home()):
            return None
        known: Any = json.loads(found.text)
        return str(known["mcpServers"][settings_entries.SERVER].get("command", ""))
    except (HoldfastError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _mendable(context: DoctorContext, name: str, grade: Grade, sentence: str, remedy: str) -> Check:
    """What setting up again mends, for whom it was set up."""
    settings, home = context.settings, context.settings.home
    folder = current_folder()
    if folder is None:
        return Check(name, grade, sentence, remedy)
    wheres = [host.settings_files(settings, scope, folder) for scope in host.Scope]
    scopes = install.installed_scopes(home, wheres, host.default_home())
    if not scopes or context.hooks.plugins:
        return Check(name, grade, sentence, remedy)

    def set_up() -> str:
        python = install.find_interpreter()
        changed = 0
        for where in wheres:
            if where.scope in scopes:
                # A hook that is there twice goes first; then each is put in once.
                plan = install.plan_uninstall(home, [where], False, host.default_home())
                install.apply_install(home, plan.changes, host.default_home())
                plan = install.plan_install(home, where, python, host.default_home())
                install.apply_install(home, plan.changes, host.default_home())
                changed += 1
        return f"Set up again in {changed} place{'s' * (changed != 1)}."

    asks = "Set up the entries in Claude Code's settings again?"
    return Check(name, grade, sentence, remedy, set_up, asks)


def _scripts(context: DoctorContext) -> Check:
    """What lies in the home for hooks against what this program would lay there."""
    places, named = context.paths, _named(context.paths)
    python = install.Interpreter(named[0], named[1]) if len(named) > 1 else None
    wanted = install.outdated_files(places, python or install.Interpreter("", ""))
    differ = sorted(path.name for path in wanted)
    differ += [places.inbox_pointer.name] if places.inbox() is None else []
    if not differ:
        return ok("scripts", "The scripts that hooks run are those of this version.")

    def lay_out() -> str:
        install.prepare_home(places, python or install.find_interpreter())
        return f"{', '.join(differ)} laid out anew."

    sentence = f"Missing or of another version: {', '.join(differ)}."
    return Check("scripts", Grade.BROKEN, sentence, "holdfast doctor --fix", lay_out)


def _named(places: HomePaths) -> list[str]:
    """The interpreter that hooks start, and its flags; fewer lines where none is named."""
    return _bytes(places.interpreter).decode("utf-8", "replace").splitlines()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _interpreter(context: DoctorContext) -> Check:
    """Whether the Python that hooks start can run us."""
    name, places = "interpreter", context.paths
    lines = _named(places)

    def name_ours() -> str:
        python = install.find_interpreter()
        install.prepare_home(places, python)
        return f"Hooks run {python.path} from now on."

    if len(lines) < 2:
        sentence = f"{context.paths.interpreter} does not name a Python."
        return Check(name, Grade.BROKEN, sentence, "holdfast doctor --fix", name_ours)
    try:
        done = subprocess.run(
            [lines[0], *lines[1].split(), "-c", _CHECK],
            capture_output=True,
            text=True,
            timeout=_RUN_S,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        sentence = f"{lines[0]} cannot be run: {error}."
        return Check(name, Grade.BROKEN, sentence, "holdfast doctor --fix", name_ours)
    if done.returncode:
        sentence = f"{lines[0]} {lines[1]} cannot import Holdfast."
        return Check(name, Grade.BROKEN, sentence, "holdfast doctor --fix", name_ours)
    version = done.stdout.strip()
    if version != __version__:
        sentence = f"Hooks run Holdfast {version}; this is {__version__}."
        return Check(name, Grade.WARNING, sentence, "holdfast setup")
    return ok(name, f"{lines[0]} runs Holdfast {version}.")
