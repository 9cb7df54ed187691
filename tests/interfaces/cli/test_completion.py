"""Completion, asked of the shells themselves."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.interfaces.cli.commands.completion import SCRIPTS
from holdfast.model.bank import Bank
from holdfast.settings import Settings
from tests.support.waiting import wait_until

NASTY = "$(touch pwned) `touch pwned` ;x"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A home with banks, one of them named to do harm, and `holdfast` on the path."""
    with (
        Holdfast(Settings(home=tmp_path / "home", claude_dir=tmp_path)) as memory,
        (store := memory.store).transaction(),
    ):
        for number, name in enumerate(("tidewatch", "tide tables", NASTY)):
            store.banks.add(Bank(f"b{number}", name, ""))
    program = tmp_path / "bin" / "holdfast"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast "$@"\n')
    program.chmod(0o755)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOLDFAST_HOME": str(tmp_path / "home"),
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }


def run(shell: str, text: str, env: dict[str, str], cwd: Path) -> list[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *flags, "-c", text],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def in_bash(typed: list[str], env: dict[str, str], cwd: Path) -> list[str]:
    """What bash offers for the last of the words that were typed."""
    words = " ".join(f"'{word}'" for word in typed)
    call = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _holdfast"
    print_replies = 'printf "%s\\n" "${COMPREPLY[@]}"'
    return run("bash", f"{SCRIPTS['bash']}\n{call}\n{print_replies}", env, cwd)


def test_bash_completes_commands_options_words_and_banks(
    env: dict[str, str], tmp_path: Path
) -> None:
    def typed(*words: str) -> list[str]:
        return in_bash(["holdfast", *words], env, tmp_path)

    assert typed("rec") == ["recall", "records"]
    assert {"restore", "restore-backup"} <= set(typed("rest"))
    assert typed("recall", "--bu") == ["--budget"]
    assert typed("recall", "--budget", "") == ["low", "mid", "high"]
    assert typed("recall", "--budget", "=", "m") == ["mid"]
    assert typed("bank", "s") == ["show", "set"]
    assert typed("auto-learn", "--bank", "x", "pro") == ["promote"]
    assert typed("bank", "merge", "--b") == [""]
    assert typed("recall", "word") == typed("backup", "no") == typed("nonsense", "--b") == [""]


def test_bash_quotes_bank_names_and_executes_none(env: dict[str, str], tmp_path: Path) -> None:
    offered = in_bash(["holdfast", "ask", "--bank", "tide"], env, tmp_path)
    assert sorted(offered) == ["tide\\ tables", "tidewatch"]
    assert len(in_bash(["holdfast", "ask", "--bank", ""], env, tmp_path)) == 4
    assert not (tmp_path / "pwned").exists()


def test_fish_completes_the_same(env: dict[str, str], tmp_path: Path) -> None:
    setup = [
        f"complete -C {line!r}"
        for line in ("holdfast rec", "holdfast recall --budget ", "holdfast ask --bank tide")
    ]
    output = run("fish", "\n".join([SCRIPTS["fish"], *setup]), env, tmp_path)
    offered = [line.partition("\t")[0] for line in output]
    assert offered[:1] == ["recall", "records"] and {"low", "mid", "high"} <= set(offered)
    assert {"tidewatch", "tide tables"} <= {name.replace("\\", "") for name in offered}
    assert not (tmp_path / "pwned").exists()


def test_zsh_completes_the_same_in_a_terminal(env: dict[str, str], tmp_path: Path) -> None:
    program = shutil.which("zsh")
    if program is None:
        pytest.skip("zsh is not installed here")
    (tmp_path / "_holdfast").write_text(SCRIPTS["zsh"])
    start = f"autoload -Uz compinit; compinit -u -D; source {tmp_path}/_holdfast; PS1=\n"
    typed = {
        "holdfast recall --bud\t": "--budget ",
        "holdfast recall --budget l\t": "low ",
        "holdfast ask --bank tidew\t": "tidewatch ",
        "holdfast bank li\t": "list ",
    }
    with Terminal([program, "-f", "-i"], env, tmp_path) as terminal:
        terminal.type(start)
        for keys, wanted in typed.items():
            terminal.type(keys)
            terminal.expect(wanted)
            terminal.type("\x15")


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, command: list[str], env: dict[str, str], cwd: Path) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._seen = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *ignored: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def type(self, keys: str) -> None:
        """Type; what was seen before does not count any more."""
        self._seen = ""
        os.write(self._ours, keys.encode())

    def expect(self, wanted: str) -> None:
        """Wait until it is seen."""
        wait_until(lambda: wanted in self._read(), f"the terminal shows {wanted!r}")

    def _read(self) -> str:
        """What was seen so far, and what comes in a moment."""
        if select.select([self._ours], [], [], 0.2)[0]:
            self._seen += os.read(self._ours, 4096).decode("utf-8", "replace")
        return self._seen


def test_bank_completion_works_without_a_memory(env: dict[str, str], tmp_path: Path) -> None:
    env = {**env, "HOLDFAST_HOME": str(tmp_path / "none")}
    assert in_bash(["holdfast", "ask", "--bank", ""], env, tmp_path) == ["all"]
    assert not (tmp_path / "none").exists()
