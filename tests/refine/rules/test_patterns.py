"""Which sentences say how things are done, how they are grouped, and what commits show."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.model.trust import Trust
from holdfast.refine.rules.conventions import as_rule, find_conventions
from holdfast.refine.rules.domains import domain_of
from holdfast.refine.rules.patterns import make_patterns
from holdfast.sources.rule_files import any_file_matches
from holdfast.store.knowledge.rules import Statement
from tests.refine.rules.test_rules import git, project, put


def stated(n: int, text: str, trust: Trust = Trust.USER, about: str = "") -> Statement:
    time = f"2026-01-{n + 1:02}T00:00:00.000Z"
    uri = f"holdfast://turn/{n}"
    made = Statement("b", uri, 0, f"s{n}", f"session {n}", "user", time, text, trust)
    return made._replace(about=about, quotable=not about)


@pytest.mark.parametrize(
    "text",
    [
        "Always use table-driven tests.",
        "No, don't mock the store in tests.",
        "We never deploy on Fridays.",
        "From now on, new endpoints page by cursor.",
        "please use pnpm instead of npm",
        "Every migration must be reversible.",
        "We decided to go with Zustand for state.",
    ],
)
def test_conventions_are_found(text: str) -> None:
    (found,) = [c for c in find_conventions(text) if not c.about]
    assert found.quotable


@pytest.mark.parametrize(
    "text",
    [
        "Can you always run the tests?",
        "I'm trying to use Flask with SQLAlchemy, and I want to make sure it works.",
        "Do not change the code yet.",
        "It never worked on my machine.",
        "Go with option B for the parser.",
        "That should be fixed by the new lock now.",
        "Yes.",
        "Always paint the yawl blue. " + "A plan that was pasted. " * 100,
    ],
)
def test_other_sentences_are_no_conventions(text: str) -> None:
    assert [c for c in find_conventions(text) if not c.about] == []


def test_a_rule_is_written_without_its_introduction() -> None:
    assert as_rule("No, please use pnpm instead of npm") == "Use pnpm instead of npm."
    assert as_rule("from now on, endpoints page by cursor.") == "Endpoints page by cursor."
    assert as_rule("pytest.ini is the only place for options") == (
        "pytest.ini is the only place for options."
    )


def test_the_words_of_a_rule_decide_its_domain() -> None:
    domains = {
        "Mock nothing; use a fixture.": "testing",
        "Every endpoint checks its request.": "api",
        "Rotate the JWT at login.": "auth",
        "A migration changes the schema.": "database",
        "Throw an exception, never return null.": "error",
        "Use the logger, not print; warn on retries.": "logging",
        "Read settings from the environment.": "config",
        "Bundle with vite.": "build",
        "Run npm script names in kebab case.": "commands",
        "Answer in plain English.": "general",
    }
    assert {text: domain_of(text) for text in domains} == domains


def test_orders_and_prohibitions_are_kept_apart_and_weigh_against_each_other() -> None:
    texts = ["Use okapi fixtures for parsers.", "Always use okapi fixtures in parsers."]
    both = [stated(n, text) for n, text in enumerate(texts)]
    both.append(stated(5, "Never use okapi fixtures for parsers."))
    one, other = make_patterns("b", both)
    assert (one.occurrences, one.confidence, one.last) == (2, 0.65, "")
    assert one.against == ("holdfast://turn/5",) and len(other.against) == 2
    assert other.last == both[-1].time


def test_identical_statements_of_unspecific_words_are_the_same() -> None:
    texts = (
        "Always run make check before you commit.",
        "Please, always run make check and commit.",
    )
    (found,) = make_patterns("b", [stated(n, texts[n % 2]) for n in range(3)])
    assert found.occurrences == 3
    assert len(make_patterns("b", [stated(1, "Always fix issues."), stated(2, "Fix issues.")])) == 2


def test_methods_named_in_an_order_support_a_pattern_but_are_none_alone() -> None:
    found = find_conventions("Create a plan and implement it with Okapi 5 as a subagent.")
    assert [c.about for c in found] == ["Okapi 5 as a subagent."]
    alone = [stated(n, "x", about="Okapi 5 as a subagent") for n in range(3)]
    assert make_patterns("b", alone) == []
    (found,) = make_patterns("b", [*alone, stated(7, "Use okapi 5 as subagents")])
    assert found.occurrences == 4 and found.content == "Use okapi 5 as subagents."


def test_external_statements_are_listed_but_not_counted() -> None:
    text = "Always use okapi fixtures for parsers."
    outside = [stated(n, text, trust=Trust.EXTERNAL) for n in range(5)]
    (found,) = make_patterns("b", outside)
    assert (found.occurrences, found.confidence, found.trust) == (0, 0.0, Trust.EXTERNAL)
    (mixed,) = make_patterns("b", [*outside, stated(9, text)])
    assert (mixed.occurrences, mixed.trust) == (1, Trust.EXTERNAL)


def test_globs_are_checked_against_the_files_of_a_repository(tmp_path: Path) -> None:
    root = project(tmp_path)
    put(root, "src/ui/app.tsx", "x")
    put(root, ".gitignore", "build/\n")
    put(root, "build/app.js", "x")
    git(root, "add", ".")
    for glob in ("src/**", "**/*.{ts,tsx}", "*.tsx", "src/ui/app.tsx", "src", "src/*/app.tsx"):
        assert any_file_matches(root, [glob]), glob
    for glob in ("legacy/**", "*.py", "src/*.tsx", "build/**", "[odd"):
        assert not any_file_matches(root, [glob]), glob
    assert any_file_matches(tmp_path, ["anything"])
