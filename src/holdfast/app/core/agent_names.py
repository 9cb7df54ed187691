"""The names of agents whose sessions a query may be limited to."""

from __future__ import annotations

from holdfast.errors import InputError


def check_agent_name(name: str) -> str:
    """The name in the spelling that sessions have, "" for ""; raises `InputError` for an unknown
    agent. The readers of all agents are imported only if there is a name."""
    wanted = name.strip().lower()
    if not wanted:
        return ""
    from holdfast.sources import conversation, registry

    known = [*registry.agents(), conversation.AGENT]
    if wanted not in known:
        raise InputError(f"There is no agent {name!r}.", f"One of: {', '.join(known)}.")
    return wanted
