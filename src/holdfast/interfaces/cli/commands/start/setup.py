"""`holdfast setup`."""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from pathlib import Path

import holdfast
from holdfast.app.core.model_optin import choose_service
from holdfast.app.memory import open_memory
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.hosts.claude_code import install, plugin_files
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.config_file import Change, load
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.registry import hosts
from holdfast.interfaces.cli import confirm, options, other_agents
from holdfast.interfaces.cli.commands.start import ingest
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.screen import Screen, amount, number
from holdfast.settings import FILE_NAME, SERVICES, Settings, load_settings
from holdfast.sources.registry import DEFAULT_AGENT

HELP = """\
Move into Claude Code, or with --agent into another one (docs/agents.md): from the next
session on, what happens is captured by itself, and what is known arrives unasked. Shows
what it will change, asks, keeps a backup, and can be undone with `holdfast uninstall`.
Run it again after an upgrade, or whenever you like.

It changes one or two settings files of yours, and nothing in a repository. An agent's own
memory is left alone."""

EXAMPLES = """\
  holdfast setup --dry-run              only show what would change
  holdfast setup
  holdfast setup --scope project        for the project of this folder alone
  holdfast setup --agent codex          into Codex CLI
  holdfast setup --plugin               as a plugin, with its commands and agents
  holdfast setup --models auto          let a model sum up sessions, under the caps of the settings
  holdfast setup --yes --ingest         ask nothing, and read your history now"""

# Bytes of transcripts that one core reads in a second, for the estimate of how long reading takes.
# Too high promises too much; too low puts people off.
_BYTES_PER_S = 15_000_000


def configure(parser: Parser) -> None:
    parser.choice(
        "--agent", [DEFAULT_AGENT, *hosts()], "which agent (default: claude-code)", DEFAULT_AGENT
    )
    parser.choice(
        "--scope",
        host.Scope,
        "all of your projects (user, the default), or that of this folder",
        host.Scope.USER,
    )
    parser.flag("--plugin", "install the plugin instead")
    parser.flag("--dry-run", "change nothing, show the diff")
    options.add(parser, "yes")
    parser.add_argument(
        "--ingest",
        action=argparse.BooleanOptionalAction,
        help="read your history now, or do not (default: ask at a terminal)",
    )
    parser.choice(
        "--models",
        SERVICES,
        "which model service may be asked to sum sessions up; none unless you say so",
        None,
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    paths = HomePaths(Path(os.path.abspath(settings.home)))  # noqa: PTH100 - links stay
    if arguments.agent != DEFAULT_AGENT:
        if other_agents.set_up(screen, settings, paths, arguments):
            _prepare_briefs(settings)
            _offer_history(screen, settings, arguments)
    else:
        _set_up_claude_code(screen, settings, paths, arguments)


def _set_up_claude_code(
    screen: Screen, settings: Settings, paths: HomePaths, arguments: Arguments
) -> None:
    where = host.settings_files(settings, host.Scope(arguments.scope), Path.cwd())
    python = install.find_interpreter()
    enabled = plugin_files.is_enabled(where.hooks_file)
    plan = install.plan_install(
        paths.home, where, python, host.default_home(), arguments.plugin or enabled
    )
    plan.notes += _notes(settings, python, arguments.plugin or enabled, where)
    steps = _steps(paths, python, where, arguments.plugin or enabled, enabled)
    models: str | None = arguments.models
    new_service = models if models != settings.models.use else None
    if new_service is not None:
        steps.append(f"set models.use to {new_service} in {paths.home / FILE_NAME}")
    if not arguments.json:
        whose = "you" if where.scope is host.Scope.USER else "this project"
        nothing = f"Claude Code is set up for {whose}: nothing to change."
        all_steps = [*map(_summarise_change, plan.changes), *steps]
        other_agents.show(screen, plan, all_steps, nothing)
    done = False
    if (plan.changes or steps) and not arguments.dry_run:
        if not confirm.confirm_change(screen, arguments.yes):
            return
        install.prepare_home(paths, python)
        install.apply_install(paths.home, plan.changes, host.default_home())
        if arguments.plugin or enabled:
            _install_plugin(paths, where, enabled)
        if new_service is not None:
            choose_service(paths.home, new_service)
        _prepare_briefs(settings)
        done = True
    if arguments.json:
        report = other_agents.report_json(arguments, plan, steps, done)
        history = dict(zip(("files", "bytes", "seconds"), _estimate(settings), strict=True))
        screen.json({**report, "history": history})
    elif arguments.dry_run:
        screen.line("Nothing was changed.")
    else:
        _print_next_steps(screen, done)
        _offer_history(screen, settings, arguments)


def _notes(
    settings: Settings, python: install.Interpreter, with_plugin: bool, where: host.SettingsFiles
) -> list[str]:
    notes: list[str] = []
    if not host.is_present(settings):
        notes.append(
            f"Claude Code was not found here (no {settings.claude_dir}, no `claude` on the path). "
            "All is ready for it when it comes."
        )
    if python.other_copy:
        notes.append(f"Hooks will run the Holdfast at {python.other_copy}, not this one.")
    if python.path.startswith(tempfile.gettempdir()) or "/uv/archive-" in python.path:
        notes.append(
            f"{python.path} lies in a temporary place. Install Holdfast where it stays, e.g. "
            "with pipx, and run setup again."
        )
    if with_plugin:
        notes.append("The plugin brings hooks and server; they are not in the settings as well.")
    notes += other_agents.also_here(settings)
    if where.scope is host.Scope.PROJECT:
        notes.append(f"{where.hooks_file} is yours alone: do not commit it.")
    return notes


def _steps(
    paths: HomePaths,
    python: install.Interpreter,
    where: host.SettingsFiles,
    with_plugin: bool,
    enabled: bool,
) -> list[str]:
    """What is done besides changing settings files."""
    steps: list[str] = []
    if install.outdated_files(paths, python) or paths.inbox() is None:
        steps.append(f"copy what hooks run to {paths.hooks}")
    if with_plugin and not plugin_files.is_current(paths.home):
        steps.append(f"copy the plugin to {plugin_files.marketplace_folder(paths.home)}")
    if with_plugin and not enabled:
        for command in plugin_files.install_commands(paths.home, where.scope.value):
            steps.append(f"run: claude plugin {shlex.join(command)}")
    return steps


def _summarise_change(change: Change) -> str:
    """A diff as one line: the file, and the number of lines added and removed."""
    lines = change.diff.split("\n")
    added = sum(line[:1] == "+" and line[:3] != "+++" for line in lines)
    taken = sum(line[:1] == "-" and line[:3] != "---" for line in lines)
    if change.file.raw is None:
        return f"make {change.file.path} ({number(added, 'line')})"
    return f"change {change.file.path}: {number(added, 'line')} in, {taken or 'none'} out"


def _install_plugin(paths: HomePaths, where: host.SettingsFiles, enabled: bool) -> None:
    before = load(where.hooks_file)
    folder = plugin_files.write_plugin(paths.home, holdfast.__version__)
    if enabled:
        return
    program = host.find_program()
    commands = plugin_files.install_commands(paths.home, where.scope.value)
    result = (
        plugin_files.run_plugin_commands(program, commands)
        if program
        else plugin_files.CommandResult(False, "")
    )
    if not result.ok:
        typed = " && ".join(f"claude plugin {shlex.join(command)}" for command in commands)
        why = f"Claude Code said: {result.output}" if program else "`claude` is not on the path."
        raise InputError(f"The plugin lies in {folder}, but is not installed. {why}", typed)
    record, after = InstallRecord(paths.home), load(where.hooks_file)
    if record.is_untouched(where.hooks_file, before.raw):
        record.update(where.hooks_file, after.raw)
    else:
        record.add(where.hooks_file, before.raw, after.raw)


def _print_next_steps(screen: Screen, done: bool) -> None:
    if not done:
        return
    screen.title("Done. What happens next:")
    for what in (
        "From the next session of Claude Code on, what you say and what it does is kept, without "
        "secrets, in the background. Sessions that run now go on without.",
        "A session starts with a brief of what is known, and Claude can ask for more.",
    ):
        screen.item(f"- {what}", "  ")
    screen.line("  - `holdfast status` tells whether it works, `holdfast uninstall` undoes it.")


def _prepare_briefs(settings: Settings) -> None:
    """Let the very next session know what there is to know already."""
    with open_memory(settings, create=False) as memory:
        if memory.reader.banks.all():
            memory.briefs.prepare()


def _estimate(settings: Settings) -> tuple[int, int, int]:
    """The number of transcripts with something new, their bytes, and the seconds reading takes."""
    with open_memory(settings, create=False) as memory:
        if not memory.ingestion.default_inputs():
            return 0, 0, 0
        new = memory.ingestion.estimate(memory.ingestion.find([]))
    size = sum(count for _, count in new)
    seconds = size / _BYTES_PER_S / max(1, (os.cpu_count() or 1) / 2) + min(ingest.TURNS_S, 2)
    return len(new), size, round(seconds + 0.5)


def _offer_history(screen: Screen, settings: Settings, arguments: Arguments) -> None:
    files, size, seconds = _estimate(settings)
    if not files:
        return
    screen.line()
    screen.wrap(
        f"Your history: {number(files, 'transcript')} not read yet, {amount(size)}; reading "
        f"takes about {number(seconds, 'second')}, preparing search by meaning up to "
        f"{ingest.TURNS_S} more."
    )
    read_now: bool | None = arguments.ingest
    if read_now is None:
        read_now = confirm.is_interactive() and not arguments.yes and confirm.ask("Read it now?")
    if not read_now:
        screen.wrap(
            "It is read in the background from your next session on; `holdfast ingest` reads it "
            "at once."
        )
        return
    parser = Parser()
    ingest.configure(parser)
    ingest.run(screen, parser.parse_args([]))
