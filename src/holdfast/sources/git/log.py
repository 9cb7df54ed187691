"""Reads commits: author, time, message, parents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from holdfast.model.team import Commit
from holdfast.sources.git.git_process import Git
from holdfast.sources.json_fields import normal_time

# The rest of a longer message is cut.
MAX_BODY_CHARS = 4000
_FIELDS = ("%H", "%P", "%aI", "%aN", "%aE", "%s", "%b")


def is_repository(path: Path) -> bool:
    """Whether a folder is the top of a repository, bare or not."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def read_log(git: Git, bank: str, tips: Iterable[str], known: Iterable[str]) -> Iterator[Commit]:
    """The commits reachable from `tips` and not from `known`, newest first, without their files.
    Authors are named as the repository's mailmap has them."""
    # Random separators, so that no message can contain them.
    record, field = (f"<{os.urandom(12).hex()}>" for _ in range(2))
    form = record + field.join(_FIELDS)
    wanted = [*tips, *(f"^{id}" for id in known)]
    left = b""
    with git.stream("rev-list", "--stdin", f"--format=tformat:{form}", stdin=wanted) as output:
        while chunk := output.read(1 << 20):
            *whole, left = (left + chunk).split(record.encode())
            yield from (commit for part in whole if (commit := _commit(part, field, bank)))
    last = _commit(left, field, bank)
    if last:
        yield last


def _commit(record: bytes, field: str, bank: str) -> Commit | None:
    """A commit; its record ends with the line that announces the next one."""
    fields = record.decode("utf-8", "replace").split(field)
    if len(fields) < len(_FIELDS):
        return None
    sha, parents, time, author, email, subject, body = (part.strip("\x00\n") for part in fields)
    body, _, announced = body.rpartition("\n")
    if not announced.startswith("commit "):
        body = f"{body}\n{announced}"
    return Commit(
        bank=bank,
        id=sha,
        time=normal_time(time),
        author=author,
        email=email,
        subject=subject,
        body=body.strip()[:MAX_BODY_CHARS],
        parents=tuple(parents.split()),
    )
