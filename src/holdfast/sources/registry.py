"""The agents there are: one module each in `sources/agents`, found by looking."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from holdfast.sources import agents as modules
from holdfast.sources.agent import Agent

# Whose lines are taken to be theirs where nothing tells.
FIRST = "claude-code"


@cache
def agents() -> dict[str, Agent]:
    """Every agent by its name, the first one first and the others by name."""
    found: list[Agent] = []
    for module in pkgutil.iter_modules(modules.__path__):
        loaded: Any = import_module(f"{modules.__name__}.{module.name}")
        found.append(loaded.AGENT)
    ranked = sorted(found, key=lambda agent: (agent.name != FIRST, agent.name))
    return {agent.name: agent for agent in ranked}
