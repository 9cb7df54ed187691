"""Checks of the Claude Code integration: hook entries, scripts, interpreter and MCP server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from holdfast.app.doctor.check import FIX, Check, DoctorContext, Grade, ok
from holdfast.app.status.health import current_folder
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError
from holdfast.hosts.claude_code import config_file, install, settings_entries
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.install_record import OTHER_AGENTS, InstallRecord
from holdfast.version import __version__

# A Python on a slow disk may take long to start; one that takes this long hangs.
_START_TIMEOUT_S = 60
_PRINT_VERSION = "import holdfast; print(holdfast.__version__)"


def check_hooks(context: DoctorContext) -> list[Check]:
    """Hook entries, duplicates, server entry, and, if hooks are installed, what they run."""
    checks = [_entries(context), _duplicates(context), _server(context)]
    if context.hooks.is_installed or context.paths.hooks.is_dir():
        checks += [_scripts(context), _interpreter(context)]
    return checks


def _entries(context: DoctorContext) -> Check:
    name, hooks = "hooks", context.hooks
    for problem in hooks.problems:
        return Check(name, Grade.BROKEN, f"{problem}.", "Correct that file; it is Claude Code's.")
    if hooks.off is not None:
        sentence = f"{hooks.off} sets disableAllHooks: Claude Code runs no hooks at all."
        return Check(name, Grade.BROKEN, sentence, "Remove that setting.")
    if not hooks.is_installed and InstallRecord(context.paths.home, OTHER_AGENTS).files:
        return Check(
            name, Grade.OK, "Claude Code hooks are not installed; other agents are set up."
        )
    if not hooks.is_installed:
        sentence = "Claude Code hooks are not installed."
        return Check(name, Grade.WARNING, sentence, "holdfast setup")
    if hooks.missing:
        sentence = f"Claude Code hooks are missing for {', '.join(hooks.missing)}."
        return _fixed_by_setup(context, name, Grade.BROKEN, sentence)
    own_script = context.paths.hooks / "capture.sh"
    paths = {path for paths in hooks.scripts.values() for path in paths}
    for path in sorted(paths):
        if not path.exists():
            sentence = f"The hooks run {path}, which is missing."
            if path == own_script:
                return Check(name, Grade.BROKEN, sentence, FIX)
            return _fixed_by_setup(context, name, Grade.BROKEN, sentence)
        if os.path.realpath(path) != os.path.realpath(own_script):
            sentence = f"The hooks run {path}: events go to another home than this one."
            return Check(name, Grade.WARNING, sentence, "holdfast setup, or set HOLDFAST_HOME")
    return ok(name, "Claude Code hooks are installed for all events.")


def _duplicates(context: DoctorContext) -> Check:
    hooks = context.hooks
    twice = [event for event, paths in hooks.scripts.items() if len(paths) > 1]
    if hooks.scripts and hooks.plugins:
        sentence = "Hooks are in the settings and in the plugin: each event is recorded twice."
        return Check(
            "duplicates", Grade.WARNING, sentence, "holdfast uninstall, or disable the plugin"
        )
    if twice:
        sentence = f"The settings have the Holdfast hook more than once for {', '.join(twice)}."
        return _fixed_by_setup(context, "duplicates", Grade.WARNING, sentence)
    return ok("duplicates", "No hook is installed twice.")


def _server(context: DoctorContext) -> Check:
    """Whether Claude Code can start the MCP server: the entry that setup made, and its program."""
    name, home = "server", context.settings.home
    file = host.servers_file(context.settings.claude_dir, context.settings.own_claude_dir)
    program = _server_program(file, home)
    if program is None:
        if (
            str(file) not in InstallRecord(home).files
            or context.hooks.plugins
            or not context.hooks.is_installed
        ):
            return ok(name, "The MCP server is not installed here.")
        sentence = f"{file} no longer has the MCP server: Claude cannot search memory."
        return _fixed_by_setup(context, name, Grade.WARNING, sentence)
    if program and not Path(program).exists():
        sentence = f"{file} starts the MCP server with {program}, which is missing."
        return _fixed_by_setup(context, name, Grade.BROKEN, sentence)
    return ok(name, "The MCP server is installed.")


def _server_program(file: Path, home: Path) -> str | None:
    """The program in Holdfast's server entry; None if there is no entry, "" if it names none."""
    try:
        config = config_file.load(file)
        if "" not in settings_entries.projects_with_server(config.text, home, host.default_home()):
            return None
        parsed: Any = json.loads(config.text)
        return str(parsed["mcpServers"][settings_entries.SERVER].get("command", ""))
    except (HoldfastError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _fixed_by_setup(context: DoctorContext, name: str, grade: Grade, sentence: str) -> Check:
    """A problem that is fixed by installing again, in every scope where Holdfast is installed."""
    settings, home, remedy = context.settings, context.settings.home, "holdfast setup"
    folder = current_folder()
    if folder is None:
        return Check(name, grade, sentence, remedy)
    all_files = [host.settings_files(settings, scope, folder) for scope in host.Scope]
    scopes = install.installed_scopes(home, all_files, host.default_home())
    if not scopes or context.hooks.plugins:
        return Check(name, grade, sentence, remedy)

    def reinstall() -> str:
        python, usual = install.find_interpreter(), host.default_home()
        installed = [files for files in all_files if files.scope in scopes]
        for files in installed:
            tools = install.allowed_tools(home, files)
            # Uninstalling first removes duplicate entries.
            plan = install.plan_uninstall(home, [files], False, usual)
            install.apply_install(home, plan.changes, usual)
            plan = install.plan_install(home, files, python, usual, allowed_tools=tools)
            install.apply_install(home, plan.changes, usual)
        return f"Installed again in {len(installed)} place{'s' * (len(installed) != 1)}."

    question = "Install the entries in Claude Code's settings again?"
    return Check(name, grade, sentence, remedy, reinstall, question)


def _scripts(context: DoctorContext) -> Check:
    """Whether the scripts in the home are those that this version would install."""
    paths, lines = context.paths, _interpreter_lines(context.paths)
    python = install.Interpreter(lines[0], lines[1]) if len(lines) > 1 else None
    outdated = install.outdated_files(paths, python or install.Interpreter("", ""))
    differ = sorted(path.name for path in outdated)
    differ += [paths.inbox_pointer.name] if paths.inbox() is None else []
    if not differ:
        return ok("scripts", "The hook scripts are up to date.")

    def install_scripts() -> str:
        install.prepare_home(paths, python or install.find_interpreter())
        return f"{', '.join(differ)} written again."

    sentence = f"Missing or outdated: {', '.join(differ)}."
    return Check("scripts", Grade.BROKEN, sentence, FIX, install_scripts)


def _interpreter_lines(paths: HomePaths) -> list[str]:
    """The Python that hooks start, and its flags; fewer than two lines if none is recorded."""
    try:
        return paths.interpreter.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


def _interpreter(context: DoctorContext) -> Check:
    """Whether the Python that hooks start can import this version of Holdfast."""
    name, paths = "interpreter", context.paths
    lines = _interpreter_lines(paths)

    def use_this_interpreter() -> str:
        python = install.find_interpreter()
        install.prepare_home(paths, python)
        return f"Hooks run {python.path} from now on."

    version, problem = "", f"{paths.interpreter} does not name a Python."
    if len(lines) > 1:
        version, problem = _run_interpreter(lines[0], lines[1])
    if problem:
        return Check(name, Grade.BROKEN, problem, FIX, use_this_interpreter)
    if version != __version__:
        sentence = f"Hooks run Holdfast {version}; this is {__version__}."
        return Check(name, Grade.WARNING, sentence, "holdfast setup")
    return ok(name, f"{lines[0]} runs Holdfast {version}.")


def _run_interpreter(python: str, flags: str) -> tuple[str, str]:
    """The version of Holdfast that a Python imports, and the problem if it imports none."""
    try:
        result = subprocess.run(
            [python, *flags.split(), "-c", _PRINT_VERSION],
            capture_output=True,
            text=True,
            timeout=_START_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{python} cannot be run: {error}."
    if result.returncode:
        return "", f"{python} {flags} cannot import Holdfast."
    return result.stdout.strip(), ""
