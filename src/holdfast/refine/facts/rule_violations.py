"""Whether a tool call follows or violates a rule.

Three kinds of rules can be checked: which command to use and which not ("pnpm, never npm"), which
files nobody may edit ("never edit generated/"), and where tests go ("tests go into tests/unit").
For any other rule nothing is counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import stem
from holdfast.model.records import Turn
from holdfast.refine.core.shell_changes import changed_files
from holdfast.refine.core.signals import EDIT_TOOLS, SHELL_TOOLS
from holdfast.refine.core.statement_similarity import statement_features
from holdfast.regex import regex

# Programs that a rule may be about; any other word is not taken for a command.
_COMMANDS = frozenset(
    "npm pnpm yarn bun npx deno node pip pip3 uv poetry pipenv conda python python2 python3 pytest "
    "tox make cmake ninja bazel gradle mvn cargo go rustup docker podman docker-compose kubectl "
    "helm terraform git svn hg curl wget grep rg sed awk find fd vim nano eslint prettier biome "
    "ruff black flake8 mypy pyright jest vitest mocha rspec bundle gem rake composer php psql "
    "mysql sqlite3 redis-cli ssh scp rsync sudo brew apt apt-get rm mv".split()
)
# Words after a command that do not narrow a rule down to one use of it.
_CONNECTIVES = frozenset(
    "in for to here anywhere any at on or and as with because since again directly".split()
)
_COMMAND_SEPARATOR = regex(r"&&|\|\||[;|\n]")
_COMMAND_PREFIX = regex(r"^(?:\s*(?:\w+=\S*|sudo|env|time|nohup|exec|command)\s+)*")
_FORBIDDEN_EDIT = regex(
    r"\b(?:never|don['’]t|do not|must not|nobody may|no one may)\b.{0,30}\b(?:edit|touch|modify|"
    r"change|write to|hand-edit)\b",
    re.IGNORECASE,
)
_TESTS_GO = regex(
    r"\btests?\b.{0,30}\b(?:go|goes|live|lives|belong|belongs|into|in|under|to)\b", re.IGNORECASE
)
_PATH = regex(r"(?<![\w/])[\w.@-]*/[\w./@-]*")
_TEST_FILE = regex(r"(?:^|/)(?:test_[^/]+|[^/]+[._]test\.[^/]+|[^/]+\.spec\.[^/]+)$")


class RuleCheck(NamedTuple):
    """What to look for in tool calls: commands a rule wants and forbids, folders that it protects
    from edits, and folders that it wants tests in."""

    wanted: frozenset[str] = frozenset()
    unwanted: frozenset[str] = frozenset()
    protected: tuple[str, ...] = ()
    test_folders: tuple[str, ...] = ()

    @property
    def search_words(self) -> tuple[str, ...]:
        """Words of which a tool call must contain one to follow or violate the rule."""
        own = (*sorted(self.wanted | self.unwanted), *(p.strip("/") for p in self.protected))
        return (*own, "test") if self.test_folders else own


def rule_check(rule: str) -> RuleCheck | None:
    """What a rule forbids and asks for, as far as tool calls can show it; None if they cannot."""
    named = (path.rstrip(".") for path in _PATH.findall(rule))
    paths = tuple(path for path in named if len(path.strip("/.")) > 2)
    if paths and _FORBIDDEN_EDIT.search(rule):
        return RuleCheck(protected=paths)
    features = statement_features(rule)
    if paths and _TESTS_GO.search(rule) and not features.is_prohibition:
        return RuleCheck(test_folders=paths)
    commands = {word.strip("`'\".!").lower() for word in re.split(r"[\s,;:()]+", rule)} & _COMMANDS
    unwanted = {word for word in commands if {word, stem(word)} & features.rejected}
    if not unwanted or _names_subcommand(rule, unwanted):
        return None
    return RuleCheck(frozenset(commands - unwanted), frozenset(unwanted))


def _names_subcommand(rule: str, commands: set[str]) -> bool:
    """Whether a rule is about one use of a command: `Never git push to main` does not forbid git.
    Such rules are not checked."""
    for word in commands:
        after = re.search(rf"\b{re.escape(word)}\b[`'\"]?\s+(\w[\w-]*)", rule, re.IGNORECASE)
        if after and after.group(1).lower() not in _CONNECTIVES:
            return True
    return False


def complies(check: RuleCheck, turn: Turn) -> bool | None:
    """Whether a tool call follows a rule (True) or violates it (False); None if neither."""
    tool = turn.tool
    if tool is None or tool.ok is False:
        return None
    if tool.name in EDIT_TOOLS:
        return _edit_complies(check, tool.target)
    edits = [_edit_complies(check, path) for path in changed_files(tool)]
    if False in edits or tool.name not in SHELL_TOOLS or not (check.wanted or check.unwanted):
        return False if False in edits else None
    programs = {_program(part) for part in _COMMAND_SEPARATOR.split(tool.action)}
    if programs & check.unwanted:
        return False
    return True if programs & check.wanted else None


def _program(part: str) -> str:
    words = _COMMAND_PREFIX.sub("", part).split()
    return words[0].rpartition("/")[2] if words else ""


def _edit_complies(check: RuleCheck, path: str) -> bool | None:
    path = path.replace("\\", "/")
    if any(_within(path, folder) for folder in check.protected):
        return False
    if check.test_folders and _TEST_FILE.search(path):
        return any(_within(path, folder) for folder in check.test_folders)
    return None


def _within(path: str, folder: str) -> bool:
    folder = folder.strip("/")
    return path.startswith(f"{folder}/") or f"/{folder}/" in path or path == folder
