"""Finds the agents: every module of `sources/agents` sets `AGENT`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from holdfast.sources import agents as modules
from holdfast.sources.agent import Agent

# Lines whose agent is unknown are read as this one's.
DEFAULT_AGENT = "claude-code"


@cache
def agents() -> dict[str, Agent]:
    """Every agent by its name: the default one first, the others sorted."""
    found: list[Agent] = load_all(modules, "AGENT")
    ranked = sorted(found, key=lambda agent: (agent.name != DEFAULT_AGENT, agent.name))
    return {agent.name: agent for agent in ranked}


def load_all(package: ModuleType, name: str) -> list[Any]:
    """What each module of a package sets under a name."""
    paths = [
        f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)
    ]
    return [getattr(import_module(path), name) for path in paths]
