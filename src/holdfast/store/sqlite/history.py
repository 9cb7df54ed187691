"""Patches, reverts, tags and cursors of repositories, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from holdfast.model.records import Turn
from holdfast.model.team import FileChange
from holdfast.store.history import Authored, Patch, Repository, Tagged
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.asking import Asking, in_bank

_VARIABLES = 500


class HistoryQuestions(Asking):
    """What can be asked about repositories."""

    def patch(self, bank: str, commit: str) -> Patch | None:
        row = self._one("SELECT changes, diff FROM patch WHERE bank = ? AND id = ?", bank, commit)
        if row is None:
            return None
        return Patch(bank, commit, tuple(FileChange(*c) for c in json.loads(row[0])), row[1])

    def reverted_by(self, bank: str, commit: str) -> list[str]:
        # Written out or shortened: a name is the start of what it names.
        found = self._all(
            "SELECT id FROM revert WHERE bank = ? AND reverted >= ? AND reverted <= ? "
            "AND substr(?, 1, length(reverted)) = reverted AND id <> ? ORDER BY id",
            *(bank, commit[:7], commit, commit, commit),
        )
        return [id for (id,) in found]

    def tags(self, bank: str, commit: str = "") -> list[Tagged]:
        one, values = (" AND id = ?", (commit,)) if commit else ("", ())
        found = self._all(
            f"SELECT name, id, time FROM tag WHERE bank = ?{one} ORDER BY time, name", bank, *values
        )
        return [Tagged(*row) for row in found]

    def repositories(self, bank: str | None = None) -> list[Repository]:
        where, values = in_bank(bank)
        found = self._all(
            f"SELECT bank, path, head, tips, read_at FROM repository WHERE {where} "
            "ORDER BY bank, path",
            *values,
        )
        return [Repository(b, p, head, tuple(json.loads(t)), at) for b, p, head, t, at in found]

    def astray(self, bank: str, commits: Sequence[str]) -> set[str]:
        return self._among("astray", bank, commits)

    def known_commits(self, bank: str, commits: Sequence[str]) -> set[str]:
        """Which of these commits there are already."""
        return self._among("commit", bank, commits)

    def _among(self, table: str, bank: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for start in range(0, len(ids), _VARIABLES):
            some = ids[start : start + _VARIABLES]
            marks = ", ".join("?" * len(some))
            sql = f'SELECT id FROM "{table}" WHERE bank = ? AND id IN ({marks})'
            found.update(id for (id,) in self._all(sql, bank, *some))
        return found

    def authored(self, bank: str, commit: str = "", session: str = "") -> list[Authored]:
        found = self._all(
            "SELECT bank, id, session, exchange, score, because FROM authored "
            "WHERE bank = ? AND ? IN ('', id) AND ? IN ('', session) "
            "ORDER BY score DESC, id, session",
            *(bank, commit, session),
        )
        return [Authored(*row) for row in found]

    def committing(self, bank: str) -> list[Turn]:
        found = self._all(
            f"SELECT {rows.TURN} FROM seen_turn WHERE bank = ? AND action LIKE '%git%commit%' "
            "AND ok IS NOT 0 ORDER BY time, session, seq",
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
        """What became of files in the commits in which this became of one: when, of which, what,
        and its name before."""
        found = self._all(
            "SELECT c.time, p.changes FROM patch AS p JOIN seen_commit AS c "
            "ON c.bank = p.bank AND c.id = p.id WHERE p.bank = ? AND p.changes LIKE ?",
            *(bank, f'%"{fate}"%'),
        )
        for time, changes in found:
            for path, what, was, *_ in json.loads(changes):
                yield time, path, what, was


class HistoryWays(HistoryQuestions):
    """The ways in."""

    def put_patches(self, patches: Iterable[Patch]) -> None:
        self._run_many(
            "INSERT OR REPLACE INTO patch VALUES (?, ?, ?, ?)",
            [
                (p.bank, p.commit, json.dumps(p.changes, separators=(",", ":")), p.diff)
                for p in patches
            ],
        )

    def put_reverts(self, bank: str, commit: str, reverted: Iterable[str]) -> None:
        self._run_many(
            "INSERT OR IGNORE INTO revert (bank, id, reverted) VALUES (?, ?, ?)",
            [(bank, commit, other) for other in reverted],
        )

    def put_authored(self, bank: str, made: Iterable[Authored]) -> None:
        self._run("DELETE FROM authored WHERE bank = ?", bank)
        self._run_many("INSERT INTO authored VALUES (?, ?, ?, ?, ?, ?)", made)

    def put_repository(
        self, repository: Repository, tags: Iterable[Tagged], astray: Iterable[str]
    ) -> None:
        r = repository
        self._run(
            "INSERT OR REPLACE INTO repository VALUES (?, ?, ?, ?, ?)",
            *(r.bank, r.path, r.head, json.dumps(r.tips), r.read_at),
        )
        for table in ("tag", "astray"):
            self._run(f"DELETE FROM {table} WHERE bank = ?", r.bank)
        self._run_many(
            "INSERT OR REPLACE INTO tag VALUES (?, ?, ?, ?)",
            [(r.bank, tag.name, tag.commit, tag.time) for tag in tags],
        )
        self._run_many("INSERT OR IGNORE INTO astray VALUES (?, ?)", [(r.bank, c) for c in astray])
