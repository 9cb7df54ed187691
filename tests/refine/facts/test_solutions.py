"""What is kept of problems that came up in several sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Fact, FactKind
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
