"""The log of a repository as commits, read with git's plumbing and nothing written."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from holdfast.errors import InputError
from holdfast.model.team import Commit
from holdfast.sources.shapes import normal_time

BODY_LIMIT = 4000
FILES_LIMIT = 200
_FIELDS = ("%H", "%P", "%aI", "%aN", "%aE", "%s", "%b")


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a repository, bare or not."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def read_commits(path: Path, bank: str) -> Iterator[Commit]:
    """Every commit reachable from HEAD, newest first, with the names of the files it touched."""
    # Borders that no message can contain, because nobody could know them beforehand.
    record, field = (f"<{os.urandom(12).hex()}>" for _ in range(2))
    form = record + field.join(_FIELDS) + field
    command = ["git", "-C", str(path), "log", "--name-only", "-z", f"--format={form}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C.UTF-8")
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=complaints,
                stdin=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            raise InputError(
                f"git cannot be run: {error.strerror}.",
                "Install git to read a repository's history.",
            ) from error
        with process:
            yield from _commits(process.stdout, record, field, bank)
        complaints.seek(0)
        complaint = complaints.read().decode("utf-8", "replace").strip()
    if process.returncode and "does not have any commits" not in complaint:
        raise InputError(
            f"The history of {path} cannot be read: {complaint or 'git failed'}.",
            "Check it with `git log` in that folder.",
        )


def _commits(output: IO[bytes] | None, record: str, field: str, bank: str) -> Iterator[Commit]:
    left = b""
    while output is not None and (chunk := output.read(1 << 20)):
        *whole, left = (left + chunk).split(record.encode())
        yield from (commit for part in whole if (commit := _commit(part, field, bank)))
    last = _commit(left, field, bank)
    if last:
        yield last


def _commit(record: bytes, field: str, bank: str) -> Commit | None:
    fields = record.decode("utf-8", "replace").split(field)
    if len(fields) < 8:
        return None
    sha, parents, time, author, email, subject, body = (
        field.strip("\x00\n") for field in fields[:7]
    )
    files = [name for name in fields[7].split("\x00") if name.strip("\n")]
    return Commit(
        bank=bank,
        id=sha,
        time=normal_time(time),
        author=author,
        email=email,
        subject=subject,
        body=body.strip()[:BODY_LIMIT],
        files=tuple(name.strip("\n") for name in files[:FILES_LIMIT]),
        parents=tuple(parents.split()),
    )
