"""The server `holdfast mcp`: its tools, and the engine that answers them, imported at first use."""

from __future__ import annotations

from holdfast.interfaces.mcp.main_tools import INSTRUCTIONS, TOOLS
from holdfast.interfaces.mcp.server_spec import Engine, ServerSpec


def _make_engine() -> Engine:
    from holdfast.interfaces.mcp.main_engine import make_engine

    return make_engine()


SPEC = ServerSpec(
    name="holdfast",
    title="Holdfast",
    instructions=INSTRUCTIONS,
    tools=TOOLS,
    make_engine=_make_engine,
    slow_tools=frozenset({"memory", "memory_reflect", "team_query"}),
    always_load=True,
)
