"""Holdfast: a memory for coding agents that a professional can trust.

The names below are looked up when they are first used, so that importing one part of the
package does not import them all.
"""

from __future__ import annotations

from holdfast.version import __version__

# Not that of `typing`, whose import takes longer than all else that a hook or a server does at its
# start; type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.errors import HoldfastError, InputError, StoreError
    from holdfast.interfaces.python import Holdfast, open_memory
    from holdfast.settings import Settings, load_settings


__all__ = [
    "Holdfast",
    "HoldfastError",
    "InputError",
    "Settings",
    "StoreError",
    "__version__",
    "load_settings",
    "open_memory",
]


def __getattr__(name: str) -> object:
    if name in ("Holdfast", "open_memory"):
        from holdfast.interfaces import python

        return getattr(python, name)
    if name in ("Settings", "load_settings"):
        from holdfast import settings

        return getattr(settings, name)
    if name in ("HoldfastError", "InputError", "StoreError"):
        from holdfast import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
