"""`holdfast uninstall`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.hosts import agent_install
from holdfast.hosts.claude_code import install, plugin_files, uninstall
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.config_file import InstallPlan, load, save
from holdfast.hosts.claude_code.install_record import InstallRecord
from holdfast.hosts.host import HoldfastCommand
from holdfast.hosts.registry import hosts
from holdfast.interfaces.cli import confirm, options
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.setup_summary import (
    Step,
    print_changes,
    print_diffs,
    removal_lines,
    short_path,
)
from holdfast.operations.screen import Screen, number
from holdfast.refine.ingest.discovery import user_environment
from holdfast.settings import Settings, load_settings
from holdfast.sources.registry import DEFAULT_AGENT

HELP = """\
Remove the hooks, the MCP server, permissions and plugin from Claude Code, and from every other
agent that setup was run for. Settings files are restored byte for byte; where they were
changed since, only Holdfast's entries are removed. The memory stays, unless you give --data."""

EXAMPLES = """\
  holdfast uninstall --dry-run
  holdfast uninstall
  holdfast uninstall --scope project    only from the project of this folder
  holdfast uninstall --agent codex      only from this agent
  holdfast uninstall --data             and delete the memory"""


def configure(parser: Parser) -> None:
    parser.choice("--agent", [DEFAULT_AGENT, *hosts()], "only from this agent", None)
    parser.choice(
        "--scope",
        host.Scope,
        "only this scope (default: every scope that setup was run for)",
        None,
    )
    parser.flag("--data", "also delete the memory; this cannot be undone")
    parser.flag("--dry-run", "change nothing, show the diff")
    options.add(parser, "yes")


def run(screen: Screen, arguments: Arguments) -> None:
    settings = load_settings()
    paths = HomePaths(Path(os.path.abspath(settings.home)))  # noqa: PTH100 - links stay
    default = host.default_home()
    all_scopes = [host.settings_files(settings, scope, Path.cwd()) for scope in host.Scope]
    here = arguments.agent in (None, DEFAULT_AGENT)
    wheres = [w for w in all_scopes if here and arguments.scope in (None, w.scope.value)]
    rest = [where for where in all_scopes if where not in wheres]
    everything = here and arguments.scope is None
    plan = install.plan_uninstall(paths.home, wheres, everything, default)
    others, others_stay = _plan_other_agents(settings, paths, arguments)
    plugins = [where for where in wheres if plugin_files.is_enabled(where.hooks_file)]
    stays = (
        bool(install.installed_scopes(paths.home, rest, default))
        or any(plugin_files.is_enabled(where.hooks_file) for where in rest)
        or others_stay
    )
    if stays and arguments.data:
        raise InputError(
            "Another scope or agent still uses this memory.",
            "Leave out --scope and --agent to remove it everywhere.",
        )
    parts = [] if stays else uninstall.hook_parts(paths)
    parts += uninstall.data_parts(paths) if arguments.data else []
    lines = [Step(short_path(one.file.path), "Holdfast's entries") for one in others.changes]
    lines += removal_lines(plan.changes)
    lines += [Step(plugin_files.ID, f"the plugin ({where.scope.value})") for where in plugins]
    lines += [Step(short_path(part), "deleted") for part in parts]
    _print_plan(screen, lines, uninstall.unread_events(paths) if parts else 0, others.notes)
    changes = [*others.changes, *plan.changes]
    if arguments.dry_run:
        print_diffs(screen, changes)
    if not lines:
        return screen.line("Holdfast is not installed in any agent: nothing to change.")
    if arguments.dry_run:
        return screen.line("Nothing was changed.")
    question = "Remove all of this, and the memory with it?"
    agreed = (
        confirm.confirm_change(screen, arguments.yes, question, default=False)
        if arguments.data
        else confirm.confirm_with_diff(screen, arguments.yes, lambda: print_diffs(screen, changes))
    )
    if not agreed:
        return
    if arguments.data:
        uninstall.check_idle(paths)
    _remove_plugins(paths, plugins)
    agent_install.apply_uninstall(paths.home, others.changes)
    plan = install.plan_uninstall(paths.home, wheres, everything, default)
    install.apply_uninstall(paths.home, plan.changes, default)
    uninstall.remove(parts)
    _print_done(screen, paths, arguments.data, stays)


def _print_plan(screen: Screen, lines: Sequence[Step], unread: int, notes: Sequence[str]) -> None:
    if lines:
        print_changes(screen, "Uninstall removes:", lines)
    if unread:
        screen.note(
            f"The inbox has {number(unread, 'event')} that {'was' if unread == 1 else 'were'} not "
            "read yet and would be deleted too; `holdfast worker` reads the inbox. Transcripts "
            "are not deleted."
        )
    for note in notes:
        screen.note(note)


def _plan_other_agents(
    settings: Settings, paths: HomePaths, arguments: Arguments
) -> tuple[InstallPlan, bool]:
    """What uninstalling changes for other agents (for the one named, or for all if neither an agent
    nor a scope was given), and whether another one stays set up."""
    ours = HoldfastCommand("", "", paths.home, paths.home == host.default_home())
    where, agent = user_environment(settings), arguments.agent
    everyone = list(hosts().values())
    chosen = [one for one in everyone if agent == one.name]
    if agent is None and arguments.scope is None:
        chosen = everyone
    rest = [one for one in everyone if one not in chosen]
    plan = agent_install.plan_uninstall(chosen, where, ours)
    return plan, any(agent_install.is_installed(one, where, ours) for one in rest)


def _remove_plugins(paths: HomePaths, plugins: list[host.SettingsFiles]) -> None:
    """Uninstall the plugin with the Claude Code program, which rewrites the settings file; a file
    that nobody changed since setup gets its old bytes back."""
    record = InstallRecord(paths.home)
    for where in plugins:
        path = where.hooks_file
        untouched = record.is_untouched(path, load(path).raw)
        commands = plugin_files.uninstall_commands(where.scope.value)
        if problem := plugin_files.run_plugin_commands(commands):
            raise InputError(
                f"The plugin could not be removed: {problem}.",
                f"Run `claude plugin uninstall {plugin_files.ID}`, then this again.",
            )
        if untouched:
            save(load(path), record.before(path))
            record.forget(path, restored=True)


def _print_done(screen: Screen, paths: HomePaths, data: bool, stays: bool) -> None:
    if stays:
        screen.line("Done. Another scope or agent still uses this memory.")
        return
    gone = uninstall.remove_home(paths)
    if data:
        others = "" if gone else f" {paths.home} stays: it contains files of other programs."
        screen.line(f"Done. The memory is gone.{others}")
    elif gone:
        screen.line("Done. The memory was empty; nothing is left.")
    else:
        screen.line(f"Done. The memory stays in {paths.home}; `holdfast ask` still works.")
    screen.line("`holdfast setup` installs it again.")
