"""Running commands of the command line in this process: a process of its own takes ten times as
long, and shows no more unless the test is about processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main

Run = Callable[..., tuple[int, str]]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command and returns its exit status and all that it printed. Output
    from before is discarded."""
    capsys.readouterr()

    def call(*arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        return status, "".join(capsys.readouterr())

    return call


def read(run: Run, *arguments: str) -> Any:
    """The output of a command with `--json`, parsed; fails if the command fails."""
    status, text = run(*arguments, "--json")
    assert status == 0, text
    return json.loads(text)


def run_command(
    arguments: list[str], env: Mapping[str, str], cwd: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process as if it were one of its own: with an environment, in a folder,
    with `given` on its standard input. Returns what it printed and its exit status."""
    out, err = (TextIOWrapper(BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        changed_environment(env),
        chdir(cwd or Path.cwd()),
        _standard_input(given),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            status = main(arguments)
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 1
    printed, complained = (
        stream.buffer.getvalue().decode()  # pyright: ignore[reportAttributeAccessIssue]
        for stream in (out, err)
    )
    return subprocess.CompletedProcess(["holdfast", *arguments], status, printed, complained)


@contextmanager
def changed_environment(env: Mapping[str, str]) -> Generator[None]:
    """Within this block the environment is `env`, and nothing else."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _standard_input(text: str) -> Generator[None]:
    before = sys.stdin
    with TextIOWrapper(BytesIO(text.encode()), "utf-8") as sys.stdin:
        try:
            yield
        finally:
            sys.stdin = before
