"""Processes that run until they are stopped or have nothing left to do: the MCP server, the pages,
the team server with its keys, and the worker. They import their server only when they run, because
the packages it needs may not be installed."""
