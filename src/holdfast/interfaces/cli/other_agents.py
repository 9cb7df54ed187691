"""The part of `setup` and `uninstall` for agents other than Claude Code."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from holdfast.capture.home_paths import HomePaths
from holdfast.errors import InputError
from holdfast.hosts import agent_install
from holdfast.hosts.claude_code import install
from holdfast.hosts.claude_code import locations as host
from holdfast.hosts.claude_code.config_file import InstallPlan
from holdfast.hosts.host import HoldfastCommand
from holdfast.hosts.registry import hosts
from holdfast.interfaces.cli import confirm
from holdfast.interfaces.cli.parser import Arguments
from holdfast.operations.screen import Screen
from holdfast.refine.ingest.discovery import default_folders, user_environment
from holdfast.settings import Settings
from holdfast.sources.registry import DEFAULT_AGENT


def set_up(screen: Screen, settings: Settings, paths: HomePaths, arguments: Arguments) -> bool:
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
    stale = install.outdated_files(paths, python) or paths.inbox() is None
    steps = [f"copy what hooks run to {paths.hooks}"] if stale else []
    done = False
    if not arguments.json:
        show(screen, plan, steps)
        if not plan.changes and not steps:
            screen.line(f"{chosen.title} is set up: nothing to change.")
    if (plan.changes or steps) and not arguments.dry_run:
        if not confirm.confirm_change(screen, arguments.yes):
            return False
        install.prepare_home(paths, python)
        agent_install.apply_install(paths.home, plan.changes)
        done = True
    if arguments.json:
        screen.json(report_json(arguments, plan, steps, done))
        return False
    if arguments.dry_run:
        screen.line("Nothing was changed.")
        return False
    if done:
        screen.line()
        screen.wrap(
            f"Done. From its next session on {chosen.title} can ask this memory, and what is done "
            "with it is read in the background. `holdfast uninstall` undoes it."
        )
    return True


def report_json(
    arguments: Arguments, plan: InstallPlan, steps: list[str], done: bool
) -> dict[str, object]:
    """What was planned, and whether it was done."""
    changes = [{"path": str(change.file.path), "diff": change.diff} for change in plan.changes]
    report = {"agent": arguments.agent, "scope": arguments.scope, "changes": changes}
    return {**report, "steps": steps, "done": done, "notes": plan.notes}


def also_here(settings: Settings) -> list[str]:
    """A note on each agent that has sessions on this machine and is not set up."""
    home = HomePaths(settings.home).home
    ours = HoldfastCommand("", "", home, home == host.default_home())
    where = user_environment(settings)
    there = {agent.name for _, agent in default_folders(where)}
    return [
        f"{one.title} has sessions here as well: they are read too, and `holdfast setup --agent "
        f"{one.name}` lets it ask this memory."
        for one in hosts().values()
        if one.name in there and not agent_install.is_installed(one, where, ours)
    ]


def leave(
    settings: Settings, paths: HomePaths, agent: str | None, scoped: bool
) -> tuple[InstallPlan, bool]:
    """What uninstalling changes for other agents (for the one named, or for all if neither an agent
    nor a scope was given), and whether another one stays set up."""
    ours = HoldfastCommand("", "", paths.home, paths.home == host.default_home())
    where = user_environment(settings)
    everyone = list(hosts().values())
    chosen = [] if scoped or agent == DEFAULT_AGENT else everyone
    if agent not in (None, DEFAULT_AGENT):
        chosen = [one for one in everyone if one.name == agent]
    rest = [one for one in everyone if one not in chosen]
    plan = agent_install.plan_uninstall(chosen, where, ours)
    return plan, any(agent_install.is_installed(one, where, ours) for one in rest)


def show(
    screen: Screen, plan: InstallPlan, steps: Sequence[str] = (), if_nothing: str = ""
) -> None:
    """Print the diffs, steps and notes of a plan; `if_nothing` where it changes nothing."""
    for change in plan.changes:
        screen.diff(change.diff)
    for step in steps:
        screen.item(f"will {step}")
    if if_nothing and not steps:
        screen.line(if_nothing)
    for note in plan.notes:
        screen.note(note)
