"""Patches, reverts, tags and branches of repositories, and how far they were read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from holdfast.model.records import Exchange, Turn
from holdfast.model.team import FileChange
from holdfast.store.protocol.git_history import CommitAuthorship, FileTouch, Patch, Repository, Tag
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for, upsert

_FILE_CHANGE = "path, time, id, change, other_path, added, removed, blob"
_IN_HEAD = (
    "NOT EXISTS (SELECT 1 FROM unmerged_commit AS u WHERE u.bank = file_change.bank "
    "AND u.id = file_change.id)"
)


class GitHistoryReader(StatementRunner):
    """Reads the history of repositories."""

    def patch(self, bank: str, commit: str) -> Patch | None:
        row = self._one(
            "SELECT changes, diff FROM commit_patch WHERE bank = ? AND id = ?", bank, commit
        )
        if row is None:
            return None
        return Patch(bank, commit, tuple(FileChange(*c) for c in json.loads(row[0])), row[1])

    def reverted_by(self, bank: str, commit: str) -> list[str]:
        # Written out or shortened: a name is the start of what it names.
        found = self._all(
            "SELECT id FROM commit_revert WHERE bank = ? AND reverted >= ? AND reverted <= ? "
            "AND substr(?, 1, length(reverted)) = reverted AND id <> ? ORDER BY id",
            *(bank, commit[:7], commit, commit, commit),
        )
        return [id for (id,) in found]

    def reverts(self, bank: str, commit: str) -> list[str]:
        found = self._all(
            "SELECT reverted FROM commit_revert WHERE bank = ? AND id = ? ORDER BY reverted",
            bank,
            commit,
        )
        return [name for (name,) in found]

    def tags(self, bank: str, commit: str = "") -> list[Tag]:
        one, values = (" AND id = ?", (commit,)) if commit else ("", ())
        found = self._all(
            f"SELECT name, id, time FROM git_tag WHERE bank = ?{one} ORDER BY time, name",
            bank,
            *values,
        )
        return [Tag(*row) for row in found]

    def repositories(self, bank: str | None = None) -> list[Repository]:
        where, values = self._in_bank(bank)
        found = self._all(
            "SELECT bank, path, head, tips, read_at, folder, diffs FROM repository "
            f"WHERE {where} ORDER BY bank, path",
            *values,
        )
        return [
            Repository(b, p, head, tuple(json.loads(tips)), at, folder, bool(diffs))
            for b, p, head, tips, at, folder, diffs in found
        ]

    def unmerged_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        return self._among("unmerged_commit", bank, commits)

    def has_unmerged_commits(self, bank: str | None) -> bool:
        where, values = self._in_bank(bank)
        return (
            self._one(f"SELECT 1 FROM unmerged_commit WHERE {where} LIMIT 1", *values) is not None
        )

    def branches(self, bank: str) -> dict[str, str]:
        return dict(self._all("SELECT name, id FROM git_branch WHERE bank = ?", bank))

    def reachable_commits(self, bank: str, tip: str) -> set[str]:
        found = self._all(
            'WITH RECURSIVE line(id) AS (SELECT id FROM "commit" WHERE bank = ? AND id = ? '
            'UNION SELECT value FROM line JOIN "commit" AS c ON c.bank = ? AND c.id = line.id, '
            f"{self._dialect.json_items}(c.parents)) SELECT id FROM line",
            *(bank, tip, bank),
        )
        return {tip, *(id for (id,) in found)}

    def touches(self, bank: str, path: str, since: str, limit: int) -> list[FileTouch]:
        found = self._all(
            f"SELECT {_FILE_CHANGE} FROM file_change WHERE bank = ? AND path = ? AND time > ? AND "
            f"{_IN_HEAD} "
            "ORDER BY time, id, change LIMIT ?",
            *(bank, path, since, limit),
        )
        return [FileTouch(*row) for row in found]

    def last_touch(self, bank: str, path: str, until: str) -> FileTouch | None:
        row = self._one(
            f"SELECT {_FILE_CHANGE} FROM file_change WHERE bank = ? AND path = ? AND time <= ? AND "
            f"{_IN_HEAD} "
            "ORDER BY time DESC, id DESC, change = 'W' LIMIT 1",
            *(bank, path, until),
        )
        return FileTouch(*row) if row else None

    def session_commits(self, bank: str, session: str) -> set[str]:
        found = self._all(
            "SELECT a.id FROM session AS o "
            "JOIN session AS s ON s.host = o.host AND s.bank = o.bank "
            "JOIN commit_session AS a ON a.bank = s.bank AND a.session = s.id "
            "WHERE o.bank = ? AND o.id = ?",
            *(bank, session),
        )
        return {id for (id,) in found}

    def exchange_at(self, bank: str, session: str, seq: int) -> Exchange | None:
        row = self._one(
            f"SELECT {rows.EXCHANGE} FROM exchange WHERE bank = ? AND session = ? "
            "AND first_seq <= ? AND last_seq >= ? LIMIT 1",
            *(bank, session, seq, seq),
        )
        return rows.exchange_of(row) if row else None

    def last_commit(self, bank: str, until: str) -> str:
        row = self._one(
            'SELECT id FROM "commit" AS c WHERE bank = ? AND time <= ? AND NOT EXISTS '
            "(SELECT 1 FROM unmerged_commit AS a WHERE a.bank = c.bank AND a.id = c.id) "
            "ORDER BY time DESC, id DESC LIMIT 1",
            *(bank, until),
        )
        return row[0] if row else ""

    def _among(self, table: str, bank: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for some in batches(ids):
            sql = f'SELECT id FROM "{table}" WHERE bank = ? AND id IN ({placeholders_for(some)})'
            found.update(id for (id,) in self._all(sql, bank, *some))
        return found

    def authorship(self, bank: str, commit: str = "", session: str = "") -> list[CommitAuthorship]:
        found = self._all(
            "SELECT bank, id, session, exchange, score, because FROM commit_session "
            "WHERE bank = ? AND ? IN ('', id) AND ? IN ('', session) "
            "ORDER BY score DESC, id, session",
            *(bank, commit, session),
        )
        return [CommitAuthorship(*row) for row in found]

    def commit_turns(self, bank: str) -> list[Turn]:
        found = self._all(
            f"SELECT {rows.TURN} FROM visible_turn WHERE bank = ? AND lower(action) LIKE "
            "'%git%commit%' "
            "AND (ok IS NULL OR ok <> 0) ORDER BY time, session, seq",
            bank,
        )
        return [rows.turn_of(row) for row in found]

    def renames(self, bank: str) -> list[tuple[str, str, str]]:
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
        found = self._all(
            "SELECT c.time, p.changes FROM commit_patch AS p JOIN visible_commit AS c "
            "ON c.bank = p.bank AND c.id = p.id WHERE p.bank = ? AND p.changes LIKE ?",
            *(bank, f'%"{fate}"%'),
        )
        for time, changes in found:
            for path, what, was, *_ in json.loads(changes):
                yield time, path, what, was


class GitHistoryWriter(GitHistoryReader):
    """Writes them."""

    def known_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits there are already."""
        return self._among("commit", bank, commits)

    def put_patches(self, patches: Iterable[Patch]) -> None:
        self._run_many(
            upsert("commit_patch", "bank, id, changes, diff", "bank, id"),
            [
                (p.bank, p.commit, json.dumps(p.changes, separators=(",", ":")), p.diff)
                for p in patches
            ],
        )

    def index_touches(self, bank: str, commits: Sequence[str]) -> None:
        for some in batches(commits):
            self._run(
                f"INSERT INTO file_change (bank, {_FILE_CHANGE}) SELECT bank, {_FILE_CHANGE} "
                f"FROM file_change_of_patch WHERE bank = ? AND id IN ({placeholders_for(some)}) "
                "ON CONFLICT (bank, path, time, id, change) DO UPDATE SET "
                "other_path = excluded.other_path, added = excluded.added, "
                "removed = excluded.removed, blob = excluded.blob",
                *(bank, *some),
            )

    def put_branches(self, bank: str, branches: Iterable[tuple[str, str]]) -> None:
        self._run("DELETE FROM git_branch WHERE bank = ?", bank)
        self._run_many(
            upsert("git_branch", "bank, name, id", "bank, name"),
            [(bank, name, commit) for name, commit in branches],
        )

    def put_reverts(self, bank: str, commit: str, reverted: Iterable[str]) -> None:
        self._run_many(
            insert_missing("commit_revert", "bank, id, reverted"),
            [(bank, commit, other) for other in reverted],
        )

    def put_authorship(self, bank: str, authorship: Iterable[CommitAuthorship]) -> None:
        self._run("DELETE FROM commit_session WHERE bank = ?", bank)
        self._run_many("INSERT INTO commit_session VALUES (?, ?, ?, ?, ?, ?)", authorship)

    def put_repository(
        self, repository: Repository, tags: Iterable[Tag], unmerged: Iterable[str]
    ) -> None:
        r = repository
        self._run(
            upsert("repository", "bank, path, head, tips, read_at, folder, diffs", "bank, path"),
            *(r.bank, r.path, r.head, json.dumps(r.tips), r.read_at, r.folder, int(r.diffs)),
        )
        for table in ("git_tag", "unmerged_commit"):
            self._run(f"DELETE FROM {table} WHERE bank = ?", r.bank)
        self._run_many(
            upsert("git_tag", "bank, name, id, time", "bank, name"),
            [(r.bank, tag.name, tag.commit, tag.time) for tag in tags],
        )
        self._run_many(
            insert_missing("unmerged_commit", "bank, id"), [(r.bank, c) for c in unmerged]
        )
