"""Installs Holdfast into agents, and removes it again: hooks, MCP server, plugin.

`claude_code` is Claude Code, which has hooks for all events. The other agents share `host` (what
goes into an agent's settings) and `agent_install` (how it is written and undone); each is one
module in `others`. A settings file keeps every byte that is not ours.
"""
