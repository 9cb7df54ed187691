"""Regular expressions that are compiled on first use.

Compiling all patterns that a question might need takes as long as starting Python; a question needs
few of them.
"""

from __future__ import annotations

import re
from functools import cached_property

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any, AnyStr


class LazyPattern:
    """A pattern that is compiled when one of its methods is first used. The method then becomes
    an attribute, so that only the first use costs anything."""

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self._pattern, name)
        setattr(self, name, found)
        return found

    @cached_property
    def _pattern(self) -> re.Pattern[Any]:
        return re.compile(*self._arguments)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A lazy `re.compile`, for patterns that are used through their methods."""
    lazy: Any = LazyPattern(pattern, flags)
    return lazy
