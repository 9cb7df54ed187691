"""What is asked on every face, and how each of them is asked.

`{fact}` and the like are URIs of the memory under test, which `faces.samples` finds in it. A face
that does not have an operation is left out. Calls that change something are made in order, each
face on a copy of the memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Call(NamedTuple):
    """One operation: a command (also asked with `--json`), a method and path of REST with its body,
    a query of GraphQL, a tool of MCP, and a method of the Python API with its arguments."""

    name: str
    cli: tuple[str, ...] = ()
    rest: tuple[str, str, dict[str, Any] | None] | None = None
    graphql: str = ""
    mcp: tuple[str, dict[str, Any]] | None = None
    python: tuple[str, dict[str, Any]] | None = None


def _get(path: str) -> tuple[str, str, None]:
    return "GET", path, None


def _recall(
    name: str, query: str, options: tuple[str, ...] = (), graphql: str = "", **given: Any
) -> Call:
    query_string = "".join(f"&{key}={value}" for key, value in given.items())
    return Call(
        name,
        ("recall", query, "--budget", "low", *options),
        _get(f"/recall?query={query.replace(' ', '%20')}&budget=low{query_string}"),
        f'{{ recall(query: "{query}", budget: "low"{graphql}) {{ abstained hits {{ uri kind'
        " knowledge text time trust status layer session weak } suggestions } }",
        ("memory_recall", {"query": query, "budget": "low", **given}),
    )


def _ask(name: str, question: str, *options: str, graphql: str = "", **given: Any) -> Call:
    return Call(
        name,
        ("ask", question, *options),
        ("POST", "/ask", {"question": question, **given}),
        f'mutation {{ searchMemory(question: "{question}"{graphql}) {{ answer confidence caveats'
        " citations { number source excerpt time trust } } }",
        ("memory", {"question": question}) if not given else None,
        ("ask", {"question": question, "by_rules": True, **given}),
    )


def _listed(name: str, graphql: str, *options: str) -> Call:
    return Call(name, (name, *options), _get(f"/{name}?limit=5"), graphql)


_RECORD = '{ show(id: "{%s}") { __typename uri } }'


def _show(kind: str) -> Call:
    return Call(
        f"show-{kind}",
        ("show", f"{{{kind}}}"),
        _get(f"/records/{{{kind}}}"),
        _RECORD % kind,
        python=("show", {"id": f"{{{kind}}}"}),
    )


READING = (
    Call("status", ("status",), _get("/status")),
    Call(
        "banks",
        ("bank", "list"),
        _get("/banks"),
        "{ banks { items { name background retention } } }",
    ),
    Call(
        "sessions",
        ("find", "--since", "2026-10-01"),
        _get("/sessions?limit=5"),
        "{ sessions(limit: 5) { items { id title digest { outcome } } } }",
    ),
    Call(
        "session",
        (),
        _get("/sessions/{session}"),
        '{ session(id: "{session}") { title digest { outcome } } }',
    ),
    _recall("recall", "retry policy of the fetcher"),
    _recall("recall-error", "IntegrityError UNIQUE constraint"),
    _recall("recall-file", "src/tidewatch/alerts.py"),
    _recall(
        "recall-decisions",
        "database",
        ("--kind", "decision"),
        ', kind: ["decision"]',
        kind="decision",
    ),
    _recall(
        "recall-layer",
        "cache",
        ("--layer", "summaries"),
        ', layer: ["summaries"]',
        layer="summaries",
    ),
    _recall("recall-nothing", "zeppelin mooring masts over Lakehurst"),
    _ask("ask-why", "Why SQLite and not Postgres?"),
    _ask("ask-how-many", "How many requests a minute does the harbour API allow?"),
    _ask("ask-cause", "What was the root cause of the duplicate alerts?"),
    _ask("ask-latest", "What were we working on?"),
    _ask("ask-unknown", "Which zeppelin did we moor at Lakehurst?"),
    _ask(
        "ask-as-of",
        "What replaced Redis?",
        "--as-of",
        "2026-10-10",
        graphql=', asOf: "2026-10-10"',
        as_of="2026-10-10",
    ),
    _show("exchange"),
    _show("memory"),
    _show("digest"),
    _show("turn"),
    _show("commit"),
    Call(
        "timeline",
        ("timeline", "{exchange}"),
        _get("/timeline?anchor={exchange}"),
        python=("timeline", {"anchor": "{exchange}"}),
    ),
    Call(
        "timeline-of",
        ("timeline", "--query", "duplicate alerts"),
        _get("/timeline?query=duplicate%20alerts"),
    ),
    Call("find-file", ("find", "--file", "alerts.py"), _get("/find?file=alerts.py")),
    _listed("facts", "{ facts(limit: 5) { items { uri kind content status confidence } } }"),
    Call(
        "decisions",
        ("facts", "--kind", "decision", "--limit", "5"),
        _get("/memories?kind=decision&limit=5"),
        '{ memories(kind: "decision", limit: 5) { items { uri what trust when status } } }',
    ),
    _listed(
        "concepts",
        "{ concepts(limit: 5) { items { uri name exchanges keywords } } }",
        "--limit",
        "5",
    ),
    _listed("keywords", "", "--limit", "5"),
    _listed("entities", "{ entities(limit: 5) { items { uri name kind } } }", "--limit", "5"),
    _listed("opinions", ""),
    Call(
        "reflect",
        ("reflect", "Is the SMS gateway reliable?"),
        mcp=("memory_reflect", {"query": "Is the SMS gateway reliable?"}),
        python=("reflect", {"query": "Is the SMS gateway reliable?", "store": False}),
    ),
    Call("brief", ("brief",), _get("/brief?bank=tidewatch")),
    Call(
        "handoff",
        ("handoff", "response cache"),
        _get("/handoff?what=response%20cache&bank=tidewatch"),
    ),
    Call("who", ("who", "alerts"), _get("/who?about=alerts")),
    Call(
        "team",
        ("team", "who knows about alerts"),
        _get("/team?question=who%20knows%20about%20alerts"),
        mcp=("team_query", {"question": "who knows about alerts"}),
    ),
    Call("commits", (), _get("/commits"), "{ commits { items { id subject author } } }"),
    Call("review", ("review",), _get("/reviews")),
    Call(
        "auto-learn",
        ("auto-learn", "status"),
        _get("/rules/learning?bank=tidewatch"),
        mcp=("auto_learn", {"action": "status"}),
    ),
    Call("audit", ("audit",), _get("/audit")),
    Call(
        "no-such-record",
        ("show", "holdfast://memory/0000"),
        _get("/records/memory/0000"),
        '{ show(id: "holdfast://memory/0000") { uri } }',
        python=("show", {"id": "holdfast://memory/0000"}),
    ),
    Call(
        "no-such-bank",
        ("recall", "cache", "--bank", "nowhere"),
        _get("/recall?query=cache&bank=nowhere"),
        '{ recall(query: "cache", bank: "nowhere") { abstained } }',
        python=("ask", {"question": "cache?", "bank": "nowhere"}),
    ),
    Call(
        "empty-query",
        ("recall", ""),
        _get("/recall?query="),
        '{ recall(query: "") { abstained } }',
        ("memory_recall", {"query": ""}),
        ("ask", {"question": ""}),
    ),
)

_TEXT = "The tide gauge at Pier Nine is calibrated every spring."
_NEW_TEXT = "The tide gauge at Pier Nine is calibrated every autumn."
_OPINION = "The SMS gateway is unreliable on Sundays."

# `{new}` is the URI of what the first of them stored.
WRITING = (
    Call("remember", ("remember", _TEXT),
         ("POST", "/memories", {"bank": "tidewatch", "text": _TEXT}),
         f'mutation {{ remember(text: "{_TEXT}", bank: "tidewatch") {{ uri bank'
         " record { what trust } } }",
         ("remember", {"text": _TEXT}), ("remember", {"text": _TEXT})),
    Call("retain",
         ("retain", _OPINION, "--network", "opinion", "--confidence", "0.6"),
         ("POST", "/memories/retain",
          {"bank": "tidewatch", "text": _OPINION, "network": "opinion", "confidence": 0.6}),
         f'mutation {{ retain(text: "{_OPINION}", bank: "tidewatch", network: "opinion",'
         " confidence: 0.6) { uri bank record { what trust } } }",
         python=("retain", {"text": _OPINION, "network": "opinion", "confidence": 0.6})),
    Call("correct", ("correct", "{new}", _NEW_TEXT),
         ("POST", "/records/{new}/correct", {"text": _NEW_TEXT}),
         f'mutation {{ correct(id: "{{new}}", text: "{_NEW_TEXT}") {{ decision'
         " { action target text } } }",
         python=("correct", {"id": "{new}", "text": _NEW_TEXT})),
    Call("forget", ("forget", "{new}", "--yes"), ("POST", "/records/{new}/forget", {}),
         'mutation { forget(id: "{new}") { decision { action target } } }',
         python=("forget", {"id": "{new}"})),
    _recall("recall-forgotten", "tide gauge at Pier Nine calibrated"),
    Call("restore", ("restore", "{new}"), ("POST", "/records/{new}/restore", {}),
         'mutation { restore(id: "{new}") { decision { action target } } }',
         python=("restore", {"id": "{new}"})),
    Call("undo", ("undo", "--yes"), ("POST", "/undo", {}),
         'mutation { undo(bank: "tidewatch") { undone { action target } } }', python=("undo", {})),
    Call("learn", ("learn", "--domain", "testing", "Always run the tide tests before a release."),
         ("POST", "/rules",
          {"bank": "tidewatch", "domain": "testing",
           "text": "Always run the tide tests before a release."}),
         mcp=("learn", {"domain": "testing",
                        "content": "Always run the tide tests before a release."})),
)  # fmt: skip
