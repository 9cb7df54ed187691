from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import coverage_summary

ONE_OF_TWO = "def choose(flag):\n    if flag:\n        return 1\n    return 2\n\nchoose({flag})\n"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """What `coverage json` writes about a package that takes one branch of two in one part, and
    one that takes both in another."""
    for name, calls in (("half", "True"), ("whole", "True)\nchoose(False")):
        path = tmp_path / "holdfast" / name / "__init__.py"
        path.parent.mkdir(parents=True)
        path.write_text(ONE_OF_TWO.format(flag=calls))
    (tmp_path / "holdfast" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text("[tool.coverage.run]\nbranch = true\n")
    (tmp_path / "run.py").write_text("import holdfast.half\nimport holdfast.whole\n")
    for command in (["run", "--include=holdfast/*", "run.py"], ["json", "-o", "report.json"]):
        subprocess.run(
            [sys.executable, "-m", "coverage", *command],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            env={},
        )
    return tmp_path / "report.json"


def test_branches_are_counted_by_package(report: Path) -> None:
    found = coverage_summary.packages(json.loads(report.read_text()))
    assert found == {"half": (1, 2), "whole": (2, 2)}


@pytest.mark.parametrize(("floor", "status"), [((), 0), (("75",), 0), (("76",), 1)])
def test_fewer_branches_than_the_floor_are_a_failure(
    report: Path, floor: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert coverage_summary.main([str(report), *floor]) == status
    printed = capsys.readouterr().out
    assert " 75.0 % of     4 branches  in all\n" in printed
    assert ("Too few: 76 % are needed" in printed) == bool(status)
