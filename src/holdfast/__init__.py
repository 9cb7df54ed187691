"""Holdfast: a memory for coding agents that a professional can trust.

The names below are looked up when they are first used, so that importing one part of the
package does not import them all.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.app.memory import Holdfast, open_memory
    from holdfast.errors import HoldfastError, InputError, StoreError
    from holdfast.settings import Settings, load_settings

__version__ = "0.1.0"

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

_HOMES = {
    "Holdfast": "app.memory",
    "HoldfastError": "errors",
    "InputError": "errors",
    "Settings": "settings",
    "StoreError": "errors",
    "load_settings": "settings",
    "open_memory": "app.memory",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
