"""The manual page, checked by those who would show it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.interfaces.cli.main import COMMANDS, GROUPS, main
from holdfast.interfaces.cli.manual import from_docs, page

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def manual() -> str:
    return from_docs((ROOT / "docs/cli.md").read_text("utf-8"), "1.2.3")


def test_the_manual_has_every_command_and_option(manual: str) -> None:
    for title in GROUPS:
        assert f"\n.B {title}\n" in manual
    for name in COMMANDS:
        assert f".SS holdfast {name}\n".replace("-", "\\-") in manual
    assert manual.count("\n.B \\-\\-bank NAME\n") > 20
    assert "holdfast 1.2.3" in manual


def test_the_printed_manual_is_the_one_built_from_the_docs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["help", "--man"]) == 0
    built = from_docs((ROOT / "docs/cli.md").read_text("utf-8"), "0")
    printed = capsys.readouterr().out
    assert built.split(".SH NAME")[1] == printed.split(".SH NAME")[1]


def test_text_that_looks_like_a_roff_command_is_escaped() -> None:
    text = "usage: holdfast x\n\n.TH looks like one\n'so does this \\fB\n\noptions:\n  --a  .b\n"
    made = page("", {"x": text}, "1")
    assert "\n\\&.TH looks" in made and "\n\\&'so does this \\efB" in made and "\n\\&.b" in made


@pytest.mark.parametrize("program", ["groff", "mandoc"])
def test_formatters_accept_the_manual_without_warnings(program: str, manual: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")
    command = {
        "groff": ["groff", "-man", "-Tutf8", "-ww", "-K", "utf8"],
        "mandoc": ["mandoc", "-Tlint", "-Wwarning"],
    }
    done = subprocess.run(
        command[program], input=manual, capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    if program == "groff":
        assert "HOLDFAST(1)" in done.stdout
    else:  # a page that is the same for one version has no date
        assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []
