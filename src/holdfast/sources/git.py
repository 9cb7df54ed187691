"""The log of a repository as commits, read with git's plumbing and nothing written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from holdfast.errors import InputError
from holdfast.model.team import Commit
from holdfast.sources.shapes import normal_time

BODY_LIMIT = 4000
FILES_LIMIT = 200
_RECORD = "\x1e"
_FIELD = "\x1f"
_FORMAT = _RECORD + _FIELD.join(["%H", "%P", "%aI", "%aN", "%aE", "%s", "%b"]) + _FIELD


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a repository, bare or not."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def read_commits(path: Path, bank: str) -> Iterator[Commit]:
    """Every commit reachable from HEAD, newest first, with the names of the files it touched."""
    command = ["git", "-C", str(path), "log", "--name-only", "-z", f"--format={_FORMAT}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C.UTF-8")
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise InputError(
            f"git cannot be run: {error.strerror}.", "Install git to read a repository's history."
        ) from error
    with process:
        assert process.stdout is not None and process.stderr is not None
        left = b""
        while chunk := process.stdout.read(1 << 20):
            *whole, left = (left + chunk).split(_RECORD.encode())
            yield from (commit for record in whole if (commit := _commit(record, bank)))
        complaint = process.stderr.read().decode("utf-8", "replace").strip()
    last = _commit(left, bank)
    if last:
        yield last
    if process.returncode and "does not have any commits" not in complaint:
        raise InputError(
            f"The history of {path} cannot be read: {complaint or 'git failed'}.",
            "Check it with `git log` in that folder.",
        )


def _commit(record: bytes, bank: str) -> Commit | None:
    fields = record.decode("utf-8", "replace").split(_FIELD)
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
