"""Programs can do by HTTP what people can do on the command line, or docs/http.md says why not."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.interfaces.cli.main import COMMANDS
from holdfast.interfaces.http.auth.permissions import PERMISSIONS

DOCS = (Path(__file__).parents[4] / "docs" / "http.md").read_text("utf-8")
REST = {
    "ask": "POST /ask, POST /research",
    "research": "GET /research, DELETE /research/{id}, POST /research/{id}/cancel",
    "recall": "GET /recall",
    "find": "GET /find",
    "timeline": "GET /timeline",
    "show": "GET /records/{id:path}, GET /records/{id:path}/path",
    "team": "GET /team",
    "who": "GET /who",
    "facts": "GET /facts",
    "concepts": "GET /concepts, GET /concepts/{id:path}",
    "keywords": "GET /keywords, GET /keywords/leads",
    "entities": "GET /entities, GET /entities/about",
    "opinions": "GET /opinions",
    "reflect": "POST /reflect",
    "remember": "POST /memories",
    "retain": "POST /memories/retain",
    "correct": "POST /records/{id:path}/correct",
    "forget": "POST /records/{id:path}/forget, POST /records/{id:path}/purge",
    "restore": "POST /records/{id:path}/restore",
    "merge": "POST /records/{id:path}/merge",
    "entity": "POST /entities/merge, POST /entities/split",
    "review": "GET /reviews, POST /reviews/{id}/decide, POST /verdicts",
    "undo": "POST /undo, GET /decisions",
    "scrub": "POST /scrub",
    "learn": "POST /rules",
    "promote": "GET /rules/candidates, POST /rules/candidates/{id}/approve",
    "auto-learn": "GET /rules/learning, POST /rules/promote",
    "handoff": "GET /handoff",
    "status": "GET /status, GET /cost",
    "worth": "GET /worth",
    "doctor": "GET /doctor, POST /doctor/fix",
    "audit": "GET /audit, POST /records/{id:path}/confirm",
    "bank": "GET /banks, PATCH /banks/{name:path}",
    "brief": "GET /brief, GET /injections",
    "ingest": "POST /ingest",
    "import": "GET /imports, POST /imports/{id}/undo",
    "pull": "GET /pulls, POST /pulls/{id}/undo",
    "backup": "POST /backups",
    "restore-backup": "GET /backups",
    "providers": "GET /providers",
}


def _left() -> set[str]:
    """The commands that docs/http.md leaves to the command line, each with a reason."""
    table = DOCS.partition("## What stays on the machine")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?`) \| (.+) \|$", table, re.MULTILINE)
    assert all(why.strip() for _, why in rows)
    return {name for names, _ in rows for name in re.findall(r"`([\w-]+)[^`]*`", names)}


def test_every_command_has_a_route_or_a_reason_for_having_none() -> None:
    assert {*REST, *_left()} == set(COMMANDS)


def test_every_route_that_stands_for_a_command_exists() -> None:
    for command, ways in REST.items():
        for way in ways.split(", "):
            method, _, path = way.partition(" ")
            assert f"{method} /api/v1{path}" in PERMISSIONS, command
