"""`holdfast setup`."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import holdfast
from holdfast.app.core.model_optin import choose_service
from holdfast.app.memory import open_memory
from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.hosts import agent_install
from holdfast.hosts.claude_code import install, plugin_files
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.config_file import InstallPlan, load
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.claude_code.permissions import tool_of
from holdfast.hosts.host import HoldfastCommand
from holdfast.hosts.registry import hosts
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.commands import ingest
from holdfast.interfaces.cli.ingest_progress import estimate_seconds, reading_time
from holdfast.interfaces.cli.model_offer import offer_model, warn_about_model
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.setup_summary import (
    Step,
    change_lines,
    print_changes,
    print_diffs,
    print_first_brief,
    short_path,
)
from holdfast.interfaces.mcp.servers import load_spec
from holdfast.operations.screen import Screen, amount, number
from holdfast.refine.ingest.discovery import default_folders, user_environment
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
    if arguments.agent == DEFAULT_AGENT:
        _set_up_claude_code(screen, settings, paths, arguments)
    elif _set_up_other_agent(screen, settings, paths, arguments):
        _prepare_briefs(settings)
        _read_history(screen, arguments, *_estimate(settings))


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
    service: str = arguments.models or settings.models.use
    if service != settings.models.use:
        steps.append(Step(short_path(paths.home / FILE_NAME), f"models.use = {service}"))
    history, size = _estimate(settings)
    if not arguments.json:
        told = size if history["files"] else ""
        _show(screen, plan, where, with_plugin, steps, told, arguments.dry_run)
    done = bool(plan.changes or steps) and not arguments.dry_run
    if done:
        allowed = _agree(screen, plan, arguments)
        if allowed is None:
            return
        plan = plan if allowed else plan_with(())
        install.prepare_home(paths, python)
        install.apply_install(paths.home, plan.changes, host.default_home())
        if with_plugin:
            _install_plugin(paths, where, enabled)
        if service != settings.models.use:
            choose_service(paths.home, service)
        _prepare_briefs(settings)
    if arguments.json:
        said = [f"{step.where}: {step.what}" for step in steps]
        more = {"allowed": _allowed(plan), "history": history}
        return screen.json({**_report(arguments, plan, said, done), **more})
    if arguments.dry_run:
        return screen.line("Nothing was changed.")
    _read_history(screen, arguments, history, size)
    _finish(screen, settings, arguments, done, with_plugin)


def _tools_to_allow(arguments: Arguments) -> list[str]:
    """The tools that only read, if they are to be allowed or the user can be asked about it."""
    allow: bool | None = arguments.allow_tools
    if allow is None:
        allow = arguments.yes or arguments.dry_run or confirm.is_interactive()
    return [tool.name for tool in load_spec().tools if not tool.writes] if allow else []


def _show(
    screen: Screen,
    plan: InstallPlan,
    where: host.SettingsFiles,
    with_plugin: bool,
    steps: Sequence[Step],
    history: str,
    with_diff: bool,
) -> None:
    whose = "all of your projects" if where.scope is host.Scope.USER else "this project"
    lines = [*change_lines(plan.changes, where, with_plugin), *steps]
    if lines:
        lines += [Step("your history", history)] if history else []
        title = f"Setup adds Holdfast to Claude Code, for {whose} (`holdfast uninstall` undoes it):"
        print_changes(screen, title, lines)
    else:
        screen.line(f"Claude Code is set up for {whose}: nothing to change.")
    if with_diff:
        screen.line()
        print_diffs(screen, plan.changes)
    for note in plan.notes:
        screen.note(note)


def _set_up_other_agent(
    screen: Screen, settings: Settings, paths: HomePaths, arguments: Arguments
) -> bool:
    """Set up an agent; returns whether to go on with the offer to read its history."""
    chosen = hosts()[arguments.agent]
    if arguments.scope != host.Scope.USER.value or arguments.plugin:
        raise InputError(
            f"{chosen.title} is set up for all of your projects at once.",
            "Leave out --scope and --plugin; in each project it asks the memory of that project.",
        )
    python = install.find_interpreter()
    ours = HoldfastCommand(python.path, python.flags, paths.home, paths.home == host.default_home())
    plan = agent_install.plan_install(chosen, user_environment(settings), ours)
    if shutil.which(chosen.program) is None:
        plan.notes.append(
            f"There is no command `{chosen.program}` here. What is set up now works as soon as "
            f"{chosen.title} is installed."
        )
    steps = [f"copy what hooks run to {paths.hooks}"] if _is_outdated(paths, python) else []
    done = bool(plan.changes or steps) and not arguments.dry_run
    if not arguments.json:
        print_diffs(screen, plan.changes)
        for step in steps:
            screen.item(f"will {step}")
        for note in plan.notes:
            screen.note(note)
    if done:
        if not confirm.confirm_change(screen, arguments.yes):
            return False
        install.prepare_home(paths, python)
        agent_install.apply_install(paths.home, plan.changes)
    if arguments.json:
        screen.json(_report(arguments, plan, steps, done))
        return False
    said = "" if plan.changes or steps else f"{chosen.title} is set up: nothing to change."
    if done:
        said = (
            f"Done. From its next session on {chosen.title} can ask this memory, and what is done "
            "with it is read in the background. `holdfast uninstall` undoes it."
        )
    screen.wrap(f"{said}\n{'Nothing was changed.' * arguments.dry_run}".strip())
    return not arguments.dry_run


def _report(
    arguments: Arguments, plan: InstallPlan, steps: list[str], done: bool
) -> dict[str, object]:
    """What was planned, and whether it was done."""
    changes = [{"path": str(change.file.path), "diff": change.diff} for change in plan.changes]
    report = {"agent": arguments.agent, "scope": arguments.scope, "changes": changes}
    return {**report, "steps": steps, "done": done, "notes": plan.notes}


def _allowed(plan: InstallPlan) -> list[str]:
    """The permission rules that a plan adds."""
    return [rule for change in plan.changes for rule in change.allowed]


def _agree(screen: Screen, plan: InstallPlan, arguments: Arguments) -> bool | None:
    """Ask the user; returns whether the tools may be allowed, and None if nothing may be done."""
    if not confirm.confirm_with_diff(
        screen, arguments.yes, lambda: print_diffs(screen, plan.changes)
    ):
        return None
    tools = list(map(tool_of, _allowed(plan)))
    if not tools or arguments.allow_tools or arguments.yes:
        return True
    names = ", ".join(tools)
    return confirm.ask(f"Let Claude use {names} without asking you each time? They only read.")


def _notes(
    settings: Settings, python: install.Interpreter, with_plugin: bool, where: host.SettingsFiles
) -> list[str]:
    user, home = user_environment(settings), HomePaths(settings.home).home
    ours = HoldfastCommand("", "", home, home == host.default_home())
    with_sessions = {agent.name for _, agent in default_folders(user)}
    notes = {
        f"Claude Code was not found here (no {settings.claude_dir}, no `claude` on the path). "
        "The hooks will work once it is installed.": not host.is_present(settings),
        f"Hooks will run the Holdfast at {python.other_copy}, not this one.": python.other_copy,
        f"{python.path} is in a temporary folder. Install Holdfast permanently, e.g. with "
        "pipx, and run setup again.": python.path.startswith(tempfile.gettempdir())
        or "/uv/archive-" in python.path,
        "Hooks and server are in the plugin, so they are not added to the settings.": with_plugin,
        **{
            f"{one.title} has sessions here as well: they are read too, and `holdfast setup "
            f"--agent {one.name}` lets it ask this memory.": one.name in with_sessions
            and not agent_install.is_installed(one, user, ours)
            for one in hosts().values()
        },
        f"{where.hooks_file} is for you only: do not commit it.": where.scope is host.Scope.PROJECT,
    }
    return [note for note, is_so in notes.items() if is_so]


def _is_outdated(paths: HomePaths, python: install.Interpreter) -> bool:
    return bool(install.outdated_files(paths, python)) or paths.inbox() is None


def _steps(
    paths: HomePaths,
    python: install.Interpreter,
    where: host.SettingsFiles,
    with_plugin: bool,
    enabled: bool,
) -> list[Step]:
    """What is done besides changing settings files."""
    steps: list[Step] = []
    if _is_outdated(paths, python):
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
    commands = plugin_files.install_commands(paths.home, where.scope.value)
    if problem := plugin_files.run_plugin_commands(commands):
        typed = " && ".join(f"claude plugin {shlex.join(command)}" for command in commands)
        raise InputError(f"The plugin is in {folder}, but is not installed: {problem}.", typed)
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


def _estimate(settings: Settings) -> tuple[dict[str, int], str]:
    """How many transcripts have something new, their bytes, and the seconds that reading takes; and
    the same in words."""
    with open_memory(settings, create=False) as memory:
        has_inputs = memory.ingestion.default_inputs()
        new = memory.ingestion.estimate(memory.ingestion.find([])) if has_inputs else []
    size = sum(count for _, count in new)
    seconds = estimate_seconds(size, os.cpu_count() or 1, ingest.TURNS_S) if new else 0
    words = f"{number(len(new), 'transcript')}, {amount(size)}"
    history = {"files": len(new), "bytes": size, "seconds": seconds}
    return history, f"{words}; reading takes {reading_time(seconds)}"


def _read_history(screen: Screen, arguments: Arguments, history: dict[str, int], size: str) -> None:
    if not history["files"]:
        return
    read_now: bool | None = arguments.ingest
    if read_now is None and not arguments.yes and confirm.is_interactive():
        read_now = confirm.ask(f"Read your history now? {size}.")
    if read_now or (read_now is None and arguments.yes):
        parser = Parser()
        ingest.configure(parser)
        ingest.run(screen, parser.parse_args([]), in_setup=True)
    else:
        screen.wrap(
            "Your history is read in the background of your next session, which starts without a "
            "brief; `holdfast ingest` reads it now."
        )


def _finish(
    screen: Screen, settings: Settings, arguments: Arguments, done: bool, with_plugin: bool
) -> None:
    """Show what the next session starts with, offer a model, and say how to go on."""
    with open_memory(settings, create=False) as memory:
        has_memory = print_first_brief(screen, memory)
    if arguments.models is None:
        offer_model(screen, settings, arguments.yes)
    else:
        warn_about_model(screen)
    if not done:
        return
    screen.title("Done.", "bold")
    screen.line("  - Start `claude`. Running sessions continue without Holdfast.")
    if not has_memory:
        screen.line("  - The memory is empty: your first session has no brief, the second one has.")
    screen.line("  - `holdfast status` shows whether it works.")
    if with_plugin:
        screen.line("  - In a session: `/holdfast:brief`, `/holdfast:ask`, `/holdfast:remember`.")
    else:
        screen.line(
            "  - Ask Claude about earlier work in your own words. `/holdfast:ask`, "
            "`/holdfast:remember`\n    and `/holdfast:brief` come with `holdfast setup --plugin`."
        )
