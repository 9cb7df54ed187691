"""The eight tools of `MemoryTools`: their descriptions and input schemas.

Standard library only, like `tool`: a server lists its tools before it loads anything else.
"""

from __future__ import annotations

from holdfast.app.answers.tool import KINDS, Object, Tool

LAYERS = ("all", "rules", "summaries", "observations", "transcripts", "team")
EXPANSIONS = ("none", "minimal", "full")
STRATEGIES = ("direct_fts", "expanded_fts", "semantic", "summaries")
# Limits that the schemas below state. Larger ones cost the calling model more tokens and time.
MAX_LIMIT = 50
DEFAULT_LIMIT = 10
MAX_TIMEOUT_MS = 20_000
DEFAULT_TIMEOUT_MS = 5_000

_QUERY: Object = {"type": "string", "description": "Words, names, a phrase, or a question."}
_LAYER: Object = {
    "type": "string",
    "enum": list(LAYERS),
    "description": "The layer to search: rules (files that people review), summaries (of sessions, "
    "and concepts), observations (requests and results, memories, facts), transcripts (every "
    "turn), team (commits, pulls, issues), or all (default).",
}
_LIMIT: Object = {
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_LIMIT,
    "description": f"Maximum number of results (default {DEFAULT_LIMIT}).",
}
_EXPANSION: Object = {
    "type": "string",
    "enum": list(EXPANSIONS),
    "description": "What the words find: none (only the words as given), minimal (their other "
    "forms and abbreviations; default), or full (synonyms too, after the words as given).",
}
_TIMEOUT: Object = {
    "type": "integer",
    "minimum": 100,
    "maximum": MAX_TIMEOUT_MS,
    "description": f"Time limit in milliseconds (default {DEFAULT_TIMEOUT_MS}).",
}
_KIND: Object = {
    "type": "string",
    "enum": list(KINDS),
    "description": "Only memories, facts and rules of this kind: a lesson is a cause that was "
    "found or a pitfall, an outcome what was delivered, a todo what was left open.",
}
_SEARCH: Object = {
    "query": _QUERY,
    "layer": _LAYER,
    "kind": _KIND,
    "limit": _LIMIT,
    "expansion": _EXPANSION,
}

MEMORY_TOOLS = (
    Tool(
        "memory_search_fts",
        "Search by words",
        "Full-text search (BM25) over the layers of memory. Use it for exact words: names of "
        "files and functions, error messages, phrases. Takes milliseconds.",
        _SEARCH,
        ("query",),
    ),
    Tool(
        "memory_search_vector",
        "Search by meaning",
        "Search by meaning, in any wording. Use it for questions about an idea whose words you "
        "do not know.",
        _SEARCH,
        ("query",),
    ),
    Tool(
        "memory_search_hybrid",
        "Search by words and meaning",
        "Full text and meaning, combined by reciprocal rank fusion. Use it if either may fit.",
        _SEARCH,
        ("query",),
    ),
    Tool(
        "memory_search_multi_strategy",
        "Search by several strategies",
        "Run several strategies in parallel (direct_fts, expanded_fts, semantic, summaries) and "
        "fuse their results by rank. Results that several of them found raise the confidence. Use "
        "it for most questions.",
        {
            **_SEARCH,
            "timeout": _TIMEOUT,
            "strategies": {
                "type": "array",
                "items": {"type": "string", "enum": list(STRATEGIES)},
                "maxItems": len(STRATEGIES),
                "description": "Only these (default: all).",
            },
        },
        ("query",),
    ),
    Tool(
        "memory_search_with_fallbacks",
        "Search until something is found",
        "The best search, with a relevance threshold. If nothing reaches it, this tries the "
        "sessions of the time in question, then the raw transcripts, and finally suggests other "
        "queries. Use it when an answer matters more than time.",
        {
            **_SEARCH,
            "enableGrep": {
                "type": "boolean",
                "description": "Also search raw transcripts (default true).",
            },
            "grepTimeout": _TIMEOUT,
        },
        ("query",),
    ),
    Tool(
        "memory_list_layers",
        "List the layers",
        "The layers of memory and their sizes. Use it first.",
        {},
    ),
    Tool(
        "memory_scan_recent_sessions",
        "Scan recent sessions",
        "Sessions with what was asked, done and left open. Use it for questions such as "
        '"what was I working on yesterday"; without a query it returns the latest.',
        {"query": _QUERY, "limit": _LIMIT},
    ),
    Tool(
        "memory_grep_transcripts",
        "Grep transcripts",
        "Search the raw transcripts for exact text, including tool output. Slow: use it only if "
        "the others found nothing.",
        {"query": _QUERY, "limit": _LIMIT, "timeout": _TIMEOUT},
        ("query",),
    ),
)
