"""Which functions of the product run while a test watches, without replacing any of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from inspect import unwrap
from types import CodeType, FrameType
from typing import Any, NamedTuple, cast


class WatchedCall(NamedTuple):
    """A call that ended: the local variables of the function then, and what it returned. A
    generator is told once for each value that it gave, and once with None for its end."""

    function: str
    variables: dict[str, Any]
    returned: Any


@contextmanager
def watched_calls(*functions: Callable[..., object]) -> Generator[list[WatchedCall]]:
    """The calls of Python functions in this thread, and in those that are started meanwhile."""
    codes = {cast(CodeType, unwrap(function).__code__): function for function in functions}
    calls: list[WatchedCall] = []

    def note(frame: FrameType, event: str, returned: object) -> None:
        if event == "return" and frame.f_code in codes:
            calls.append(WatchedCall(frame.f_code.co_name, dict(frame.f_locals), returned))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
