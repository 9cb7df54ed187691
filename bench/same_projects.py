"""Banks of folders that are gone: how many there are before and after the clear joins.

Real sessions, none of whose folders exists here, are read twice. As they are: which folders became
one bank, listed one by one, because a person must judge that. And spread: the sessions of each
project are dealt over up to 26 folders with names that say nothing, so that only what the
transcripts show can bring them together again; what belongs together is then known, and a join of
two projects is counted as wrong. All projects are compared with each other at once.

`HELD_BACK` is half of the projects, drawn by a hash of their names before anything but the names
was looked at; the rules were written with the other half in view.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from bench.corpus import data_folder, unpacked
from holdfast.model.bank import StoredClue
from holdfast.paths import comparable_path
from holdfast.refine.core.same_projects import BankView, Join, find_joins
from holdfast.refine.ingest.discovery import find_inputs
from holdfast.refine.ingest.read_plan import Input, describe_file
from holdfast.sources.lines import Segment
from holdfast.sources.project import base_name, main_folder
from holdfast.sources.registry import agents
from holdfast.sources.repository_clues import read_clues
from holdfast.sources.source_files import source_snapshot

ARCHIVES = (
    "eval/archaeology.tar.xz",
    "transcripts/claude-code-versions.tar.xz",
    "transcripts/codex-copilot.tar.xz",
    "transcripts/opencode.tar.xz",
)
HELD_BACK = frozenset(
    "JSSoundRecorder agents-md-evaluator async-fixture claude-code-log claude_p "
    "danieldemmel.me-next nimbus oh-my-posh project test-fixture".split()
)
# As many folders as one real repository was found in.
FOLDERS = 26
# A project with fewer sessions cannot be spread.
MIN_SESSIONS = 8
# Projects that lie in several folders or under another name, by hand.
_PROJECT_OF = {"carol": "claude-code-log", "av-t2o5-3-workspace": "agentv"}


_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"]+)"')
_FILE = re.compile(rb'"file_?[pP]ath"\s*:\s*"((?:[^"\\]|\\.)+)"')


class Transcript(NamedTuple):
    """One transcript of a project; those of subagents name the session that started them."""

    item: Input
    folder: str
    project: str
    session: str


class _Moved(NamedTuple):
    """The bytes of a transcript as if its session had been in another folder."""

    data: bytes

    def open(self, mode: Literal["rb"], buffering: int = -1) -> BinaryIO:
        return BytesIO(self.data)


def transcripts(folder: Path) -> Iterator[Transcript]:
    """The transcripts below a folder that name their own."""
    for item in find_inputs([folder], ""):
        seen = source_snapshot(item.path, item.agent)
        cwd = describe_file(item, seen.file).session.cwd
        if cwd:
            name = base_name(main_folder(cwd))
            above = cwd.replace("\\", "/").rstrip("/").split("/")[-2:-1]
            if above and above[0].endswith("worktrees"):
                name = above[0].removesuffix("worktrees").rstrip("._-") or name
            named = _SESSION.search(item.path.read_bytes())
            session = named[1].decode() if named else item.path.stem
            yield Transcript(item, cwd, _PROJECT_OF.get(name, name), session)


def read(found: list[tuple[Transcript, str]]) -> tuple[list[BankView], list[StoredClue]]:
    """The banks that the transcripts make in these folders, and the clues in them."""
    clues: list[StoredClue] = []
    sessions: Counter[str] = Counter()
    for number, (one, folder) in enumerate(found):
        sessions[folder] += 1
        seen = source_snapshot(one.item.path, one.item.agent)
        with seen.file.open("rb") as opened:
            data = opened.read()
        moved = _Moved(data.replace(_json(one.folder), _json(folder)))
        info = describe_file(one.item, moved)
        agent = agents()[one.item.agent]
        for clue in read_clues(moved, Segment(0, len(moved.data)), agent, info):
            clues.append(StoredClue(folder, number, *clue))
    views = [
        BankView(folder, base_name(folder), frozenset({comparable_path(main_folder(folder))}),
                 sessions=count)
        for folder, count in sessions.items()
    ]  # fmt: skip
    return views, clues


def _json(path: str) -> bytes:
    return path.replace("\\", "\\\\").encode()


def joins_of(found: list[tuple[Transcript, str]]) -> tuple[list[Join], list[Join]]:
    """The clear joins of the banks that the transcripts make, and the proposals."""
    views, clues = read(found)
    files: dict[str, set[str]] = {}
    for one, folder in found:
        files.setdefault(folder, set()).update(_files(one))
    joins = find_joins(views, clues, lambda bank: files[bank])
    return [j for j in joins if j.is_clear], [j for j in joins if not j.is_clear]


def _files(one: Transcript) -> Iterator[str]:
    """The files in the project that tools were given, by their names in the raw transcript."""
    root = one.folder.replace("\\", "/").rstrip("/") + "/"
    for name in set(_FILE.findall(one.item.path.read_bytes())):
        path = name.decode("utf-8", "replace").replace("\\\\", "/")
        if path.startswith(root):
            yield path.removeprefix(root)


def _as_they_are(found: list[Transcript]) -> Iterator[str]:
    placed = [(one, main_folder(one.folder)) for one in found]
    folders = {folder for _, folder in placed}
    joins, proposed = joins_of(placed)
    yield f"as they are: {len(folders)} banks before, {len(folders) - len(joins)} after"
    yield from (f"  {join.bank} -> {join.into}: {join.reason}" for join in joins)
    yield f"  proposed: {len(proposed)}"
    yield from (f"  {join.bank} -> {join.into}: {join.reason}" for join in proposed)


def _spread(found: list[Transcript]) -> Iterator[str]:
    sessions: dict[str, list[str]] = {}
    for one in found:
        sessions.setdefault(one.project, []).append(one.session)
    placed: list[tuple[Transcript, str]] = []
    for one in found:
        known = list(dict.fromkeys(sessions[one.project]))
        if len(known) < MIN_SESSIONS or one.project == "tmp":
            continue
        number = known.index(one.session) % FOLDERS
        name = hashlib.sha256(f"{one.project} {number}".encode()).hexdigest()[:10]
        placed.append((one, f"/gone/{name}"))
    project_of = {folder: one.project for one, folder in placed}
    joins, proposed = joins_of(placed)
    banks = Counter(project_of.values())
    joined = Counter(project_of[join.bank] for join in joins)
    could_be = Counter(project_of[join.bank] for join in proposed)
    for half in (False, True):
        yield f"spread, {'held back' if half else 'looked at'}: banks, after clear joins, proposed"
        for project in sorted(p for p in banks if (p in HELD_BACK) is half):
            left = banks[project] - joined[project]
            yield f"  {project}: {banks[project]} -> {left} -> {left - could_be[project]}"
    for what, some in (("joins", joins), ("proposals", proposed)):
        wrong = sum(project_of[join.bank] != project_of[join.into] for join in some)
        yield f"{what} of two projects: {wrong} of {len(some)}"


def run() -> Iterator[str]:
    """The measurement."""
    with ExitStack() as archives:
        folders = [archives.enter_context(unpacked(name)) for name in ARCHIVES]
        found = [one for folder in folders if folder for one in transcripts(folder)]
        if not all(folders):
            yield f"skipped: not all of {', '.join(ARCHIVES)} are in {data_folder()}"
            return
        yield f"{len(found)} transcripts of {len({one.project for one in found})} projects"
        yield from _as_they_are(found)
        yield from _spread(found)


if __name__ == "__main__":
    for line in run():
        print(line)
