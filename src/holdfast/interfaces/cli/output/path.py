"""`holdfast show --path`: one record from the facts above it down to the raw lines."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.to_json import to_jsonable
from holdfast.recall.lookup.path import Path, PathStep

# How deep a step is indented: facts least, raw lines most.
_INDENT_BY_LEVEL = {"L4": 0, "L3": 1, "L2": 2, "L1": 3, "raw": 4}


def run(screen: Screen, uri: str, bank: str | None, json: bool) -> None:
    """Print the path through a record."""
    with open_memory(create=False) as memory:
        found = memory.browse.path(uri, bank)
    if json:
        screen.json(found)
    else:
        _print(screen, found)


def _print(screen: Screen, found: Path) -> None:
    for step in found.up:
        _print_step(screen, step)
    _print_step(screen, found.here, "bold")
    for step in found.down:
        _print_step(screen, step)
    for kind, count in found.left_out.items():
        screen.line(f"and {number(count, kind)} more", "dim")


def _print_step(screen: Screen, step: PathStep, *styles: str) -> None:
    indent = "  " * _INDENT_BY_LEVEL.get(step.level, 0)
    if step.kind == "line":
        state = "" if step.state == "present" else f" ({step.state})"
        screen.line(f"{indent}{step.path}:{step.line}{state}")
        return
    name = screen.paint(step.uri, "cyan")
    head = f"{indent}{step.level:<3} {day(step.time)} "
    title = truncate(step.title, max(20, screen.width - len(head) - len(step.uri) - 2))
    screen.line(f"{head}{screen.paint(title, *styles) if styles else title}  {name}")
