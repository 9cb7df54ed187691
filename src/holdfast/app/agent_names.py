"""Whose sessions are meant, where somebody names an agent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from holdfast.errors import InputError


def agent_named(name: str) -> str:
    """The name as sessions have it, "" for any; the readers of all agents are loaded only if one is
    named."""
    wanted = name.strip().lower()
    if not wanted:
        return ""
    registry: Any = import_module("holdfast.sources.registry")
    dialogues: Any = import_module("holdfast.sources.conversation")
    known = [*registry.agents(), dialogues.AGENT]
    if wanted not in known:
        raise InputError(f"There is no agent {name!r}.", f"One of: {', '.join(known)}.")
    return wanted
