"""Waiting for something to happen, instead of guessing how long it takes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Long enough for the slowest machine under load: a test that passes does not wait for it.
TIMEOUT_S = 60.0


def wait_until(
    condition: Callable[[], T], what: str, timeout_s: float = TIMEOUT_S, every_s: float = 0.01
) -> T:
    """Ask until the answer is true, and return it; fail with `what` after `timeout_s`."""
    give_up = time.monotonic() + timeout_s
    while not (answer := condition()):
        if time.monotonic() >= give_up:
            raise AssertionError(f"Waited {timeout_s:g} s until {what}; the last answer: {answer}")
        time.sleep(every_s)
    return answer


async def wait_until_async(
    condition: Callable[[], T], what: str, timeout_s: float = TIMEOUT_S, every_s: float = 0.01
) -> T:
    """The same in a coroutine: whatever else runs in its loop goes on meanwhile."""
    give_up = time.monotonic() + timeout_s
    while not (answer := condition()):
        if time.monotonic() >= give_up:
            raise AssertionError(f"Waited {timeout_s:g} s until {what}; the last answer: {answer}")
        await asyncio.sleep(every_s)
    return answer
