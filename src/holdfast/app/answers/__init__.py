"""Answering questions. Start with `answers.Answers`, the part of the facade, then `ask`, which
runs one question step by step, and `research_sessions`, which logs it. `memory_agent` lets a
model answer by the tools of `memory_tools`.

`memory_tools` and `search_tools` answer for the servers `holdfast mcp memory` and `holdfast mcp
search`. Both are a `ReadOnlyMemory`; `*_tool_list` describes their tools, `*_tool_results` the
JSON that they return, and `tool` is what all tools share.
"""
