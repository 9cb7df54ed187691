"""Runs the commands of docs/tour.md in a home of their own, and writes down what they say.

A block that begins with ```console holds commands after `$ ` and what each printed. What cannot
be the same twice (the home, times that pass) is put in fixed words, here and by the test that
holds the page to it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path

from holdfast.interfaces.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tour.md"
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.M | re.S)
_CHANGING = (
    (re.compile(r"\b(?:less than a minute|\d[\d,]* (?:minute|hour|day)s?) ago\b"), "3 days ago"),
    (re.compile(r"\bjust now\b"), "3 days ago"),
    (re.compile(r"holdfast://memory/[0-9a-f]+"), "holdfast://memory/5b1d6dd6ec21a3ff"),
    (re.compile(r"\b\d+\.\d GB free\b"), "58.4 GB free"),
    (re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d \S+: remember"), "2026-11-20 10:00 ada: remember"),
)

Run = Callable[[str], str]


def told(text: str, run: Run) -> str:
    """The page with what its commands say now."""
    return _BLOCK.sub(lambda found: "".join(_block(found[1], run)), text)


def _block(text: str, run: Run) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            yield line
            yield run(line[2:].strip())


def fixed(text: str) -> str:
    """What a command said, with what changes put in fixed words."""
    for pattern, words in _CHANGING:
        text = pattern.sub(words, text)
    today = datetime.now(UTC)
    text = text.replace(f"{today.day} {today:%b %Y}", "20 Nov 2026")
    return text.replace(f"{today:%Y-%m-%d}", "2026-11-20")


def runner(home: Path) -> Run:
    """Runs commands in a home, far from any real one; `$HOME` is called ~."""

    def run(command: str) -> str:
        name, *arguments = shlex.split(command)
        assert name == "holdfast", command
        out = io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            contextlib.suppress(SystemExit),
        ):
            main(arguments)
        return fixed(out.getvalue().replace(str(home), "~").replace(f"{ROOT}/", ""))

    return run


@contextlib.contextmanager
def newcomer() -> Generator[Path]:
    """An environment as somebody has it who has just installed Holdfast; gives the empty home. Its
    name is as long every time, for lines are folded after it was put in."""
    before, folder = dict(os.environ), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="tour-", dir="/tmp") as home:
        for name in [name for name in os.environ if name.startswith(("HOLDFAST", "CLAUDE"))]:
            del os.environ[name]
        os.environ |= {"HOME": home, "PATH": "/usr/bin:/bin"}
        os.chdir(ROOT)
        try:
            yield Path(home)
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ |= before


def rewrite() -> None:
    """Write the page anew."""
    with newcomer() as home:
        PAGE.write_text(told(PAGE.read_text("utf-8"), runner(home)), "utf-8")


if __name__ == "__main__":
    rewrite()
