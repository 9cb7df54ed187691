"""Clues in a transcript to the repository that a folder was in.

A folder that exists is asked with git (`sources.project`). One that is gone is known by what its
transcripts show: what the agent itself noted of the repository, and what commands of git and of
GitHub's `gh` printed. A command counts for the folder that it ran in; one of which that is not
certain counts for nothing. Nothing here decides which folders are one project.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath, PureWindowsPath

import orjson

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.bank import Clue, ClueKind
from holdfast.model.ids import content_id
from holdfast.regex import regex
from holdfast.sources.agent import Agent
from holdfast.sources.draft import FileInfo
from holdfast.sources.json_fields import Record, mapping
from holdfast.sources.lines import Openable, Segment, read_lines
from holdfast.sources.project import normal_remote

# Lines without one of these hold no clue, and need not be parsed. What is before the colon in JSON
# may have a space after it.
_MARKS = (b"git ", b"gh ", b"pr-link", b"worktree-state", b"repository_url", b"gitRoot")
# Commits of one listing that are compared. More would only repeat what the first show.
_MAX_COMMITS = 40
_SHORT_HASH = 7
_MAX_COMMAND_CHARS = 2000
_SHELL_TOOLS = ("Bash", "PowerShell")
# A command that works elsewhere than in its folder, or on another machine.
_ELSEWHERE = regex(r"\b(?:pushd|popd|ssh|docker|podman|GIT_DIR|GIT_WORK_TREE|--git-dir)\b")
_ASKS_REPOSITORY = regex(r"\s*(?:\w+=\S*\s+|sudo\s+|time\s+)*(git|gh)\s")
_LEADING_CD = regex(r"""\s*cd\s+("[^"]+"|'[^']+'|[^\s;&|]+)\s*(?:&&|;|\n)""")
_CD = regex(r"(?:^|[;&|(\n]\s*)cd\s")
_SPLIT = regex(r"&&|\|\||[;\n|]")
_REMOTE_LINE = regex(r"^(\S+)\t(\S+) \((?:fetch|push)\)$", re.MULTILINE)
_PUSHED_TO = regex(r"^To (\S+)$", re.MULTILINE)
_FETCHED_FROM = regex(r"^From (\S+)$", re.MULTILINE)
_COMMITTED = regex(r"^\[[^\]\n]{1,100}? ([0-9a-f]{7,40})\] (\S.*)$", re.MULTILINE)
_LOGGED = regex(r"^([0-9a-f]{7,40}) (?:\([^)\n]*\) )?(\S.*)$", re.MULTILINE)
_WORKTREE = regex(
    r"^(?:worktree )?((?:/|[A-Za-z]:[/\\])[^\n]*?)(?:\s+(?:[0-9a-f]{7,40}\b.*|\(bare\)))?$",
    re.MULTILINE,
)
_PULL_URL = regex(r"https?://([^/\s\"]+/[^/\s\"]+/[^/\s\"]+)/(?:pull|-/merge_requests)/\d+")
_FAILED = regex(r"^(?:fatal|error): ", re.MULTILINE)
# git prints the address of a remote over ssh without the user.
_REMOTE_URL = regex(
    r"^(?:[a-z][a-z0-9+.-]*://\S+|[^@\s/]+@[^:\s/]+:\S+|[^:@\s/]+\.[^:@\s/]+:[^\s/\\]\S+)$",
    re.IGNORECASE,
)
_DRIVE = regex(r"[A-Za-z]:[/\\]")
_FULL_HASH = regex(r"[0-9a-f]{40}")


class _Command(NamedTuple):
    folder: str
    text: str


def read_clues(file: Openable, lines: Segment, agent: Agent, info: FileInfo) -> list[Clue]:
    """The clues in some lines of a transcript, each once, in the order in which they are shown."""
    session = info.session.cwd
    waiting: dict[str, _Command] = {}
    found: dict[Clue, None] = {}
    for line in read_lines(file, lines):
        data = line.data
        is_marked = any(mark in data for mark in _MARKS)
        if not is_marked and not any(call.encode() in data for call in waiting):
            continue
        record = _parse(data)
        if not record:
            continue
        for clue in agent.repository_clues(record):
            found[clue if clue.folder else clue._replace(folder=session)] = None
        outputs = dict(agent.tool_outputs(record))
        if is_marked:
            ran_in = agent.command_folder(record)
            folder = session if ran_in == "" else ran_in or ""
            for turn in agent.read_record(record, info).turns:
                tool = turn.tool
                if tool is not None and tool.call and tool.name in _SHELL_TOOLS:
                    waiting[tool.call] = _Command(folder, tool.action[:_MAX_COMMAND_CHARS])
        for call, output in outputs.items():
            command = waiting.pop(call, None)
            if command is not None:
                found |= dict.fromkeys(clues_of_command(*command, output))
    return [clue for clue in found if clue.folder]


def _parse(data: bytes) -> Record:
    try:
        return mapping(orjson.loads(data))
    except orjson.JSONDecodeError:
        return {}


def remote_clue(folder: str, url: str) -> Iterator[Clue]:
    """The clue of a remote's URL, where it is one. A path on this machine is none: it may be gone
    as well, and be another repository today."""
    url = url.strip()
    if _REMOTE_URL.match(url) and not url.lower().startswith("file:"):
        yield Clue(folder, ClueKind.REMOTE, normal_remote(url))


def head_clue(folder: str, hash: str) -> Iterator[Clue]:
    """The clue of a commit by its whole hash, where it is one."""
    if _FULL_HASH.fullmatch(hash):
        yield Clue(folder, ClueKind.HEAD, hash)


def pull_clue(folder: str, text: str) -> Iterator[Clue]:
    """The clue of a pull request's URL, where a text has that of one repository alone."""
    repositories = {name.lower() for name in _PULL_URL.findall(text)}
    if len(repositories) == 1:
        yield Clue(folder, ClueKind.PULL, repositories.pop())


def commit_value(hash: str, subject: str) -> str:
    """How a commit is compared: by the start of its hash, and by its subject, because so short a
    start is not unique among all repositories."""
    return f"{hash[:_SHORT_HASH]} {content_id(subject.strip())}"


def clues_of_command(folder: str, command: str, output: str) -> Iterator[Clue]:
    """The clues in the output of a command that was run in a folder."""
    if _ELSEWHERE.search(command):
        return
    leading = _LEADING_CD.match(command)
    if leading is not None:
        folder = join_path(folder, leading[1].strip("\"'"))
        command = command[leading.end() :]
    if _CD.search(command):
        return
    texts = [text for text in _SPLIT.split(command) if text.strip()]
    for words in filter(None, map(_words, texts)):
        here = folder
        if words[0] == "git" and len(words) > 2 and words[1] == "-C":
            here, words = join_path(folder, words[2]), ["git", *words[3:]]
        if not here or "-C" in words[:3] or len(words) < 2:
            continue
        reader = _READERS.get((words[0], words[1]))
        if reader is not None:
            yield from reader(here, words[2:], output, len(texts) == 1)


def _words(text: str) -> list[str]:
    """The words of a command of git or `gh`; none of any other."""
    found = _ASKS_REPOSITORY.match(text)
    try:
        return shlex.split(text[found.start(1) :]) if found is not None else []
    except ValueError:
        return []


def join_path(folder: str, path: str) -> str:
    """A path as seen from a folder, of any system; "" where it depends on the environment."""
    is_windows = _DRIVE.match(folder or path) is not None
    pure = PureWindowsPath if is_windows else PurePosixPath
    depends = path.startswith(("~", "%")) or "$" in path
    if depends or not (folder or pure(path).is_absolute()):
        return ""
    parts: list[str] = []
    for part in (pure(folder) / path).parts:
        if part == "..":
            parts = parts[:-1] if len(parts) > 1 else parts
        elif part != ".":
            parts.append(part)
    return str(pure(*parts)) if parts else ""


Words = Sequence[str]


def _plain(words: Words) -> list[str]:
    return [word for word in words if not word.startswith("-") and word != "2>&1"]


def _remote(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    if words and words[0] == "get-url":
        named = _plain(words[1:])[:1]
        if is_alone and named == ["origin"]:
            yield from remote_clue(folder, output)
        return
    if "-v" not in words and "--verbose" not in words:
        return
    urls = dict(_REMOTE_LINE.findall(output))
    name = "origin" if "origin" in urls else next(iter(urls), "")
    if name == "origin" or len(urls) == 1:
        yield from remote_clue(folder, urls.get(name, ""))


def _config(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    asks = [word for word in _plain(words) if word != "get"] == ["remote.origin.url"]
    if is_alone and asks:
        yield from remote_clue(folder, output)


def _names_other_remote(words: Words) -> bool:
    named = _plain(words)
    return bool(named) and named[0] != "origin"


def _push(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    if not _names_other_remote(words):
        for url in _PUSHED_TO.findall(output):
            yield from remote_clue(folder, url)


def _fetch(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    if not _names_other_remote(words) and "--all" not in words:
        for url in _FETCHED_FROM.findall(output):
            yield from remote_clue(folder, url)


def _clone(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    named = [word for word in _plain(words) if not word.isdigit()]
    if not named or _FAILED.search(output) or len(named) > 2:
        return
    name = named[1] if len(named) > 1 else re.split(r"[/:]", named[0].rstrip("/"))[-1]
    target = join_path(folder, name.removesuffix(".git") if len(named) == 1 else name)
    if target:
        yield from remote_clue(target, named[0])


def _worktree(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    if words[:1] == ["list"]:
        for path in _WORKTREE.findall(output):
            yield Clue(folder, ClueKind.WORKTREE, path.rstrip())
    elif words[:1] == ["add"] and not _FAILED.search(output):
        path = _worktree_path(words[1:])
        target = join_path(folder, path) if path else ""
        if target:
            yield Clue(folder, ClueKind.WORKTREE, target)


def _worktree_path(words: Words) -> str:
    """The folder that `git worktree add` makes: the first word that belongs to no option."""
    rest = iter(words)
    for word in rest:
        if word in ("-b", "-B", "--reason"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _rev_parse(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    path = output.strip()
    if not is_alone or "\n" in path or _FAILED.search(path):
        return
    if list(words) == ["--show-toplevel"] and path:
        yield Clue(folder, ClueKind.WORKTREE, path)
    elif list(words) == ["HEAD"]:
        yield from head_clue(folder, path)
    elif words[-1:] == ["--git-common-dir"] and path.endswith("/.git"):
        yield Clue(folder, ClueKind.WORKTREE, join_path(folder, path.removesuffix("/.git")))


def _commit(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    for hash, subject in _COMMITTED.findall(output)[:_MAX_COMMITS]:
        yield Clue(folder, ClueKind.COMMIT, commit_value(hash, subject))


def _log(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    if "--oneline" in words and not any(word.startswith("--all") for word in words):
        for hash, subject in _LOGGED.findall(output)[:_MAX_COMMITS]:
            yield Clue(folder, ClueKind.COMMIT, commit_value(hash, subject))


def _pull(folder: str, words: Words, output: str, is_alone: bool) -> Iterator[Clue]:
    elsewhere = any(word in ("-R", "--repo") or "://" in word for word in words)
    shows = words[:1] == ["create"] or (words[:1] == ["view"] and "url" in words)
    if shows and not elsewhere:
        yield from pull_clue(folder, output)


_READERS = {
    ("git", "remote"): _remote,
    ("git", "config"): _config,
    ("git", "push"): _push,
    ("git", "fetch"): _fetch,
    ("git", "pull"): _fetch,
    ("git", "clone"): _clone,
    ("git", "worktree"): _worktree,
    ("git", "rev-parse"): _rev_parse,
    ("git", "commit"): _commit,
    ("git", "log"): _log,
    ("gh", "pr"): _pull,
}
