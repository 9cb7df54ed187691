"""`learn` and `promote` through the front door: the diff first, JSON as it was agreed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.test_cli import holdfast
from tests.learn.test_promotion import SAID, session
from tests.refine.rules.test_rules import project

RULES = ".claude/rules/testing.md"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    root = project(tmp_path)
    for number, said in enumerate(SAID):
        session(root, number, said)
    done = holdfast(tmp_path, "ingest", "--embed", "none", cwd=root)
    assert done.returncode == 0, done.stderr
    yield root


def json_of(root: Path, *arguments: str) -> Any:
    done = holdfast(root.parent, *arguments, "--json", cwd=root)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_candidate_can_be_listed_shown_and_approved(root: Path) -> None:
    assert json_of(root, "promote", "status") == {
        "bank": "proj",
        "patterns": 1,
        "ripe": 1,
        "promotions": 1,
        "demotions": 0,
        "approved": 0,
        "rejected": 0,
        "rules": 0,
        "files": [],
        "automatic": False,
        "automatic_memory": False,
        "criteria": {"occurrences": 3, "confidence": 0.8},
    }
    (found,) = json_of(root, "promote", "candidates")["candidates"]
    text = found["text"]
    links = " ".join(found["evidence"])
    assert found == {
        "id": found["id"],
        "kind": "promote",
        "target": found["target"],
        "text": text,
        "domain": "testing",
        "path": RULES,
        "paths": [],
        "reason": "stated in 3 different places; confidence 0.95",
        "made": found["made"],
        "trust": "user",
        "confidence": 0.95,
        "occurrences": 3,
        "authors": ["user"],
        "evidence": found["evidence"],
        "diff": f"--- /dev/null\n+++ b/{RULES}\n@@ -0,0 +1,3 @@\n+# Testing\n+\n"
        f"+- {text} <!-- {links} -->",
        "problem": None,
        "changed": False,
        "from_agent": False,
        "bank": "proj",
    }
    refused = holdfast(root.parent, "promote", "approve", found["id"], cwd=root)
    assert refused.returncode == 2 and "--yes" in refused.stderr and not (root / RULES).exists()
    done = json_of(
        root, "promote", "approve", found["id"], "--yes", "--text", "Tables for parsers."
    )
    assert done["path"] == RULES and "Tables for parsers." in (root / RULES).read_text()
    shown = holdfast(root.parent, "show", found["target"], cwd=root)
    assert shown.returncode == 0 and "occurrences: 3" in shown.stdout
    assert "approve" in shown.stdout
    assert json_of(root, "recall", "tables for parsers", "--layer", "rules")["hits"]


def test_an_agent_may_propose_but_not_decide(root: Path) -> None:
    assert json_of(root, "auto-learn") == json_of(root, "promote", "status")
    (found,) = json_of(root, "auto-learn", "promote")["candidates"]
    asked = holdfast(root.parent, "auto-learn", "promote", found["id"], cwd=root)
    assert asked.returncode == 0 and "A person decides" in asked.stdout
    assert not (root / RULES).exists()


def test_a_rule_is_learned_once(root: Path) -> None:
    rule = "Name the fixtures after animals."
    refused = holdfast(root.parent, "learn", "testing", rule, cwd=root)
    assert refused.returncode == 2 and f"+- {rule}" in refused.stdout
    assert not (root / RULES).exists()
    done = json_of(root, "learn", "testing", rule, "--paths", "tests/**", "--yes")
    assert done == {
        "written": True,
        "path": RULES,
        "diff": f'--- /dev/null\n+++ b/{RULES}\n@@ -0,0 +1,8 @@\n+---\n+paths:\n+  - "tests/**"\n'
        f"+---\n+\n+# Testing\n+\n+- {rule}",
        "documented": None,
        "opposes": None,
        "waits": None,
        "refused": None,
        "remedy": None,
        "file": str(root / RULES),
    }
    before = (root / RULES).read_text()
    again = json_of(root, "learn", "testing", "Fixtures are named after animals.", "--yes")
    assert (again["written"], again["documented"]) == (False, f"{RULES}:6")
    other = json_of(root, "learn", "testing", "Never name the fixtures after animals.", "--yes")
    assert other["opposes"] == f"{RULES}:6"
    assert (root / RULES).read_text().startswith(before)
