"""Commands in the documents exist, with the options that the documents give them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import COMMANDS, actions_of, make_parser

ROOT = Path(__file__).parents[2]
# The changelog tells of commands as they were.
_PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "docs/decisions/*.md")
    for page in ROOT.glob(pattern)
    if page.name != "CHANGELOG.md"
)
_BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`(holdfast [^`\n]+)`(?!`)")
# The tour mistypes a command and a value on purpose, and one page adds a command.
_MADE_UP = (
    "holdfast recal alerts", "holdfast recall alerts --budget lwo", "holdfast growth",
    "holdfast growth --limit 3",
)  # fmt: skip


def commands_of(text: str) -> list[str]:
    """The commands in blocks and in sentences, without comments and what is piped onward."""
    lines = [
        line.strip().removeprefix("$ ")
        for block in _BLOCK.findall(text)
        for line in block.splitlines()
    ]
    found = [line for line in lines if line.startswith("holdfast ")]
    found += _INLINE.findall(_BLOCK.sub("", text))
    return [re.split(r"\s#|\s{2,}| \| | > | < |\s&& ", command)[0] for command in found]


@cache
def options_of(command: str, action: str = "") -> frozenset[str]:
    """Every option of a command, or of one of its actions; argparse lists those of the subcommands
    of a command that is written by hand nowhere."""
    parser = make_parser(command, action)
    named = set(re.findall(r"--[a-z][a-z-]*", parser.format_help()))
    arguments: list[Any] = parser._actions  # pyright: ignore[reportPrivateUsage]
    subparsers = [one.choices for one in arguments if hasattr(one.choices, "values")]
    for sub in (sub for some in subparsers for sub in some.values()):
        named |= set(re.findall(r"--[a-z][a-z-]*", sub.format_help()))
    return frozenset(named)


def problem_of(command: str) -> str:
    """What is wrong with a command; "" if nothing is."""
    # What is quoted is an argument, whatever it looks like.
    words = re.sub(r"\"[^\"]*\"|'[^']*'", "ARGUMENT", command).split()
    name = words[1] if len(words) > 1 else ""
    if name.startswith("-") or not re.fullmatch(r"[a-z-]+", name):
        return ""
    if name == "help":
        return ""
    if name not in COMMANDS:
        return f"no command {name}"
    used = {found for word in words[2:] for found in re.findall(r"^\[?(--[a-z][a-z-]*)", word)}
    action = next((word for word in words[2:3] if word in actions_of(name)), "")
    unknown = sorted(used - options_of(name, action))
    return (
        f"{' '.join(words[1 : 3 if action else 2])} has no {', '.join(unknown)}" if unknown else ""
    )


@pytest.mark.parametrize("page", _PAGES, ids=[str(page.relative_to(ROOT)) for page in _PAGES])
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    given = [c for c in commands_of(page.read_text("utf-8")) if c not in _MADE_UP]
    wrong = {command: found for command in given if (found := problem_of(command))}
    assert wrong == {}


def test_commands_are_found_in_blocks_and_sentences() -> None:
    block = "```sh\n$ holdfast ask x   # why\nholdfast facts | less\n```\n"
    text = f"Run `holdfast status --json`.\n\n{block}"
    assert commands_of(text) == ["holdfast ask x", "holdfast facts", "holdfast status --json"]
    assert problem_of("holdfast recal x") == "no command recal"
    assert problem_of("holdfast recall x --limt 3") == "recall has no --limt"
    assert problem_of("holdfast promote approve x --why y") == "promote approve has no --why"
    assert problem_of('holdfast ask "is --limt an option?"') == ""
    pages = [page for page in _PAGES if commands_of(page.read_text("utf-8"))]
    assert len(pages) > 30
