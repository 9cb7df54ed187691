"""Which transcripts there are to read, and whose each is.

An agent's own folders hold its own files. Of a path that a person names every file is looked at,
and told by its first bytes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from holdfast.errors import InputError
from holdfast.refine.ingest.read_plan import Input
from holdfast.settings import Settings
from holdfast.sources.agent import Agent, Where
from holdfast.sources.claude_code.files import find_transcripts
from holdfast.sources.registry import FIRST, agents
from holdfast.sources.source_files import is_there

_TAIL_BYTES = 64 * 1024
_TIMESTAMP = re.compile(rb'"timestamp": ?"(\d{4}-\d\d-\d\dT[\d:.]{8,16}Z?)"')
_PEEK_BYTES = 512 * 1024
_JOURNAL = b'{"v":1,"id":"'
_HEAD_BYTES = 64 * 1024
_ENDINGS = (".jsonl", ".json", ".db", ".vscdb")


def where_of(settings: Settings) -> Where:
    """Where this user's agents are looked for."""
    env = {**settings.folders, "CLAUDE_CONFIG_DIR": str(settings.claude_dir)}
    return Where(settings.user_home or settings.claude_dir.parent, env, sys.platform)


def default_folders(where: Where) -> list[tuple[Path, Agent]]:
    """The folders that are there of those that agents keep their sessions in."""
    return [
        (folder, agent)
        for agent in agents().values()
        for folder in agent.folders(where)
        if folder.exists()
    ]


def find_all(where: Where, problems: list[str], agent: str = "") -> Iterator[tuple[Path, str]]:
    """Every session that the agents of this user keep, each by its agent; or those of one."""
    for folder, known in default_folders(where):
        if agent in ("", known.name):
            yield from ((path, known.name) for path in known.find(folder, problems))


def find_inputs(
    paths: Iterable[Path], bank: str = "", problems: list[str] | None = None
) -> list[Input]:
    """The transcripts that the paths name, oldest first: a fork is read after its original.
    What cannot be looked into is told in `problems`."""
    noted = problems if problems is not None else []
    found: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_file():
            found += _in_file(path, noted)
        elif path.is_dir():
            found += _in_folder(path, noted)
        elif (within := _within(path)) is not None:
            found.append((path, within.name))
        elif path.exists():
            raise InputError(f"{path} is neither a file nor a folder.", "Give a transcript.")
        else:
            raise InputError(f"{path} does not exist.", "Give a transcript, or a folder of them.")
    return in_order(found, bank, noted)


def _in_file(path: Path, problems: list[str]) -> Iterator[tuple[Path, str]]:
    agent = whose(path)
    if agent.name == FIRST:
        _refuse_other_formats(path)
    yield from ((inner, agent.name) for inner in agent.find(path, problems))


def _in_folder(path: Path, problems: list[str]) -> Iterator[tuple[Path, str]]:
    """What lies in a folder, each by the agent whose it is."""
    first = agents()[FIRST]
    for file in find_transcripts(path, problems, _ENDINGS):
        agent = whose(file)
        if agent is not first:
            yield from ((inner, agent.name) for inner in agent.find(file, problems))
        elif file.suffix == ".jsonl":
            yield file, first.name


def whose(path: Path) -> Agent:
    """The agent that wrote a file; the first one's where nothing tells."""
    known = agents()
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return known[FIRST]
    others = (agent for agent in known.values() if agent.name != FIRST)
    return next((agent for agent in others if agent.knows(path, head)), known[FIRST])


def _within(path: Path) -> Agent | None:
    """The agent that keeps sessions within a file, for a path of one of them."""
    whole = next((parent for parent in path.parents if parent.is_file()), None)
    agent = whose(whole) if whole is not None else None
    return agent if agent and agent.layout and is_there(str(path), agent.name) else None


def in_order(files: Iterable[tuple[Path, str]], bank: str, problems: list[str]) -> list[Input]:
    """Transcripts to read, each by its agent and once, oldest first."""
    found: dict[str, Input] = {}
    for file, agent in files:
        real = Path(os.path.abspath(file))  # noqa: PTH100 - links keep their own name
        if _spelled(real):
            found.setdefault(str(real), Input(real, agent, bank))
        else:
            problems.append(f"{os.fsencode(real)!r}: its name is not UTF-8")
    return sorted(found.values(), key=lambda item: (_ended(item.path), str(item.path)))


def _refuse_other_formats(path: Path) -> None:
    """A file that a person names must be a transcript: what is read cannot be unread yet."""
    try:
        with path.open("rb") as file:
            first = file.readline(_PEEK_BYTES).strip()
    except OSError:
        return  # reading it will tell why
    if first.startswith(_JOURNAL):
        raise InputError(
            f"{path} is a journal of what hooks told.", "It is read when its session is over."
        )
    dialogue = b'"text"' in first and b'"type"' not in first
    if first and (dialogue or (path.suffix != ".jsonl" and not first.startswith(b"{"))):
        raise InputError(
            f"{path} does not look like a transcript.",
            "Those of agents are known by their shape; any other dialogue is read with "
            "`holdfast import conversation FILE --bank NAME`.",
        )


def _spelled(path: Path) -> bool:
    """Whether a path can be written down as text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _ended(path: Path) -> str:
    """The last moment that a transcript tells, or else when its file was changed: copying a
    folder gives every file a new date, and a fork must still come after its original."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            told = _TIMESTAMP.findall(file.read())
            changed = os.fstat(file.fileno()).st_mtime
    except OSError:
        return ""
    if told:
        return str(max(told).decode())
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="milliseconds")
