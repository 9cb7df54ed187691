"""Checks of the Claude Code integration: hook entries, MCP server, scripts and interpreter."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.app.doctor.check import FIX, Check, DoctorContext, Finding, Grade, broken, ok, warning
from holdfast.app.status.health import current_folder, not_set_up
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import HoldfastError
from holdfast.hosts.claude_code import config_file, install, settings_entries
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.version import __version__

_SETUP = "holdfast setup"
# A Python on a slow disk may take long to start; one that takes this long hangs.
_START_TIMEOUT_S = 60
_PRINT_VERSION = "import holdfast; print(holdfast.__version__)"


def entries(context: DoctorContext) -> Finding:
    """Hooks that are missing, disabled, or of another home."""
    hooks = context.hooks
    if problem := not_set_up(hooks, context.paths):
        grade = Grade.WARNING if problem.state == "off" else Grade.BROKEN
        check = Check(grade, problem.sentence, problem.remedy)
        yield _set_up_again(context, check) if problem.remedy == _SETUP else check
        return
    if not hooks.is_installed:
        yield ok("Claude Code hooks are not installed; other agents are set up.")
    own = context.paths.hooks / "capture.sh"
    for path in sorted({path for paths in hooks.scripts.values() for path in paths}):
        if not path.exists():
            sentence = f"The hooks run {path}, which is missing."
            yield _set_up_again(context, broken(sentence, _SETUP))
        elif os.path.realpath(path) != os.path.realpath(own):
            sentence = f"The hooks run {path}: events go to another home than this one."
            yield warning(sentence, f"{_SETUP}, or set HOLDFAST_HOME")


def duplicates(context: DoctorContext) -> Finding:
    """Events that are recorded twice."""
    hooks = context.hooks
    twice = [event for event, paths in hooks.scripts.items() if len(paths) > 1]
    if hooks.scripts and hooks.plugins:
        sentence = "Hooks are in the settings and in the plugin: each event is recorded twice."
        yield warning(sentence, "holdfast uninstall, or disable the plugin")
    elif twice:
        sentence = f"The settings have the Holdfast hook more than once for {', '.join(twice)}."
        yield _set_up_again(context, warning(sentence, _SETUP))


def server(context: DoctorContext) -> Finding:
    """The entry that setup made for the MCP server, and the program that it names."""
    settings, hooks = context.settings, context.hooks
    file = host.servers_file(settings.claude_dir, settings.own_claude_dir)
    program = _server_program(file, settings.home)
    was_installed = str(file) in InstallRecord(settings.home).files
    if program is None and was_installed and hooks.is_installed and not hooks.plugins:
        sentence = f"{file} no longer has the MCP server: Claude cannot search memory."
        yield _set_up_again(context, warning(sentence, _SETUP))
    elif program is None:
        yield ok("The MCP server is not installed here.")
    elif program and not Path(program).exists():
        sentence = f"{file} starts the MCP server with {program}, which is missing."
        yield _set_up_again(context, broken(sentence, _SETUP))


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


def _set_up_again(context: DoctorContext, problem: Check) -> Check:
    """A problem that is fixed by installing again, in every scope where Holdfast is installed."""
    home, usual, folder = context.settings.home, host.default_home(), current_folder()
    if folder is None or context.hooks.plugins:
        return problem
    all_files = [host.settings_files(context.settings, scope, folder) for scope in host.Scope]
    scopes = install.installed_scopes(home, all_files, usual)
    installed = [files for files in all_files if files.scope in scopes]

    def reinstall() -> str:
        python = install.find_interpreter()
        for files in installed:
            tools = install.allowed_tools(home, files)
            # Uninstalling first removes duplicate entries.
            plan = install.plan_uninstall(home, [files], False, usual)
            install.apply_install(home, plan.changes, usual)
            plan = install.plan_install(home, files, python, usual, allowed_tools=tools)
            install.apply_install(home, plan.changes, usual)
        return f"Installed again in {len(installed)} place{'s' * (len(installed) != 1)}."

    question = "Install the entries in Claude Code's settings again?"
    return replace(problem, fix=reinstall, question=question) if installed else problem


def scripts(context: DoctorContext) -> Finding:
    """Scripts in the home that are not those that this version would install."""
    paths, python = context.paths, _recorded_interpreter(context.paths)
    if not _has_hooks(context):
        yield ok("Hooks are not installed here.")
        return
    outdated = install.outdated_files(paths, python or install.Interpreter("", ""))
    # Whether the recorded Python is of use is the next check's business.
    differ = sorted(path.name for path in outdated if path != paths.interpreter)
    differ += [paths.inbox_pointer.name] if paths.inbox() is None else []

    def install_scripts() -> str:
        install.prepare_home(paths, python or install.find_interpreter())
        return f"{', '.join(differ)} written again."

    if differ:
        yield broken(f"Missing or outdated: {', '.join(differ)}.", FIX, install_scripts)


def interpreter(context: DoctorContext) -> Finding:
    """Whether the Python that hooks start can import this version of Holdfast."""
    paths, python = context.paths, _recorded_interpreter(context.paths)
    if not _has_hooks(context):
        yield ok("Hooks are not installed here.")
        return

    def use_this_interpreter() -> str:
        python = install.find_interpreter()
        install.prepare_home(paths, python)
        return f"Hooks run {python.path} from now on."

    version, problem = "", f"{paths.interpreter} does not name a Python."
    if python is not None:
        version, problem = _run(python)
    if problem:
        yield broken(problem, FIX, use_this_interpreter)
    elif version != __version__:
        yield warning(f"Hooks run Holdfast {version}; this is {__version__}.", _SETUP)


def _has_hooks(context: DoctorContext) -> bool:
    return context.hooks.is_installed or context.paths.hooks.is_dir()


def _recorded_interpreter(paths: HomePaths) -> install.Interpreter | None:
    """The Python that hooks start; None if none is recorded."""
    try:
        lines = paths.interpreter.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    return install.Interpreter(lines[0], lines[1]) if len(lines) > 1 else None


def _run(python: install.Interpreter) -> tuple[str, str]:
    """The version of Holdfast that a Python imports, and the problem if it imports none."""
    try:
        result = subprocess.run(
            [python.path, *python.flags.split(), "-c", _PRINT_VERSION],
            capture_output=True,
            text=True,
            timeout=_START_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{python.path} cannot be run: {error}."
    problem = f"{python.path} {python.flags} cannot import Holdfast." if result.returncode else ""
    return result.stdout.strip(), problem
