"""The nine tools of `SearchTools`: their descriptions and input schemas.

Standard library only, like `tool`. A search returns an index first: titles, dates, and what each
record costs to read; then the model reads in full only what is worth it.
"""

from __future__ import annotations

from holdfast.app.answers.tool import KINDS, Object, Tool

TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
FORMATS = ("index", "full")
ORDERS = ("relevance", "date_desc", "date_asc")
MODES = ("auto", "interactive")
# Limits that the schemas below state. Larger ones cost the calling model more tokens.
DEFAULT_LIMIT, MAX_LIMIT = 20, 100
# A search looks back this far unless told otherwise; a note counts what is older.
DEFAULT_DAYS = 90
# Timeline entries before and after the anchor.
DEFAULT_DEPTH, MAX_DEPTH = 10, 50
# Sessions in the recent context; anchors to choose from.
DEFAULT_SESSIONS, DEFAULT_SUGGESTIONS = 3, 5

_QUERY: Object = {"type": "string", "description": "Words, names, or a question."}
_FORMAT: Object = {
    "type": "string",
    "enum": list(FORMATS),
    "description": "index (default): titles, dates, costs; full: the texts, about ten times as "
    "many tokens. Look at the index first.",
}
_PROJECT: Object = {"type": "string", "description": "Another project (default: this folder)."}
_DATE: Object = {"type": ["string", "number"]}
_DATE_RANGE: Object = {
    "type": "object",
    "properties": {"start": _DATE, "end": _DATE},
    "description": "ISO dates, or milliseconds since 1970.",
}
_DAYS: Object = {
    "type": "integer",
    "minimum": 0,
    "maximum": 100_000,
    "description": f"Only the last N days (default {DEFAULT_DAYS}; 0 for all), unless "
    "dateRange has a start.",
}
_LIMIT: Object = {
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_LIMIT,
    "description": f"Maximum number of results (default {DEFAULT_LIMIT}).",
}
_OFFSET: Object = {
    "type": "integer",
    "minimum": 0,
    "maximum": 10_000,
    "description": "Results to skip.",
}
_ORDER: Object = {"type": "string", "enum": list(ORDERS)}
_ONE_TYPE: Object = {"type": "string", "enum": list(TYPES)}
_TYPE: Object = {"anyOf": [_ONE_TYPE, {"type": "array", "items": _ONE_TYPE}]}
_STRINGS: Object = {"type": ["string", "array"], "items": {"type": "string"}}
_DEPTH: Object = {"type": "integer", "minimum": 0, "maximum": MAX_DEPTH}
_COMMON: Object = {
    "format": _FORMAT,
    "project": _PROJECT,
    "dateRange": _DATE_RANGE,
    "days": _DAYS,
    "limit": _LIMIT,
    "offset": _OFFSET,
    "orderBy": _ORDER,
}
_AROUND: Object = {"depth_before": _DEPTH, "depth_after": _DEPTH, "project": _PROJECT}

SEARCH_TOOLS = (
    Tool(
        "search_observations",
        "Search observations",
        "Find earlier work: requests and their results, memories and facts, by words and by "
        "meaning.",
        {
            "query": _QUERY,
            **_COMMON,
            "type": {**_TYPE, "description": "Only these types."},
            "kind": {
                "type": "string",
                "enum": list(KINDS),
                "description": "Only memories and facts of this kind.",
            },
            "concepts": {**_STRINGS, "description": "Only with these keywords."},
            "files": {**_STRINGS, "description": "Only work on these files or folders/."},
        },
        ("query",),
    ),
    Tool(
        "search_sessions",
        "Search sessions",
        "Find sessions by their summaries: what was asked, learned, done, and left to do.",
        {"query": _QUERY, **_COMMON},
        ("query",),
    ),
    Tool(
        "search_user_prompts",
        "Search prompts",
        "Find what the user said, in the user's own words.",
        {"query": _QUERY, **_COMMON},
        ("query",),
    ),
    Tool(
        "find_by_concept",
        "Find by concept",
        "Observations about a concept: those with this keyword, the latest first, then those with "
        "the same meaning.",
        {"concept": {"type": "string"}, **_COMMON},
        ("concept",),
    ),
    Tool(
        "find_by_file",
        "Find by file",
        "Observations, commits and sessions that touched a file, the latest first. Takes a path, "
        "the end of one, or a folder that ends with a slash.",
        {"filePath": {"type": "string"}, **_COMMON},
        ("filePath",),
    ),
    Tool(
        "find_by_type",
        "Find by type",
        "Observations of a type, the latest first: decisions, bug fixes, features and so on.",
        {"type": _TYPE, **_COMMON},
        ("type",),
    ),
    Tool(
        "get_recent_context",
        "Get recent context",
        "The latest sessions, with what was done in each. Use it to resume work.",
        {
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": f"Number of sessions (default {DEFAULT_SESSIONS}).",
            },
            "project": _PROJECT,
        },
    ),
    Tool(
        "get_context_timeline",
        "Get a timeline",
        "What came before and after a record or a date. The anchor is a uri from any result, the "
        "start of an id, or an ISO date.",
        {"anchor": {"type": ["string", "number"]}, **_AROUND},
        ("anchor",),
    ),
    Tool(
        "get_timeline_by_query",
        "Get a timeline by query",
        "What came before and after the best match for a query (mode auto, the default), or the "
        "best matches, to choose an anchor (mode interactive).",
        {
            "query": _QUERY,
            "mode": {"type": "string", "enum": list(MODES)},
            **_AROUND,
            "days": _DAYS,
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 20,
                "description": f"Number of matches to choose from (default {DEFAULT_SUGGESTIONS}).",
            },
        },
        ("query",),
    ),
)
