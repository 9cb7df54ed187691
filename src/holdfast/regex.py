"""Regular expressions that are compiled when they are first used.

To compile all that a question might need takes as long as to start Python; it needs few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Later:
    """Stands for a compiled pattern. What was once asked of it is an attribute from then on, so
    only the first time costs anything."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, for all that is done by its methods."""
    return cast(Any, _Later(pattern, flags))
