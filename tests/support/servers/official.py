"""A provider made with the official library: over standard streams, or on a port of its own."""

from __future__ import annotations

import sys

from mcp.server.fastmcp import FastMCP

PAGES = {
    "retry": "Retries of the payment importer stop after five attempts since March.",
    "cache": "The cache is warmed after the nightly import, never before.",
}

server = FastMCP("wiki", port=int(sys.argv[1]) if len(sys.argv) > 1 else 8000, log_level="ERROR")


@server.tool()
def search_pages(query: str) -> list[str]:
    """Search the pages of the wiki."""
    words = query.lower().split()
    return [text for word, text in PAGES.items() if any(w.startswith(word) for w in words)]


@server.tool()
def page_by_title(title: str, version: int) -> str:
    """One page in full."""
    return f"{PAGES.get(title, '')} (version {version})"


@server.tool()
def delete_pages(query: str) -> str:
    """Delete whatever is found."""
    PAGES.clear()
    return f"deleted {query}"


if __name__ == "__main__":
    server.run("streamable-http" if len(sys.argv) > 1 else "stdio")
