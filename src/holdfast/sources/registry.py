"""Finds the agents: every module of `sources/agents` sets `AGENT`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from holdfast.sources import agents as modules
from holdfast.sources.agent import Agent

# Lines whose agent is unknown are read as this one's.
DEFAULT_AGENT = "claude-code"


@cache
def agents() -> dict[str, Agent]:
    """Every agent by its name: the default one first, the others sorted."""
    found: list[Agent] = []
    for module in pkgutil.iter_modules(modules.__path__):
        loaded: Any = import_module(f"{modules.__name__}.{module.name}")
        found.append(loaded.AGENT)
    ranked = sorted(found, key=lambda agent: (agent.name != DEFAULT_AGENT, agent.name))
    return {agent.name: agent for agent in ranked}
