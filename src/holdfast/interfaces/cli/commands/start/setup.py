"""`holdfast setup`."""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

import holdfast
from holdfast.app.core.model_optin import choose_service
from holdfast.app.memory import open_memory
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.hosts.claude_code import install, plugin_files
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.config_file import InstallPlan, load
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.claude_code.permissions import tool_of
from holdfast.hosts.registry import hosts
from holdfast.interfaces.cli import confirm, options, other_agents
from holdfast.interfaces.cli.commands.start import ingest
from holdfast.interfaces.cli.ingest_progress import estimate_seconds
from holdfast.interfaces.cli.model_offer import offer_model, warn_about_model
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.setup_summary import (
    History,
    Step,
    change_lines,
    print_changes,
    print_first_brief,
    short_path,
)
from holdfast.interfaces.mcp.main_spec import TOOLS
from holdfast.operations.screen import Screen
from holdfast.settings import FILE_NAME, SERVICES, Settings, load_settings
from holdfast.sources.registry import DEFAULT_AGENT

HELP = """\
Install the Claude Code hooks and the MCP server, or with --agent those of another agent
(docs/agents.md). From the next session on, sessions are recorded, and each starts with a
brief of what is known. Shows the changes, asks, keeps backups; `holdfast uninstall` undoes
it. Offers to allow the read-only memory tools in Claude Code's permissions, and to read
your history. Run it again after an upgrade; running it twice changes nothing.

It changes one or two of your settings files, and nothing in a repository. Claude Code's
own memory is not changed."""

EXAMPLES = """\
  holdfast setup --dry-run              only show what would change
  holdfast setup
  holdfast setup --scope project        only for the project of this folder
  holdfast setup --agent codex          for Codex CLI
  holdfast setup --plugin               as a plugin, with its commands and agents
  holdfast setup --models auto          let a model summarise sessions, within the configured limits
  holdfast setup --yes                  no questions; read your history now"""


def configure(parser: Parser) -> None:
    parser.choice(
        "--agent", [DEFAULT_AGENT, *hosts()], "which agent (default: claude-code)", DEFAULT_AGENT
    )
    parser.choice(
        "--scope",
        host.Scope,
        "for all your projects (user, the default), or for the project of this folder",
        host.Scope.USER,
    )
    parser.flag("--plugin", "install as a Claude Code plugin instead")
    parser.flag("--dry-run", "change nothing, show the diff")
    options.add(parser, "yes")
    parser.add_argument(
        "--allow-tools",
        action=argparse.BooleanOptionalAction,
        help="allow Claude Code to use the read-only memory tools without a permission "
        "prompt (default: ask in a terminal; yes with --yes)",
    )
    parser.add_argument(
        "--ingest",
        action=argparse.BooleanOptionalAction,
        help="read your history now (default: ask in a terminal; yes with --yes)",
    )
    parser.choice(
        "--models",
        SERVICES,
        "which model service may summarise sessions (default: none)",
        None,
    )
    options.add(parser, "json")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    paths = HomePaths(Path(os.path.abspath(settings.home)))  # noqa: PTH100 - links stay
    if arguments.agent != DEFAULT_AGENT:
        if other_agents.set_up(screen, settings, paths, arguments):
            _prepare_briefs(settings)
            _read_history(screen, arguments, _estimate(settings))
    else:
        _set_up_claude_code(screen, settings, paths, arguments)


def _set_up_claude_code(
    screen: Screen, settings: Settings, paths: HomePaths, arguments: Arguments
) -> None:
    where = host.settings_files(settings, host.Scope(arguments.scope), Path.cwd())
    python = install.find_interpreter()
    enabled = plugin_files.is_enabled(where.hooks_file)
    with_plugin: bool = arguments.plugin or enabled

    def plan_with(tools: Sequence[str]) -> InstallPlan:
        usual = host.default_home()
        return install.plan_install(paths.home, where, python, usual, with_plugin, tools)

    plan = plan_with(_tools_to_allow(arguments))
    plan.notes += _notes(settings, python, with_plugin, where)
    steps = _steps(paths, python, where, with_plugin, enabled)
    new_service = _new_service(settings, arguments)
    if new_service:
        steps.append(Step(short_path(paths.home / FILE_NAME), f"models.use = {new_service}"))
    history = _estimate(settings)
    if not arguments.json:
        _show(screen, plan, where, with_plugin, steps, history, arguments.dry_run)
    done = bool(plan.changes or steps) and not arguments.dry_run
    if done:
        allow = _agree(screen, plan, arguments)
        if allow is None:
            return
        plan = plan if allow else plan_with(())
        install.prepare_home(paths, python)
        install.apply_install(paths.home, plan.changes, host.default_home())
        if with_plugin:
            _install_plugin(paths, where, enabled)
        if new_service:
            choose_service(paths.home, new_service)
        _prepare_briefs(settings)
    if arguments.json:
        said = [f"{step.where}: {step.what}" for step in steps]
        report = other_agents.report_json(arguments, plan, said, done)
        screen.json({**report, "allowed": _allowed(plan), "history": history._asdict()})
    else:
        _finish(screen, settings, arguments, history, done, with_plugin)


def _finish(
    screen: Screen,
    settings: Settings,
    arguments: Arguments,
    history: History,
    done: bool,
    with_plugin: bool,
) -> None:
    """Read the history and show what the next session starts with."""
    if arguments.dry_run:
        screen.line("Nothing was changed.")
        return
    _read_history(screen, arguments, history)
    with open_memory(settings, create=False) as memory:
        is_empty = print_first_brief(screen, memory) is None
    if arguments.models is None:
        offer_model(screen, settings, arguments.yes)
    else:
        warn_about_model(screen)
    if done:
        _tell_next_steps(screen, is_empty, with_plugin)


def _new_service(settings: Settings, arguments: Arguments) -> str:
    """The model service that `--models` chooses; "" if it is the one of the settings."""
    chosen: str | None = arguments.models
    return chosen if chosen is not None and chosen != settings.models.use else ""


def _allowed(plan: InstallPlan) -> list[str]:
    """The permission rules that a plan adds."""
    return [rule for change in plan.changes for rule in change.allowed]


def _tools_to_allow(arguments: Arguments) -> list[str]:
    """The tools that only read, if they are to be allowed or the user can be asked about it."""
    allow: bool | None = arguments.allow_tools
    if allow is None:
        allow = arguments.yes or arguments.dry_run or confirm.is_interactive()
    return [tool.name for tool in TOOLS if not tool.writes] if allow else []


def _show(
    screen: Screen,
    plan: InstallPlan,
    where: host.SettingsFiles,
    with_plugin: bool,
    steps: Sequence[Step],
    history: History,
    with_diff: bool,
) -> None:
    whose = "all of your projects" if where.scope is host.Scope.USER else "this project"
    if not plan.changes and not steps:
        screen.line(f"Claude Code is set up for {whose}: nothing to change.")
    else:
        lines = change_lines(plan.changes, where, with_plugin, steps, history)
        title = f"Setup adds Holdfast to Claude Code, for {whose} (`holdfast uninstall` undoes it):"
        print_changes(screen, title, lines)
    if with_diff:
        screen.line()
        _print_diffs(screen, plan)
    for note in plan.notes:
        screen.note(note)


def _print_diffs(screen: Screen, plan: InstallPlan) -> None:
    for change in plan.changes:
        screen.diff(change.diff)


def _agree(screen: Screen, plan: InstallPlan, arguments: Arguments) -> bool | None:
    """Ask the user; returns whether the tools may be allowed, and None if nothing may be done."""
    if arguments.yes:
        return True
    question = "Go ahead?"
    if not confirm.is_interactive():
        return True if confirm.confirm_change(screen, False, question) else None
    if not confirm.ask_or_show(question, lambda: _print_diffs(screen, plan)):
        screen.line(confirm.NOTHING_CHANGED)
        return None
    tools = list(map(tool_of, _allowed(plan)))
    if not tools or arguments.allow_tools:
        return True
    names = ", ".join(tools)
    return confirm.ask(f"Let Claude use {names} without asking you each time? They only read.")


def _notes(
    settings: Settings, python: install.Interpreter, with_plugin: bool, where: host.SettingsFiles
) -> list[str]:
    notes: list[str] = []
    if not host.is_present(settings):
        notes.append(
            f"Claude Code was not found here (no {settings.claude_dir}, no `claude` on the path). "
            "The hooks will work once it is installed."
        )
    if python.other_copy:
        notes.append(f"Hooks will run the Holdfast at {python.other_copy}, not this one.")
    if python.path.startswith(tempfile.gettempdir()) or "/uv/archive-" in python.path:
        notes.append(
            f"{python.path} is in a temporary folder. Install Holdfast permanently, e.g. with "
            "pipx, and run setup again."
        )
    if with_plugin:
        notes.append("Hooks and server are in the plugin, so they are not added to the settings.")
    notes += other_agents.also_here(settings)
    if where.scope is host.Scope.PROJECT:
        notes.append(f"{where.hooks_file} is for you only: do not commit it.")
    return notes


def _steps(
    paths: HomePaths,
    python: install.Interpreter,
    where: host.SettingsFiles,
    with_plugin: bool,
    enabled: bool,
) -> list[Step]:
    """What is done besides changing settings files."""
    steps: list[Step] = []
    if install.outdated_files(paths, python) or paths.inbox() is None:
        steps.append(Step(short_path(paths.hooks), "the scripts that hooks run"))
    if with_plugin and not plugin_files.is_current(paths.home):
        folder = plugin_files.marketplace_folder(paths.home)
        steps.append(Step(short_path(folder), "the plugin: hooks, MCP server, commands, agents"))
    if with_plugin and not enabled:
        for command in plugin_files.install_commands(paths.home, where.scope.value):
            steps.append(Step("command", f"claude plugin {shlex.join(command)}"))
    return steps


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
        raise InputError(f"The plugin is in {folder}, but is not installed. {why}", typed)
    record, after = InstallRecord(paths.home), load(where.hooks_file)
    if record.is_untouched(where.hooks_file, before.raw):
        record.update(where.hooks_file, after.raw)
    else:
        record.add(where.hooks_file, before.raw, after.raw)


def _prepare_briefs(settings: Settings) -> None:
    """Let the very next session know what there is to know already."""
    with open_memory(settings, create=False) as memory:
        if memory.reader.banks.all():
            memory.briefs.prepare()


def _estimate(settings: Settings) -> History:
    """The transcripts with something new, their bytes, and the seconds reading takes."""
    with open_memory(settings, create=False) as memory:
        if not memory.ingestion.default_inputs():
            return History()
        new = memory.ingestion.estimate(memory.ingestion.find([]))
    size = sum(count for _, count in new)
    return History(len(new), size, estimate_seconds(size, os.cpu_count() or 1, ingest.TURNS_S))


def _read_history(screen: Screen, arguments: Arguments, history: History) -> None:
    if not history.files:
        return
    read_now: bool | None = arguments.ingest
    if read_now is None and confirm.is_interactive() and not arguments.yes:
        read_now = confirm.ask(f"Read your history now? {history.summary}.")
    if read_now or (read_now is None and arguments.yes):
        parser = Parser()
        ingest.configure(parser)
        ingest.run(screen, parser.parse_args([]), in_setup=True)
    else:
        screen.wrap(
            "Your history is read in the background of your next session, which starts without a "
            "brief; `holdfast ingest` reads it now."
        )


def _tell_next_steps(screen: Screen, is_empty: bool, with_plugin: bool) -> None:
    screen.title("Done.", "bold")
    screen.line("  - Start `claude`. Running sessions continue without Holdfast.")
    if is_empty:
        screen.line("  - The memory is empty: your first session has no brief, the second one has.")
    screen.line("  - `holdfast status` shows whether it works.")
    if with_plugin:
        screen.line("  - In a session: `/holdfast:brief`, `/holdfast:ask`, `/holdfast:remember`.")
    else:
        screen.line(
            "  - Ask Claude about earlier work in your own words. `/holdfast:ask`, "
            "`/holdfast:remember`\n    and `/holdfast:brief` come with `holdfast setup --plugin`."
        )
