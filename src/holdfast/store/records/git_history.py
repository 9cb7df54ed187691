"""Commits, patches, reverts, tags and branches of repositories, and how far they were read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Passage
from holdfast.model.team import Commit, FileChange
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    batches,
    insert_missing,
    placeholders_for,
    upsert,
)
from holdfast.store.sql.table import COMMIT


class Patch(NamedTuple):
    """What a commit changed, file by file, and the relevant hunks."""

    bank: str
    commit: str
    changes: tuple[FileChange, ...] = ()
    diff: str = ""


class Repository(NamedTuple):
    """A repository that was read. `path` is the folder of its objects, `folder` the working folder,
    `head` and `tips` the commits up to which it was read; `diffs` is whether diffs were read."""

    bank: str
    path: str
    head: str
    tips: tuple[str, ...]
    read_at: str
    folder: str = ""
    diffs: bool = True


class Tag(NamedTuple):
    """A git tag."""

    name: str
    commit: str
    time: str


class CommitAuthorship(NamedTuple):
    """That a session made a commit: in which exchange, with which certainty (`score`, 0 to 1), and
    the reason."""

    bank: str
    commit: str
    session: str
    exchange: str
    score: float
    because: str


class FileTouch(NamedTuple):
    """That a commit touched a file. `fate` is as in `FileChange`, or `W` where the file was renamed
    to `other`; else `other` is its previous name. `added` and `removed` count lines; `blob` is
    git's name of its content afterwards, where known."""

    path: str
    time: str
    commit: str
    fate: str
    other: str = ""
    added: int = 0
    removed: int = 0
    blob: str = ""


_FILE_CHANGE = "path, time, id, change, other_path, added, removed, blob"

_IN_HEAD = (
    "NOT EXISTS (SELECT 1 FROM unmerged_commit AS u WHERE u.bank = file_change.bank "
    "AND u.id = file_change.id)"
)


class GitHistory(Subject):
    """Reads the history of repositories."""

    _passages: Passages
    _progress: StageProgress

    def patch(self, bank: str, commit: str) -> Patch | None:
        """What a commit changed, if that was read."""
        row = self._db.one(
            "SELECT changes, diff FROM commit_patch WHERE bank = ? AND id = ?", (bank, commit)
        )
        if row is None:
            return None
        return Patch(bank, commit, tuple(FileChange(*c) for c in json.loads(row[0])), row[1])

    def reverted_by(self, bank: str, commit: str) -> list[str]:
        """The commits that say they revert this one."""
        # Written out or shortened: a name is the start of what it names.
        found = self._db.all(
            "SELECT id FROM commit_revert WHERE bank = ? AND reverted >= ? AND reverted <= ? "
            "AND substr(?, 1, length(reverted)) = reverted AND id <> ? ORDER BY id",
            (bank, commit[:7], commit, commit, commit),
        )
        return [id for (id,) in found]

    def reverts(self, bank: str, commit: str) -> list[str]:
        """The commits that this one says it reverts, each as it spells it."""
        found = self._db.all(
            "SELECT reverted FROM commit_revert WHERE bank = ? AND id = ? ORDER BY reverted",
            (bank, commit),
        )
        return [name for (name,) in found]

    def tags(self, bank: str, commit: str = "") -> list[Tag]:
        """The tags of a bank, or of one commit, by time."""
        one, values = (" AND id = ?", (commit,)) if commit else ("", ())
        found = self._db.all(
            f"SELECT name, id, time FROM git_tag WHERE bank = ?{one} ORDER BY time, name",
            (bank, *values),
        )
        return [Tag(*row) for row in found]

    def repositories(self, bank: str | None = None) -> list[Repository]:
        """The repositories that were read."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            "SELECT bank, path, head, tips, read_at, folder, diffs FROM repository "
            f"WHERE {where} ORDER BY bank, path",
            values,
        )
        return [
            Repository(b, p, head, tuple(json.loads(tips)), at, folder, bool(diffs))
            for b, p, head, tips, at, folder, diffs in found
        ]

    def unmerged_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits HEAD did not contain when its repository was last read."""
        return self._among("unmerged_commit", bank, commits)

    def has_unmerged_commits(self, bank: str | None) -> bool:
        """Whether there is any such commit."""
        where, values = self._db.in_bank(bank)
        return (
            self._db.one(f"SELECT 1 FROM unmerged_commit WHERE {where} LIMIT 1", values) is not None
        )

    def branches(self, bank: str) -> dict[str, str]:
        """The branches of this clone by name, each with its last commit."""
        return dict(self._db.all("SELECT name, id FROM git_branch WHERE bank = ?", (bank,)))

    def reachable_commits(self, bank: str, tip: str) -> set[str]:
        """A commit and all its ancestors, as far as they were read."""
        found = self._db.all(
            'WITH RECURSIVE line(id) AS (SELECT id FROM "commit" WHERE bank = ? AND id = ? '
            'UNION SELECT value FROM line JOIN "commit" AS c ON c.bank = ? AND c.id = line.id, '
            f"{self._db.dialect.json_items}(c.parents)) SELECT id FROM line",
            (bank, tip, bank),
        )
        return {tip, *(id for (id,) in found)}

    def touches(self, bank: str, path: str, since: str, limit: int) -> list[FileTouch]:
        """The changes of a file after a time in commits that HEAD contains, oldest first."""
        found = self._db.all(
            f"SELECT {_FILE_CHANGE} FROM file_change WHERE bank = ? AND path = ? AND time > ? AND "
            f"{_IN_HEAD} "
            "ORDER BY time, id, change LIMIT ?",
            (bank, path, since, limit),
        )
        return [FileTouch(*row) for row in found]

    def last_touch(self, bank: str, path: str, until: str) -> FileTouch | None:
        """The last change of a file up to a time, in commits that HEAD contains."""
        row = self._db.one(
            f"SELECT {_FILE_CHANGE} FROM file_change WHERE bank = ? AND path = ? AND time <= ? AND "
            f"{_IN_HEAD} "
            "ORDER BY time DESC, id DESC, change = 'W' LIMIT 1",
            (bank, path, until),
        )
        return FileTouch(*row) if row else None

    def session_commits(self, bank: str, session: str) -> set[str]:
        """The commits that a session made, with those of its subagents and of its parent."""
        found = self._db.all(
            "SELECT a.id FROM session AS o "
            "JOIN session AS s ON s.host = o.host AND s.bank = o.bank "
            "JOIN commit_session AS a ON a.bank = s.bank AND a.session = s.id "
            "WHERE o.bank = ? AND o.id = ?",
            (bank, session),
        )
        return {id for (id,) in found}

    def last_commit(self, bank: str, until: str) -> str:
        """The latest commit up to a time that HEAD contains; "" if there is none."""
        row = self._db.one(
            'SELECT id FROM "commit" AS c WHERE bank = ? AND time <= ? AND NOT EXISTS '
            "(SELECT 1 FROM unmerged_commit AS a WHERE a.bank = c.bank AND a.id = c.id) "
            "ORDER BY time DESC, id DESC LIMIT 1",
            (bank, until),
        )
        return row[0] if row else ""

    def _among(self, table: str, bank: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for some in batches(ids):
            sql = f'SELECT id FROM "{table}" WHERE bank = ? AND id IN ({placeholders_for(some)})'
            found.update(id for (id,) in self._db.all(sql, (bank, *some)))
        return found

    def authorship(self, bank: str, commit: str = "", session: str = "") -> list[CommitAuthorship]:
        """Which sessions made which commits, the most certain first: of one commit, or of one
        session."""
        found = self._db.all(
            "SELECT bank, id, session, exchange, score, because FROM commit_session "
            "WHERE bank = ? AND ? IN ('', id) AND ? IN ('', session) "
            "ORDER BY score DESC, id, session",
            (bank, commit, session),
        )
        return [CommitAuthorship(*row) for row in found]

    def renames(self, bank: str) -> list[tuple[str, str, str]]:
        """Every rename of a file in commits that are not hidden: time, old name, new name; the
        earliest first. A rename is left out where another file was later added under the old name,
        because the names then mean two files."""
        found = self._changes(bank, "R")
        moved = [
            (time, was, path) for time, path, fate, was in found if fate == "R" and was != path
        ]
        if not moved:
            return []
        added: dict[str, str] = {}
        for time, path, fate, _ in self._changes(bank, "A"):
            if fate == "A":
                added[path] = max(time, added.get(path, ""))
        return sorted(move for move in moved if added.get(move[1], "") <= move[0])

    def _changes(self, bank: str, fate: str) -> Iterator[tuple[str, str, str, str]]:
        """All changes of files in the commits that have a change of this kind: time, path, change
        and the path before."""
        found = self._db.all(
            "SELECT c.time, p.changes FROM commit_patch AS p JOIN visible_commit AS c "
            "ON c.bank = p.bank AND c.id = p.id WHERE p.bank = ? AND p.changes LIKE ?",
            (bank, f'%"{fate}"%'),
        )
        for time, changes in found:
            for path, what, was, *_ in json.loads(changes):
                yield time, path, what, was

    def put_commits(self, commits: Iterable[tuple[Commit, Passage | None]]) -> int:
        """Store commits, each with its passage (None: it cannot be found); returns how many were
        new."""
        banks: list[str] = []
        for commit, passage in commits:
            added = self._db.run(insert_missing("commit", COMMIT.columns), COMMIT.row(commit))
            if added:
                banks.append(commit.bank)
                self._passages.replace(commit, passage)
        for bank in dict.fromkeys(banks):
            self._progress.mark_changed(bank, "")
        return len(banks)

    def known_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits there are already."""
        return self._among("commit", bank, commits)

    def put_patches(self, patches: Iterable[Patch]) -> None:
        """Keep what commits changed."""
        self._db.run_many(
            upsert("commit_patch", "bank, id, changes, diff", "bank, id"),
            [
                (p.bank, p.commit, json.dumps(p.changes, separators=(",", ":")), p.diff)
                for p in patches
            ],
        )

    def index_touches(self, bank: str, commits: Sequence[str]) -> None:
        """Index by file what stored commits changed."""
        for some in batches(commits):
            self._db.run(
                f"INSERT INTO file_change (bank, {_FILE_CHANGE}) SELECT bank, {_FILE_CHANGE} "
                f"FROM file_change_of_patch WHERE bank = ? AND id IN ({placeholders_for(some)}) "
                "ON CONFLICT (bank, path, time, id, change) DO UPDATE SET "
                "other_path = excluded.other_path, added = excluded.added, "
                "removed = excluded.removed, blob = excluded.blob",
                (bank, *some),
            )

    def put_branches(self, bank: str, branches: Iterable[tuple[str, str]]) -> None:
        """Replace the branches of a bank's repository."""
        self._db.run("DELETE FROM git_branch WHERE bank = ?", (bank,))
        self._db.run_many(
            upsert("git_branch", "bank, name, id", "bank, name"),
            [(bank, name, commit) for name, commit in branches],
        )

    def put_reverts(self, bank: str, commit: str, reverted: Iterable[str]) -> None:
        """Keep which commits one reverts, each by its full or shortened id."""
        self._db.run_many(
            insert_missing("commit_revert", "bank, id, reverted"),
            [(bank, commit, other) for other in reverted],
        )

    def put_authorship(self, bank: str, authorship: Iterable[CommitAuthorship]) -> None:
        """Replace which sessions made which commits of a bank."""
        self._db.run("DELETE FROM commit_session WHERE bank = ?", (bank,))
        self._db.run_many("INSERT INTO commit_session VALUES (?, ?, ?, ?, ?, ?)", authorship)

    def put_repository(
        self, repository: Repository, tags: Iterable[Tag], unmerged: Iterable[str]
    ) -> None:
        """Store how far a repository was read, and replace its tags and the commits that HEAD does
        not contain."""
        r = repository
        self._db.run(
            upsert("repository", "bank, path, head, tips, read_at, folder, diffs", "bank, path"),
            (r.bank, r.path, r.head, json.dumps(r.tips), r.read_at, r.folder, int(r.diffs)),
        )
        for table in ("git_tag", "unmerged_commit"):
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (r.bank,))
        self._db.run_many(
            upsert("git_tag", "bank, name, id, time", "bank, name"),
            [(r.bank, tag.name, tag.commit, tag.time) for tag in tags],
        )
        self._db.run_many(
            insert_missing("unmerged_commit", "bank, id"), [(r.bank, c) for c in unmerged]
        )

    def commits_uncurated(self, bank: str) -> Iterator[Commit]:
        """All commits as they were read, hidden or not."""
        for row in self._db.all(f'SELECT {COMMIT.columns} FROM "commit" WHERE bank = ?', (bank,)):
            yield COMMIT.record(row)

    def commit_uncurated(self, bank: str, id: str) -> Commit | None:
        """One commit as it was read."""
        row = self._db.one(
            f'SELECT {COMMIT.columns} FROM "commit" WHERE bank = ? AND id = ?', (bank, id)
        )
        return COMMIT.record(row) if row else None
