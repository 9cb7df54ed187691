"""Answering questions. Start with `answers.Answers`, the part of the facade, then `ask`, which
runs one question step by step, and `research_sessions`, which logs it. `memory_agent` lets a
model answer by the tools of `access`. `access` and `index_search` are also what the MCP servers
offer; both are a `ReadOnlyMemory`, and their tools are described in `access_tools` and
`index_search_tools`.
"""
