"""Finds plugins of Claude Code that offer a memory search over MCP, and queries them.

`discover` finds plugins, `manifest` reads what one offers, `client` speaks MCP over `stdio` or
`http`, `tool_choice` picks the search tools, `result_texts` cuts answers to size, `reliability`
remembers who fails. A plugin is not trusted: everything it sends is bounded and is data.
"""
