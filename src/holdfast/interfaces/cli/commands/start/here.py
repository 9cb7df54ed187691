"""`holdfast` alone: where you stand, and the one next step."""

from __future__ import annotations

from holdfast.app.status.health import ago, current_folder
from holdfast.app.status.next_step import Overview, gather_overview
from holdfast.interfaces.cli.screen import Screen, number
from holdfast.settings import load_settings
from holdfast.store.protocol import Counts

_WIDTH = 14


def run(as_json: bool = False) -> int:
    """Say it. Nothing is made or changed."""
    screen, stand = Screen(), gather_overview(load_settings(), current_folder())
    if as_json:
        screen.json(stand)
    else:
        show(screen, stand)
    return 0


def show(screen: Screen, stand: Overview) -> None:
    """Print where somebody stands."""
    screen.line(f"{screen.paint(f'Holdfast {stand.version}', 'bold')} at {stand.home}")
    screen.line()
    colour = {"works": "green", "broken": "red"}.get(stand.capture.state, "yellow")
    screen.wrap(
        screen.paint(stand.capture.sentence, colour), f"  {'capture':<{_WIDTH}}", " " * (_WIDTH + 2)
    )
    told = {
        "memory": _memory(stand),
        "this folder": f"bank {stand.bank}" if stand.bank else "no memory of its own yet",
        "last event": ago(stand.last_event) if stand.last_event else "none yet",
        "worker": stand.worker,
        "last failure": _failure(stand),
    }
    for name, text in told.items():
        screen.wrap(text, f"  {name:<{_WIDTH}}", " " * (_WIDTH + 2))
    screen.line()
    screen.line(f"Next:  {screen.paint(stand.next.command, 'bold')}")
    screen.wrap(stand.next.why, "       ")
    screen.line()
    screen.line("All commands: holdfast --help. Where everything stands: holdfast status.")


def _memory(stand: Overview) -> str:
    counts = stand.counts
    if stand.problem:
        return "cannot be opened"
    if counts is None or not any(counts):
        found = number(stand.unread, "transcript")
        return f"nothing yet; {found} on this machine could be read" if stand.unread else "empty"
    return f"{_held(counts)} in {number(stand.banks, 'bank')}"


def _held(counts: Counts) -> str:
    held = {"session": counts.sessions, "turn": counts.turns, "commit": counts.commits}
    return ", ".join(number(count, noun) for noun, count in held.items() if count) or "a few notes"


def _failure(stand: Overview) -> str:
    if stand.failure is None:
        return "none known"
    return f"{ago(stand.failure.time)}: {stand.failure.what}"
