"""Real repositories, and somebody who commits to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

_DATE = "2026-03-01T12:00:00+02:00"


def git(folder: Path, *arguments: str, author: str = "Ann Ex <ann@x.org>") -> str:
    """What git prints, run in somebody's name."""
    name, _, email = author.rstrip(">").partition(" <")
    identity = ["-c", f"user.name={name}", "-c", f"user.email={email}"]
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, message: str, author: str = "Ann Ex <ann@x.org>", **files: str) -> str:
    """Everything that lies there, with these files; the name of the commit."""
    for name, content in files.items():
        (folder / name).write_text(content)
    git(folder, "add", "-A")
    arguments = ["commit", "-q", "--allow-empty", "--cleanup=verbatim", "--date", _DATE]
    git(folder, *arguments, "-m", message, author=author)
    return git(folder, "rev-parse", "HEAD")


def make_repository(folder: Path) -> Path:
    """One without commits, on `main`."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder
