"""`holdfast show --path`: one record from the facts above it down to the raw lines."""

from __future__ import annotations

from holdfast.app.memory import open_memory
from holdfast.interfaces.cli.screen import Screen, day, number
from holdfast.language import truncate
from holdfast.model.to_json import to_jsonable
from holdfast.recall.lookup.path import Path, PathStep

_DEPTHS = {"L4": 0, "L3": 1, "L2": 2, "L1": 3, "raw": 4}


def run(screen: Screen, uri: str, bank: str | None, json: bool) -> int:
    """Print the path through a record."""
    with open_memory(create=False) as memory:
        found = memory.browse.path(uri, bank)
    if json:
        screen.json(to_jsonable(found))
    else:
        _print(screen, found)
    return 0


def _print(screen: Screen, found: Path) -> None:
    for rung in found.up:
        _print_rung(screen, rung)
    _print_rung(screen, found.here, "bold")
    for rung in found.down:
        _print_rung(screen, rung)
    for kind, count in found.left_out.items():
        screen.line(screen.paint(f"and {number(count, kind)} more", "dim"))


def _print_rung(screen: Screen, rung: PathStep, *styles: str) -> None:
    indent = "  " * _DEPTHS.get(rung.level, 0)
    if rung.kind == "line":
        state = "" if rung.state == "present" else f" ({rung.state})"
        screen.line(f"{indent}{rung.path}:{rung.line}{state}")
        return
    name = screen.paint(rung.uri, "cyan")
    head = f"{indent}{rung.level:<3} {day(rung.time)} "
    title = truncate(rung.title, max(20, screen.width - len(head) - len(rung.uri) - 2))
    screen.line(f"{head}{screen.paint(title, *styles) if styles else title}  {name}")
