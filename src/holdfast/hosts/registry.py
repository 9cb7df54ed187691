"""Finds the agents that can be configured: every module of `hosts/others` sets `HOST`."""

from __future__ import annotations

from functools import cache

from holdfast.hosts import others
from holdfast.hosts.host import Host
from holdfast.sources.registry import load_all


@cache
def hosts() -> dict[str, Host]:
    """Every agent by its name."""
    found: list[Host] = load_all(others, "HOST")
    return {host.name: host for host in sorted(found, key=lambda host: host.name)}
