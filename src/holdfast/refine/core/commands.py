"""Names shell commands as a person would, and finds the error in what they printed."""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import truncate
from holdfast.model.records import ToolCall
from holdfast.regex import regex


class CommandLimits(NamedTuple):
    """How much text is searched and kept. Higher values find more in long scripts and logs and
    cost time on every shell call."""

    # A longer match is a script rather than a name that people use.
    name_characters: int = 48
    script_characters: int = 2000
    output_characters: int = 4000
    # A shorter line says nothing by itself; a longer one is data or a minified file.
    shortest_error_line: int = 12
    longest_error_line: int = 400
    error_characters: int = 120


_LIMITS = CommandLimits()
_SEPARATOR = regex(r"\s*(?:&&|\|\||;|\n)\s*")
_PREFIX = regex(
    r"^(?:(?:[A-Z_][A-Z0-9_]*=\S*|sudo|time|nice(?: -n ?\d+)?|timeout(?: -\S+)* \S+|env|command|"
    r"exec|nohup)\s+)+"
)
_WRAPPER = (
    r"(?:(?:uv|poetry|pipenv|pdm|hatch|rye) run |bundle exec |npx |bunx |pnpm exec |python3? -m )?"
)
_TEST_COMMAND = regex(
    rf"^{_WRAPPER}(?:pytest|jest|vitest(?: run)?|mocha|rspec|phpunit|ctest|tox|nox|"
    r"go test|cargo (?:test|nextest run)|(?:npm|yarn|pnpm|bun)(?: run)? test(?::[\w-]+)?|"
    r"make (?:-C \S+ )?(?:test|check)\S*|just (?:test|check)\S*|(?:\./)?gradlew? test|"
    r"mvn (?:-q )?test|dotnet test|rake test|mix test|swift test|deno test)\b"
)
_BUILD_COMMAND = regex(
    rf"^{_WRAPPER}(?:make [a-z][\w-]*|just [a-z][\w-]*|(?:npm|yarn|pnpm|bun) run [\w:-]+|"
    r"cargo (?:build|run|clippy|fmt|check)|go (?:build|vet|generate)\b|ruff (?:check|format)|mypy|"
    r"pyright|tsc(?: --noEmit)?|eslint|docker compose (?:up|build)|terraform (?:plan|apply)|"
    r"alembic upgrade|python3? manage\.py \w+|rails [\w:]+|flask \w+)\b"
)
_ERROR = regex(
    r"\b(?:\w*(?:Error|Exception)\b(?:\s*[:(])|error(?:\[\w+\])?:|fatal:|panic:|FAILED |assert |"
    r"cannot |could not |no such |not found|undefined |unresolved |permission denied|"
    r"command not found|refused)",
)
_VARYING_PART = regex(
    r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\d[T ][\d:.]+Z?|(?<=line )\d+|/tmp/\S+|"
    r"\bin \d+\.\d+s\b|:\d+(?::\d+)?(?=[:\s]|$)"
)
_NOT_AN_ERROR = regex(
    r"^\s*(?:exit code \d+|\d+ (?:failed|errors?)[^:]*)\s*$|exited with (?:code|status)|^raise |"
    r"^rm: |^\s*at \S+|^File \"|^Traceback|:$|^(?:error: )?npm (?:error|err!)",
    re.IGNORECASE,
)
_MISSING_DEPENDENCY = regex(
    r"command not found|could not be found|not installed|no such file|script not found|"
    r"permission denied|no module named|cannot find module",
    re.IGNORECASE,
)


class Command(NamedTuple):
    """A command without its arguments. `is_project_command`: one that projects define (a make
    target, a package script) or agree on (a test runner, a linter)."""

    name: str
    runs_tests: bool
    is_project_command: bool


def parse_command(tool: ToolCall) -> Command | None:
    """The main command of a shell call: the first that runs tests or builds, else the first that
    does more than prepare (`cd`, `export`, `echo`). None if no part has a usable name."""
    first: Command | None = None
    for part in _SEPARATOR.split(tool.action[: _LIMITS.script_characters]):
        bare = _PREFIX.sub("", part.strip()).partition(" | ")[0]
        tests, other = _TEST_COMMAND.match(bare), _BUILD_COMMAND.match(bare)
        found = tests or other
        if found and len(found.group()) <= _LIMITS.name_characters:
            return Command(found.group().strip(), tests is not None, True)
        if first is None and bare and not bare.startswith(("cd ", "export ", "#", "echo ")):
            name = " ".join(bare.split()[:2])
            if len(name) <= _LIMITS.name_characters and not set(name) & set("\"'(){}<>$|\\"):
                first = Command(name, False, False)
    return first


def is_missing_dependency(error: str) -> bool:
    """Whether an error says that a program, module or file is missing on this machine."""
    return _MISSING_DEPENDENCY.search(error) is not None


def find_error(output: str) -> str:
    """The first line of an output that names an error, with the parts that vary between runs
    (addresses, hashes, times, line numbers) replaced by "…"; "" if there is none."""
    for line in output[: _LIMITS.output_characters].splitlines():
        line = line.strip()
        fits = _LIMITS.shortest_error_line <= len(line) <= _LIMITS.longest_error_line
        if fits and _ERROR.search(line) and not _NOT_AN_ERROR.search(line):
            return truncate(_VARYING_PART.sub("…", line), _LIMITS.error_characters)
    return ""
