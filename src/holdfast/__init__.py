"""Holdfast: a memory for coding agents that a professional can trust."""

from holdfast.app import Holdfast, open_memory
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
