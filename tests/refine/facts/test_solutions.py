"""What is kept of problems that came up in several sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.app.memory import Holdfast
from holdfast.language import code_names
from holdfast.model.knowledge import Claim, ClaimKind, Fact, FactKind
from holdfast.model.trust import Trust
from holdfast.refine.core.statement_similarity import jaccard, statement_features
from holdfast.refine.facts.solutions import find_solved_problems
from tests.support.refine_banks import open_filled
from tests.support.refine_banks import session_on as session
from tests.support.transcripts import Script

ASKED = "The nightly invoice export has duplicate rows again, please fix it."
CAUSE = "The root cause was that the invoice export wrote rows before the lock was taken."
# Shares its words with the error, and none with the request.
ERROR = "sqlite3.IntegrityError: UNIQUE constraint failed: invoice.number"
CAUSE_OF_ERROR = "The UNIQUE constraint on numbers failed because two workers ran at once."


def edit(script: Script, file: str) -> None:
    path = f"/home/dev/proj/{file}"
    script.tool("Edit", "ok", file_path=path, old_string="a", new_string="b")


def run_tests(script: Script, file: str, error: str = "") -> None:
    output = f"E   {error}\n1 failed" if error else "9 passed"
    script.tool("Bash", output, error=bool(error), command=f"pytest tests/{file}")


def solutions(memory: Holdfast) -> list[Fact]:
    return [fact for fact in memory.browse.facts() if fact.kind is FactKind.SOLUTION]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "fails", "told", "cause"),
    [
        pytest.param(ASKED, True, "It still fails, I do not know why.", CAUSE, id="it failed"),
        pytest.param(ASKED, True, "It still fails.", CAUSE_OF_ERROR, id="known by its error"),
        pytest.param(ASKED, False, "I changed the export.", CAUSE, id="done, and it came back"),
        pytest.param("Run the tests.", True, "One fails.", CAUSE_OF_ERROR, id="nobody asked"),
    ],
)
def test_the_last_of_many_sessions_tells_the_cure_of_a_problem(
    tmp_path: Path, asked: str, fails: bool, told: str, cause: str
) -> None:
    scripts: list[Script] = []
    for day in range(1, 7):
        script = session(f"2026-09-{day:02}", day)
        script.user(asked)
        edit(script, "src/export.py")
        if fails:
            run_tests(script, "test_export.py", ERROR)
        if day == 6:
            edit(script, "src/export.py")
            run_tests(script, "test_export.py")
        script.assistant(cause if day == 6 else told)
        scripts.append(script)
    with open_filled(tmp_path, *scripts) as memory:
        (fact,) = solutions(memory)
        assert fact.content == cause and fact.attempts == 6


@pytest.mark.slow
@pytest.mark.parametrize("error", ["AssertionError: assert None is not None", ERROR])
def test_failures_of_different_files_are_different_problems(tmp_path: Path, error: str) -> None:
    causes = {
        "parser": "The test of src/parser.py failed because the parser read the header twice.",
        "render": "The test of src/render.py failed because the last cell was dropped.",
        "mailer": "The test of src/mailer.py failed because it sent before the queue was saved.",
    }
    scripts: list[Script] = []
    for day, (name, cause) in enumerate(causes.items(), start=1):
        script = session(f"2026-09-{day:02}", day)
        script.user(f"The test of src/{name}.py fails, please fix it.")
        for _ in range(2 if name != "mailer" else 3):
            edit(script, f"src/{name}.py")
            run_tests(script, f"test_{name}.py", error)
        edit(script, f"src/{name}.py")
        run_tests(script, f"test_{name}.py")
        script.assistant(cause)
        scripts.append(script)
    with open_filled(tmp_path, *scripts) as memory:
        (fact,) = solutions(memory)
        assert fact.content == causes["mailer"] and fact.attempts == 3


@pytest.mark.slow
def test_the_same_error_in_other_files_is_another_problem_unless_it_is_told_alike(
    tmp_path: Path,
) -> None:
    def failing(day: int, file: str, asked: str, cause: str = "") -> Script:
        script = session(f"2026-09-{day:02}", day)
        script.user(asked)
        edit(script, file)
        run_tests(script, "test_all.py", ERROR)
        if cause:
            edit(script, file)
            run_tests(script, "test_all.py")
        script.assistant(cause or "It still fails.")
        return script

    alike = [failing(n, f"src/{name}.py", ASKED) for n, name in enumerate("abc", start=1)]
    other = [
        failing(10 + n, f"src/{name}.py", f"Please fix the {what}.")
        for n, (name, what) in enumerate([("x", "import of suppliers"), ("y", "seed of the demo")])
    ]
    last = failing(20, "src/lock.py", ASKED, CAUSE)
    with open_filled(tmp_path, *alike, *other, last) as memory:
        (fact,) = solutions(memory)
        assert fact.content == CAUSE and fact.attempts == 4


_TEXTS = st.lists(
    st.sampled_from("export invoice rows lock parser tokens cache upload retry a.py b.py".split()),
    max_size=5,
).map(" ".join)


@st.composite
def claims_about_problems(draw: st.DrawFn) -> list[Claim]:
    """Claims in order of time, with few different words, files and errors."""
    found: list[Claim] = []
    for n in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from((ClaimKind.SOLUTION, ClaimKind.ATTEMPT)))
        claim = Claim(
            "bank", f"c{n:02}", f"s{n}", f"x{n}", "", n, f"2026-09-{n + 1:02}T10:00:00Z", kind,
            draw(_TEXTS), Trust.ASSISTANT, problem=draw(_TEXTS), attempts=draw(st.integers(0, 3)),
            signature=draw(st.sampled_from(("", "", "KeyError", "OSError"))),
            files=tuple(draw(st.lists(st.sampled_from(("x.py", "y.py")), max_size=2))),
        )  # fmt: skip
        found.append(claim)
    return found


def is_same_problem(one: Claim, other: Claim) -> bool:
    """As `docs/facts.md` defines it, by comparing two claims with each other."""
    named = [{name for name in code_names(c.problem) if "." in name} for c in (one, other)]
    if all(named) and named[0].isdisjoint(named[1]):
        return False
    said = [[statement_features(t).content for t in (c.problem, c.text)] for c in (one, other)]
    overlap = max(jaccard(a, b) for a in said[0] for b in said[1])
    shares_files = bool(set(one.files) & set(other.files))
    if one.signature and other.signature:
        is_apart = bool(one.files and other.files) and not shares_files
        return one.signature == other.signature and (not is_apart or overlap >= 0.5)
    return overlap >= (0.25 if shares_files else 0.5)


@settings(max_examples=30)
@given(claims_about_problems())
def test_problems_are_grouped_as_by_comparing_every_claim_with_every_other(
    claims: list[Claim],
) -> None:
    groups: list[list[Claim]] = []
    for claim in claims:
        group = next((g for g in groups if any(is_same_problem(c, claim) for c in g)), None)
        if group is None:
            groups.append(group := [])
        group.append(claim)
    expected = {c.id: tuple(g[: g.index(c)]) for g in groups for c in g}
    solved, dropped = find_solved_problems(claims)
    assert {one.solution.id: one.before for one in solved} == {
        one.solution.id: expected[one.solution.id] for one in solved
    }
    assert len(solved) + dropped == sum(c.kind is ClaimKind.SOLUTION for c in claims)
