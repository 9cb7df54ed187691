"""What the name of a file says about the work in it: nothing, if every project has such a file."""

from __future__ import annotations

import re

from holdfast.regex import regex

_GENERIC_FILE = regex(
    r"^(?:readme|license|changelog|contributing|claude|agents|skill|notice|makefile|"
    r"dockerfile|procfile|__init__|__main__|conftest|setup|index|main|mod|lib|app|types?|utils?|"
    r"helpers?|constants|config|package|package-lock|pnpm-lock|yarn|bun|cargo|poetry|uv|"
    r"go|default|gemfile|composer|tsconfig\w*|jsconfig|pyproject|requirements\w*|pubspec|build|pom|vite|"
    r"webpack|jest|vitest|eslint|prettier|babel|docker-compose|justfile|\W.*)(?:\.[\w-]+)*$",
    re.IGNORECASE,
)
_INDEX = regex(r"^(?:(?:index|mod|__init__|default)\.\w+|skill\.md)$", re.IGNORECASE)
_LOCK = regex(r"(?:\.lock|\.lockb|\.sum|-lock\.\w+|\.min\.\w+|\.map|\.snap)$", re.IGNORECASE)
_TEST = regex(r"^(?:test_|spec_)|(?:[._-](?:tests?|spec|unit|e2e))$", re.IGNORECASE)
# The number of a document, a decision or a test: "0012-", "S003-", "t26_".
_NUMBER = regex(r"^[a-z]{0,3}\d{1,4}[a-z]?[-_ ]+(?=[^\W\d])", re.IGNORECASE)
_ABSOLUTE = regex(r"^(?:/|~|[A-Za-z]:/|\.\./)")
# What a file weighs relative to others: README, package.json and lock files say next to nothing,
# and an absolute path lies outside of the project.
_GENERIC_WEIGHT = 0.1
_OUTSIDE_WEIGHT = 0.2


def normalise_path(path: str) -> str:
    """A path with forward slashes and without a leading "./"."""
    return path.replace("\\", "/").removeprefix("./")


def file_weight(file: str) -> float:
    """How much a file says by its name: 1 unless every project has it or it lies outside."""
    name = file.rpartition("/")[2]
    if _GENERIC_FILE.match(name) or _LOCK.search(name):
        return _GENERIC_WEIGHT
    return _OUTSIDE_WEIGHT if _ABSOLUTE.match(file) else 1.0


def file_topic(file: str) -> str:
    """The name of a file without its number, its extensions and test markers; "" if every project
    has a file of that name."""
    name = file.rpartition("/")[2]
    root = name.partition(".")[0] if not name.startswith(".") else name
    bare = without_number(without_test_mark(root))
    return "" if not bare or _GENERIC_FILE.match(bare) else bare


def without_number(name: str) -> str:
    """The name of a file without the number that it starts with."""
    return _NUMBER.sub("", name)


def without_test_mark(name: str) -> str:
    """The name of a file of tests without what says that it is one: what it tests."""
    return _TEST.sub("", name)


def is_index(file: str) -> bool:
    """Whether a file stands for its folder, as index.ts, mod.rs, __init__.py and SKILL.md do."""
    return _INDEX.match(file.rpartition("/")[2]) is not None and "/" in file
