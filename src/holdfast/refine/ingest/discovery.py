"""Finds the transcripts to read, and which agent wrote each.

Files in an agent's own folder belong to that agent. In a path that a person names, the agent of
each file is recognised by the file's first bytes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from holdfast.errors import InputError
from holdfast.refine.ingest.read_plan import Input
from holdfast.regex import regex
from holdfast.settings import Settings
from holdfast.sources.agent import Agent, UserEnvironment
from holdfast.sources.claude_code.files import find_transcripts
from holdfast.sources.registry import DEFAULT_AGENT, agents
from holdfast.sources.source_files import source_exists

# Bytes at the end of a transcript that are searched for its last timestamp: a few of its lines.
_TAIL_BYTES = 64 * 1024
_TIMESTAMP = regex(rb'"timestamp": ?"(\d{4}-\d\d-\d\dT[\d:.]{8,16}Z?)"')
# Bytes of a first line that are read to tell a transcript from other formats.
_FIRST_LINE_BYTES = 512 * 1024
_JOURNAL_START = b'{"v":1,"id":"'
# Bytes that an agent is shown to recognise its files.
_HEAD_BYTES = 64 * 1024
_EXTENSIONS = (".jsonl", ".json", ".db", ".vscdb")


def user_environment(settings: Settings) -> UserEnvironment:
    """The folders and variables that agents of this user are found by."""
    env = {**settings.folders, "CLAUDE_CONFIG_DIR": str(settings.claude_dir)}
    return UserEnvironment(settings.user_home or settings.claude_dir.parent, env, sys.platform)


def default_folders(environment: UserEnvironment) -> list[tuple[Path, Agent]]:
    """The existing folders in which agents keep their sessions, each with its agent."""
    return [
        (folder, agent)
        for agent in agents().values()
        for folder in agent.folders(environment)
        if folder.exists()
    ]


def find_all_transcripts(
    environment: UserEnvironment, problems: list[str], agent: str = ""
) -> Iterator[tuple[Path, str]]:
    """Every transcript in the agents' own folders with its agent's name; only those of `agent` if
    one is given. Folders that cannot be read are added to `problems`."""
    for folder, known in default_folders(environment):
        if agent in ("", known.name):
            yield from ((path, known.name) for path in known.find(folder, problems))


def find_inputs(
    paths: Iterable[Path], bank: str = "", problems: list[str] | None = None
) -> list[Input]:
    """The transcripts in some files and folders, oldest first, so that a fork is read after its
    original. Folders that cannot be read are added to `problems`."""
    noted = problems if problems is not None else []
    found: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_file():
            found += _in_file(path, noted)
        elif path.is_dir():
            found += _in_folder(path, noted)
        elif (within := _agent_of_inner_path(path)) is not None:
            found.append((path, within.name))
        elif path.exists():
            raise InputError(f"{path} is neither a file nor a folder.", "Give a transcript.")
        else:
            raise InputError(f"{path} does not exist.", "Give a transcript, or a folder of them.")
    return sort_inputs(found, bank, noted)


def _in_file(path: Path, problems: list[str]) -> Iterator[tuple[Path, str]]:
    agent = detect_agent(path)
    if agent.name == DEFAULT_AGENT:
        _refuse_other_formats(path)
    yield from ((inner, agent.name) for inner in agent.find(path, problems))


def _in_folder(path: Path, problems: list[str]) -> Iterator[tuple[Path, str]]:
    first = agents()[DEFAULT_AGENT]
    for file in find_transcripts(path, problems, _EXTENSIONS):
        agent = detect_agent(file)
        if agent is not first:
            yield from ((inner, agent.name) for inner in agent.find(file, problems))
        elif file.suffix == ".jsonl":
            yield file, first.name


def detect_agent(path: Path) -> Agent:
    """The agent that wrote a file; the default one if no other recognises it."""
    known = agents()
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return known[DEFAULT_AGENT]
    others = (agent for agent in known.values() if agent.name != DEFAULT_AGENT)
    return next((agent for agent in others if agent.recognises(path, head)), known[DEFAULT_AGENT])


def _agent_of_inner_path(path: Path) -> Agent | None:
    """The agent of a path below a file: some agents keep many sessions in one file, such as a
    database, and each session has a path of its own below it."""
    whole = next((parent for parent in path.parents if parent.is_file()), None)
    agent = detect_agent(whole) if whole is not None else None
    return agent if agent and agent.layout and source_exists(str(path), agent.name) else None


def sort_inputs(files: Iterable[tuple[Path, str]], bank: str, problems: list[str]) -> list[Input]:
    """The inputs for transcripts, each once, oldest first. Names must be UTF-8, else a problem."""
    found: dict[str, Input] = {}
    for file, agent in files:
        real = Path(os.path.abspath(file))  # noqa: PTH100 - links keep their own name
        if _is_utf8(real):
            found.setdefault(str(real), Input(real, agent, bank))
        else:
            problems.append(f"{os.fsencode(real)!r}: its name is not UTF-8")
    return sorted(found.values(), key=lambda item: (_end_time(item.path), str(item.path)))


def _refuse_other_formats(path: Path) -> None:
    """Raise `InputError` for a file that is no transcript: once read, it would stay in memory."""
    try:
        with path.open("rb") as file:
            first = file.readline(_FIRST_LINE_BYTES).strip()
    except OSError:
        return  # reading it will report the error
    if first.startswith(_JOURNAL_START):
        raise InputError(
            f"{path} is a journal of hook events.", "It is read when its session is over."
        )
    dialogue = b'"text"' in first and b'"type"' not in first
    if first and (dialogue or (path.suffix != ".jsonl" and not first.startswith(b"{"))):
        raise InputError(
            f"{path} does not look like a transcript.",
            "Transcripts of agents are recognised by their content; any other dialogue is read by "
            "`holdfast import conversation FILE --bank NAME`.",
        )


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _end_time(path: Path) -> str:
    """The last timestamp in a transcript, or else the time of its file. Copying a folder gives
    every file a new time, and a fork must still come after its original."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            timestamps = _TIMESTAMP.findall(file.read())
            changed = os.fstat(file.fileno()).st_mtime
    except OSError:
        return ""
    if timestamps:
        return str(max(timestamps).decode())
    return datetime.fromtimestamp(changed, UTC).isoformat(timespec="milliseconds")
