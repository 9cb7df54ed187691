"""`holdfast` alone: where you stand, and the one next step."""

from __future__ import annotations

from holdfast.app.status.health import ago, current_folder
from holdfast.app.status.next_step import Overview, gather_overview
from holdfast.operations.screen import Screen, number
from holdfast.settings import load_settings

# The width of the column with the names of the lines.
_NAME_COLUMN_WIDTH = 14


def run(screen: Screen, as_json: bool) -> None:
    """Print the overview; changes nothing."""
    overview = gather_overview(load_settings(), current_folder())
    if as_json:
        screen.json(overview)
    else:
        show(screen, overview)


def show(screen: Screen, overview: Overview) -> None:
    """Print the state of capture and memory, and the next step."""
    screen.line(f"{screen.paint(f'Holdfast {overview.version}', 'bold')} at {overview.home}")
    screen.line()
    colour = {"works": "green", "broken": "red"}.get(overview.capture.state, "yellow")
    lines = {
        "capture": screen.paint(overview.capture.sentence, colour),
        "memory": _describe_memory(overview),
        "this folder": f"bank {overview.bank}" if overview.bank else "no memory of its own yet",
        "last event": ago(overview.last_event) if overview.last_event else "none yet",
        "worker": overview.worker,
    }
    for name, text in lines.items():
        screen.wrap(text, f"  {name:<{_NAME_COLUMN_WIDTH}}", " " * (_NAME_COLUMN_WIDTH + 2))
    screen.title(f"Next:  {screen.paint(overview.next.command, 'bold')}")
    screen.wrap(overview.next.why, "       ")
    screen.title("More commands: holdfast --help. Details: holdfast status.")


def _describe_memory(overview: Overview) -> str:
    counts = overview.counts
    if overview.problem:
        return "cannot be opened"
    if counts is None or not any(counts):
        found = number(overview.unread, "transcript")
        return f"nothing yet; {found} on this machine could be read" if overview.unread else "empty"
    counted = {"session": counts.sessions, "turn": counts.turns, "commit": counts.commits}
    parts = [number(count, noun) for noun, count in counted.items() if count] or ["a few notes"]
    return f"{', '.join(parts)} in {number(overview.banks, 'bank')}"
