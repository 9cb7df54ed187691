"""Waiting for something to happen, instead of guessing how long it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Long enough for the slowest machine under load: a test that passes does not wait for it.
TIMEOUT_S = 60.0
# A question that itself takes long (a connection to a server, a look at all processes) is followed
# by a longer pause: waiting is not to keep the processor from what is waited for.
_PAUSE_TO_ASKING = 4
_MAX_PAUSE_S = 0.25


def wait_until(
    condition: Callable[[], T], what: str, timeout_s: float = TIMEOUT_S, every_s: float = 0.01
) -> T:
    """Ask until the answer is true, and return it; fail with `what` after `timeout_s`."""
    asked = time.monotonic()
    give_up = asked + timeout_s
    while not (answer := condition()):
        answered = time.monotonic()
        if answered >= give_up:
            raise AssertionError(f"Waited {timeout_s:g} s until {what}; the last answer: {answer}")
        time.sleep(pause_after(answered - asked, every_s))
        asked = time.monotonic()
    return answer


def pause_after(asking_s: float, every_s: float) -> float:
    """How long to wait after a question that took so long, which is asked `every_s` at most."""
    return max(every_s, min(_PAUSE_TO_ASKING * asking_s, _MAX_PAUSE_S))


async def wait_until_async(
    condition: Callable[[], T], what: str, timeout_s: float = TIMEOUT_S, every_s: float = 0.01
) -> T:
    """The same in a coroutine: whatever else runs in its loop goes on meanwhile."""
    asked = time.monotonic()
    give_up = asked + timeout_s
    while not (answer := condition()):
        answered = time.monotonic()
        if answered >= give_up:
            raise AssertionError(f"Waited {timeout_s:g} s until {what}; the last answer: {answer}")
        await asyncio.sleep(pause_after(answered - asked, every_s))
        asked = time.monotonic()
    return answer


def wait_out_midnight(needed_s: float = 180.0) -> None:
    """Return at once, or after midnight (UTC) where it is nearer than `needed_s`: for tests in
    which other processes count what was done today."""
    left_s = seconds_to_midnight(time.time())
    if left_s < needed_s:
        time.sleep(left_s + 1)


def seconds_to_midnight(now_s: float) -> float:
    """How long the day of a moment still lasts, in UTC."""
    return 86_400 - now_s % 86_400
