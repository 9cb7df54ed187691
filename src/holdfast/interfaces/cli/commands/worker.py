"""`holdfast worker`."""

from __future__ import annotations

import sys

from holdfast.app.background.runner import WorkerOptions, WorkerOutcome
from holdfast.app.background.worker import log_error, lower_priority, run_worker
from holdfast.errors import HoldfastError
from holdfast.interfaces.cli.parser import Arguments, Parser
from holdfast.interfaces.cli.progress import Progress
from holdfast.operations.screen import Screen, number
from holdfast.settings import load_settings

HELP = """\
Run the background work now: process hook events, read transcripts, embed for search by
meaning, and clean up. Hooks start the worker by themselves; run by hand it shows what it
does and retries at once what has failed.

Each memory has at most one worker at a time. It exits when there is nothing left to do."""

EXAMPLES = "  holdfast worker"


def configure(parser: Parser) -> None:
    parser.flag(
        "--nudged", "as hooks start it: silent, at low priority, with pauses after failures"
    )


def run(screen: Screen, arguments: Arguments) -> int:
    settings = load_settings()
    if arguments.nudged:
        lower_priority()
        try:
            run_worker(settings, WorkerOptions(respect_retry_times=True))
        except HoldfastError as error:
            log_error(settings, error)
        return 0
    return _by_hand(screen)


def _by_hand(screen: Screen) -> int:
    bars: dict[str, Progress] = {}

    def show_progress(what: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            bar = bars.setdefault(what, Progress(what, lambda count: f"{count:,}"))
            bar(done, total)

    def print_step(step: str, what: str) -> None:
        while bars:
            bars.popitem()[1].finish()
        screen.line(f"{step}: {what}")

    manner = WorkerOptions(
        start_delay_s=0, linger_s=0, on_step_done=print_step, on_progress=show_progress
    )
    text, status = describe_outcome(run_worker(load_settings(), manner))
    screen.line(text)
    return status


def describe_outcome(outcome: WorkerOutcome) -> tuple[str, int]:
    """What a run came to, for people, and the exit status."""
    if outcome.passes is None:
        return "Another worker is running; nothing to do.", 0
    if outcome.failed:
        failed = ", ".join(outcome.failed)
        return f"Not done: {failed}. `holdfast doctor` looks for the cause.", 1
    passes = number(outcome.passes, "pass", "passes")
    if outcome.stopped:
        return f"Stopped after {passes}. The next `holdfast worker` does the rest.", 1
    return f"Everything is done ({passes}).", 0
