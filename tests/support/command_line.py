"""Running commands of the command line in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
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
