"""Commands run in this process, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.interfaces.cli.main import main

Run = Callable[..., tuple[int, str]]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command; its status, and all that it printed. What came before is not told."""
    capsys.readouterr()

    def call(*arguments: str) -> tuple[int, str]:
        status = main(list(arguments))
        return status, "".join(capsys.readouterr())

    return call


def read(run: Run, *arguments: str) -> Any:
    """What a command tells programs."""
    status, text = run(*arguments, "--json")
    assert status == 0, text
    return json.loads(text)
