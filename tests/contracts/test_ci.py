"""CI runs on the promised systems and Pythons, and only what a developer can run: make targets."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
JOBS: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))[
    "jobs"
]


def test_three_systems_and_every_promised_python_are_tested() -> None:
    matrix = JOBS["quick"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    # And the one after, before it is promised.
    assert matrix["python"][:-1] == named and len(matrix["python"]) == 4


def test_every_step_that_runs_something_is_a_make_target() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    commands = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
    assert {"make check", "make quick", "make test"} <= set(commands)
    for command in commands:
        program, _, target = command.partition(" ")
        assert program == "make" and target in targets, command
