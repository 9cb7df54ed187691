"""Whose sessions are meant, where somebody names an agent."""

from __future__ import annotations

from holdfast.errors import InputError


def check_agent_name(name: str) -> str:
    """The name as sessions have it, "" for any; the readers of all agents are loaded only if one is
    named."""
    wanted = name.strip().lower()
    if not wanted:
        return ""
    from holdfast.sources import conversation, registry

    known = [*registry.agents(), conversation.AGENT]
    if wanted not in known:
        raise InputError(f"There is no agent {name!r}.", f"One of: {', '.join(known)}.")
    return wanted
