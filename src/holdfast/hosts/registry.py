"""Finds the agents that can be configured: every module of `hosts/others` sets `HOST`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from holdfast.hosts import others
from holdfast.hosts.host import Host


@cache
def hosts() -> dict[str, Host]:
    """Every agent by its name."""
    found: list[Host] = []
    for module in pkgutil.iter_modules(others.__path__):
        loaded: Any = import_module(f"{others.__name__}.{module.name}")
        found.append(loaded.HOST)
    return {host.name: host for host in sorted(found, key=lambda host: host.name)}
