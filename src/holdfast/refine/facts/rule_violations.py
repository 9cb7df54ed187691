"""Deeds that go against a rule, or along with it, as far as a tool call tells.

Three kinds of rules can be held against deeds: which command to use and which not ("pnpm, never
npm"), which files nobody may edit ("never edit generated/"), and where tests go ("tests go into
tests/unit"). Of any other rule no deed tells, and none is counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.language import stem
from holdfast.model.records import Turn
from holdfast.refine.core.signals import EDIT_TOOLS, SHELL_TOOLS
from holdfast.refine.core.statement_similarity import statement_features

# Programs that a rule may be about; a word that is none of these is no command.
COMMANDS = frozenset(
    "npm pnpm yarn bun npx deno node pip pip3 uv poetry pipenv conda python python2 python3 pytest "
    "tox "
    "make cmake ninja bazel gradle mvn cargo go rustup docker podman docker-compose kubectl helm "
    "terraform "
    "git svn hg curl wget grep rg sed awk find fd vim nano eslint prettier biome ruff black flake8 "
    "mypy "
    "pyright jest vitest mocha rspec bundle gem rake composer php psql mysql sqlite3 redis-cli ssh "
    "scp "
    "rsync sudo brew apt apt-get rm mv".split()
)
_SEGMENT = re.compile(r"&&|\|\||[;|\n]")
_PREFIX = re.compile(r"^(?:\s*(?:\w+=\S*|sudo|env|time|nohup|exec|command)\s+)*")
_FORBIDDEN_EDIT = re.compile(
    r"\b(?:never|don['’]t|do not|must not|nobody may|no one may)\b.{0,30}\b(?:edit|touch|modify|"
    r"change|"
    r"write to|hand-edit)\b",
    re.IGNORECASE,
)
_TESTS_GO = re.compile(
    r"\btests?\b.{0,30}\b(?:go|goes|live|lives|belong|belongs|into|in|under|to)\b", re.IGNORECASE
)
_PATH = re.compile(r"(?<![\w/])[\w.@-]*/[\w./@-]*")
_A_TEST = re.compile(r"(?:^|/)(?:test_[^/]+|[^/]+[._]test\.[^/]+|[^/]+\.spec\.[^/]+)$")


class RuleCheck(NamedTuple):
    """What to look for: commands that are wanted and not, folders that must not be edited, and
    those that tests go into."""

    wanted: frozenset[str] = frozenset()
    unwanted: frozenset[str] = frozenset()
    protected: tuple[str, ...] = ()
    test_folders: tuple[str, ...] = ()

    @property
    def search_words(self) -> tuple[str, ...]:
        """What a deed that tells must hold."""
        own = (*sorted(self.wanted | self.unwanted), *(p.strip("/") for p in self.protected))
        return (*own, "test") if self.test_folders else own


def rule_check(rule: str) -> RuleCheck | None:
    """What a rule forbids and asks for, as far as deeds can tell; None if they cannot."""
    named = (path.rstrip(".") for path in _PATH.findall(rule))
    paths = tuple(path for path in named if len(path.strip("/.")) > 2)
    if paths and _FORBIDDEN_EDIT.search(rule):
        return RuleCheck(protected=paths)
    shape = statement_features(rule)
    if paths and _TESTS_GO.search(rule) and not shape.is_prohibition:
        return RuleCheck(test_folders=paths)
    commands = {word.strip("`'\".!").lower() for word in re.split(r"[\s,;:()]+", rule)} & COMMANDS
    unwanted = {word for word in commands if {word, stem(word)} & shape.rejected}
    if not unwanted or _narrow(rule, unwanted):
        return None
    return RuleCheck(frozenset(commands - unwanted), frozenset(unwanted))


def _narrow(rule: str, unwanted: set[str]) -> bool:
    """`Never git push to main` is not about git: the words after a command narrow it down."""
    for word in unwanted:
        after = re.search(rf"\b{re.escape(word)}\b[`'\"]?\s+(\w[\w-]*)", rule, re.IGNORECASE)
        if after and after.group(1).lower() not in _LOOSE:
            return True
    return False


_LOOSE = frozenset(
    "in for to here anywhere any at on or and as with because since again directly".split()
)


def complies(check: RuleCheck, turn: Turn) -> bool | None:
    """Whether a deed goes along with a rule (True) or against it (False); None if it tells not."""
    tool = turn.tool
    if tool is None or tool.ok is False:
        return None
    if tool.name in EDIT_TOOLS:
        return _judge_edit(check, tool.target)
    if tool.name not in SHELL_TOOLS or not (check.wanted or check.unwanted):
        return None
    programs = {_program(part) for part in _SEGMENT.split(tool.action)}
    if programs & check.unwanted:
        return False
    return True if programs & check.wanted else None


def _program(part: str) -> str:
    words = _PREFIX.sub("", part).split()
    return words[0].rpartition("/")[2] if words else ""


def _judge_edit(check: RuleCheck, path: str) -> bool | None:
    path = path.replace("\\", "/")
    if any(_within(path, folder) for folder in check.protected):
        return False
    if check.test_folders and _A_TEST.search(path):
        return any(_within(path, folder) for folder in check.test_folders)
    return None


def _within(path: str, folder: str) -> bool:
    folder = folder.strip("/")
    return path.startswith(f"{folder}/") or f"/{folder}/" in path or path == folder
