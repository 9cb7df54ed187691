"""Reads the history of a repository, from where the last run stopped.

A run can be killed at any point: what is stored already is recognised and skipped. Commits that a
rewritten history no longer contains stay, and are marked as unmerged. A commit that is reverted is
retracted, until the revert is reverted itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from holdfast.capture.redact import Redactor
from holdfast.errors import InputError
from holdfast.model.corrections import corrected_commit
from holdfast.model.query import Passage
from holdfast.model.team import Commit
from holdfast.model.trust import Status
from holdfast.refine.core.banks import BankMaker
from holdfast.refine.core.curated_records import apply_decision
from holdfast.refine.core.passages import commit_passage
from holdfast.refine.ingest.erasure_marks import ErasedNames
from holdfast.refine.ingest.turns import PrivacyRules
from holdfast.regex import regex
from holdfast.sources.git.git_process import Git
from holdfast.sources.git.log import read_log
from holdfast.sources.git.patches import read_patches
from holdfast.sources.git.refs import (
    Tips,
    count_commits,
    existing_commits,
    read_tags,
    read_tips,
    unmerged_commits,
)
from holdfast.store.protocol import Reader, Writer
from holdfast.store.records.git_history import Patch, Repository, Tag

# Commits that are redacted and stored together. More saves transactions, takes memory, and repeats
# more after a crash.
COMMIT_BATCH = 200
_REVERTS = regex(r"\bThis reverts (?:commit|merge) ([0-9a-f]{7,64})", re.IGNORECASE)
_SYMBOL = regex(r"[A-Za-z_][\w.]{2,60}")
# Names of functions and classes in the context of a commit.
_MAX_SYMBOLS = 40
_KEYWORDS = frozenset(
    "async await class const def default enum export fn for func function impl import interface "
    "let module namespace new pub public private protected return static struct trait type var "
    "void int str bool self this None null true false string".split()
)
# How many reverts of reverts are followed; also ends a cycle.
_MAX_REVERT_DEPTH = 8


class HistoryReport(NamedTuple):
    """The bank of a repository, how many commits it has, how many of them were new, and how many
    HEAD does not contain (`astray`)."""

    bank: str
    commits: int
    new: int
    astray: int = 0


class HistoryOptions(NamedTuple):
    """How to read a repository: what is redacted, the bank ("" for that of the folder), and whether
    diffs are read too."""

    rules: PrivacyRules
    bank: str = ""
    with_diff: bool = True


# Called with the commits read so far and how many there are in total.
Progress = Callable[[int, int], None]


def read_history(
    writer: Writer,
    banks: BankMaker,
    path: Path,
    options: HistoryOptions,
    now: Callable[[], str],
    on_progress: Progress = lambda done, total: None,
) -> HistoryReport:
    """Read what is new in the repository at a path."""
    folder = path.resolve()
    if banks.is_excluded(str(folder)):
        raise InputError(
            f"{path} is excluded from memory by the settings.",
            "See exclude.projects in config.toml.",
        )
    git = Git(folder)
    git_dir = git.query("rev-parse", "--path-format=absolute", "--git-common-dir").strip()
    if not git_dir:
        with git.stream("rev-parse", "--git-dir"):
            pass  # raises an error that says what is wrong
    with writer.transaction():
        named = options.bank
        bank = banks.ensure_named(writer, named) if named else banks.ensure(writer, str(folder))
    tips = read_tips(git)
    before = next((r for r in writer.git.repositories(bank) if r.path == git_dir), None)
    adds_diffs = before is not None and options.with_diff and not before.diffs
    known = existing_commits(git, before.tips) if before is not None and not adds_diffs else []
    total = count_commits(git, tips)
    new = _read_commits(
        writer, git, bank, tips, known, options, adds_diffs, lambda done: on_progress(done, total)
    )
    unmerged = unmerged_commits(git, tips, known)
    tags = [Tag(*tag) for tag in read_tags(git)]
    names = [*(tag.name for tag in tags), *(name for name, _ in tips.names)]
    erased = ErasedNames(writer, bank, [("tag", name) for name in names])
    tags = [tag for tag in tags if not erased.has("tag", tag.name)]
    branches = [pair for pair in tips.names if not erased.has("tag", pair[0])]
    with writer.transaction():
        read = Repository(bank, git_dir, tips.head, tips.all, now(), str(folder), options.with_diff)
        writer.git.put_repository(read, tags, unmerged)
        writer.git.put_branches(bank, branches)
    found = writer.banks.get(bank)
    return HistoryReport(found.name if found else bank, total, new, len(unmerged))


def _read_commits(
    writer: Writer,
    git: Git,
    bank: str,
    tips: Tips,
    known: Sequence[str],
    options: HistoryOptions,
    adds_diffs: bool,
    on_batch: Callable[[int], None],
) -> int:
    """Store the commits reachable from `tips` and not from `known`, with `adds_diffs` the diffs of
    those that are stored without; returns how many were new."""
    if not tips.all:
        return 0
    redactor = Redactor(options.rules.patterns)
    seen = new = 0
    log = iter(read_log(git, bank, tips.all, known))
    while batch := list(islice(log, COMMIT_BATCH)):
        seen += len(batch)
        stored = writer.git.known_commits(bank, [commit.id for commit in batch])
        if adds_diffs:
            _add_diffs(writer, git, bank, [c for c in batch if c.id in stored], redactor)
        fresh = [commit for commit in batch if commit.id not in stored]
        patches = {
            p.commit: p for p in _redacted_patches(git, bank, fresh, options.with_diff, redactor)
        }
        cleaned = [_redact_commit(commit, patches.get(commit.id), redactor) for commit in fresh]
        new += _store_commits(writer, bank, cleaned, patches)
        on_batch(seen)
    return new


def _add_diffs(
    writer: Writer, git: Git, bank: str, commits: Sequence[Commit], redactor: Redactor
) -> None:
    """Store the diffs of commits that were read without them."""
    patches = [p for p in _redacted_patches(git, bank, commits, True, redactor) if p.diff]
    with writer.transaction():
        writer.git.put_patches(patches)
        for patch in patches:
            commit = writer.git.commit_uncurated(bank, patch.commit)
            if commit is not None:
                writer.passages.replace(commit, curated_commit_passage(writer, commit))


def _redacted_patches(
    git: Git, bank: str, commits: Sequence[Commit], with_diff: bool, redactor: Redactor
) -> Iterator[Patch]:
    def clean(text: str) -> str:
        return redactor.redact(text).text if text else ""

    ids = [commit.id for commit in commits if len(commit.parents) < 2]
    for patch in read_patches(git, ids, with_diff) if ids else ():
        changes = (c._replace(path=clean(c.path), was=clean(c.was)) for c in patch.changes)
        yield Patch(bank, patch.commit, tuple(changes), clean(patch.diff))


def _redact_commit(commit: Commit, patch: Patch | None, redactor: Redactor) -> Commit:
    def clean(text: str) -> str:
        return redactor.redact(text).text

    return replace(
        commit,
        author=clean(commit.author),
        email=clean(commit.email),
        subject=clean(commit.subject),
        body=clean(commit.body),
        files=tuple(change.path for change in patch.changes) if patch else (),
    )


def _store_commits(
    writer: Writer, bank: str, commits: Sequence[Commit], patches: dict[str, Patch]
) -> int:
    with writer.transaction():
        erased = ErasedNames(writer, bank, [("commit", commit.id) for commit in commits])
        kept = [commit for commit in commits if not erased.has("commit", commit.id)]
        reverted_ids: list[str] = []
        for commit in kept:
            if reverted := _REVERTS.findall(commit.body):
                writer.git.put_reverts(bank, commit.id, reverted)
                reverted_ids += reverted
        writer.git.put_patches(patches[c.id] for c in kept if c.id in patches)
        added = writer.git.put_commits(
            [(commit, curated_commit_passage(writer, commit)) for commit in kept]
        )
        writer.git.index_touches(bank, [commit.id for commit in kept])
        for name in reverted_ids:
            _refresh_reverted(writer, bank, name)
    return added


def _refresh_reverted(writer: Writer, bank: str, name: str, depth: int = _MAX_REVERT_DEPTH) -> None:
    """Update the passage of a commit that was reverted, and of those that it reverts itself."""
    for commit in writer.records.find(bank, "commit", name):
        if isinstance(commit, Commit):
            writer.passages.replace(commit, curated_commit_passage(writer, commit))
            for other in _REVERTS.findall(commit.body) if depth else ():
                _refresh_reverted(writer, bank, other, depth - 1)


def is_reverted(reader: Reader, bank: str, commit: str, depth: int = _MAX_REVERT_DEPTH) -> bool:
    """Whether a commit was reverted by one that is not reverted itself."""
    return depth > 0 and any(
        not is_reverted(reader, bank, other, depth - 1)
        for other in reader.git.reverted_by(bank, commit)
    )


def curated_commit_passage(reader: Reader, commit: Commit) -> Passage | None:
    """The passage of a commit with people's corrections; None if it is forgotten."""
    known = reader.curation.state(commit.bank, "commit", commit.id)
    shown = apply_decision(known, commit, corrected_commit)
    if shown is None:
        return None
    patch = reader.git.patch(commit.bank, commit.id)
    passage = commit_passage(shown, touched_symbols(patch.diff) if patch else "")
    if is_reverted(reader, commit.bank, commit.id):
        return passage._replace(status=Status.RETRACTED)
    return passage


def touched_symbols(diff: str) -> str:
    """The names of the functions and classes that the hunks of a diff are in."""
    names: dict[str, None] = {}
    for line in diff.splitlines():
        if line.startswith("@@ "):
            header = line.split(" ", 2)[2:]
            names |= dict.fromkeys(_SYMBOL.findall(" ".join(header)))
    return " ".join([name for name in names if name not in _KEYWORDS][:_MAX_SYMBOLS])
