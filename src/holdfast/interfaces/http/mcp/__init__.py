"""The MCP tools over HTTP for whoever has a key: the transport of `holdfast serve`. The protocol
and the tools are in `interfaces/mcp`."""
