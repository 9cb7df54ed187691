"""Pull requests, issues, remarks and accounts of forges, and how far they were read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.corrections import corrected_remark, corrected_thread
from holdfast.model.forge import ForgeAccount, Issue, Pull, Remark, Thread
from holdfast.model.query import Passage, RecordFilter
from holdfast.model.uris import parse_uri
from holdfast.store.index.passages import Passages
from holdfast.store.index.progress import StageProgress
from holdfast.store.records.curation import Curations
from holdfast.store.sql import labels
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for, upsert
from holdfast.store.sql.table import PASSAGE, Table


class ForgeRepository(NamedTuple):
    """A repository on a forge and how far it was read. `repo` is its full name
    (`github.com/owner/name`); `cursors` are the times up to which each of its lists was read;
    `tags` are the ETags of answers, by address."""

    bank: str
    repo: str
    cursors: Mapping[str, str]
    tags: Mapping[str, str]
    read_at: str


PULL = Table("pull", Pull, visible="visible_pull")
ISSUE = Table("issue", Issue, visible="visible_issue")
REMARK = Table("remark", Remark, visible="visible_remark")
FINDABLE: dict[str, Table[Any]] = {"pull": PULL, "issue": ISSUE, "remark": REMARK}

NUMBERED = ("pull", "issue")
# The largest number that a column holds.
_MAX_NUMBER = 2**63 - 1


def is_number(name: str) -> bool:
    """Whether a pull or an issue can have this number."""
    return name.isdecimal() and len(name) <= len(str(_MAX_NUMBER)) and int(name) <= _MAX_NUMBER


def _word(record: Thread | Remark) -> str:
    return (
        "pull" if isinstance(record, Pull) else "issue" if isinstance(record, Issue) else "remark"
    )


def _table(word: str) -> str:
    """The table of a kind; no other name gets into a statement."""
    return {"pull": "pull", "issue": "issue", "remark": "remark"}[word]


class ForgeRecords(Subject):
    """Reads what forges hold."""

    _passages: Passages
    _progress: StageProgress
    _curation: Curations

    def repositories(self, bank: str | None = None) -> list[ForgeRepository]:
        """The repositories that were read, by bank and name."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT bank, repo, cursors, tags, read_at FROM followed_repository WHERE {where} "
            "ORDER BY bank, repo",
            values,
        )
        return [ForgeRepository(b, r, json.loads(c), json.loads(t), at) for b, r, c, t, at in found]

    def threads_by_number(self, bank: str, number: int) -> list[Thread]:
        """The pulls, then the issues, with a number."""
        return [one for word in NUMBERED for one in self.by_number(bank, word, number)]

    def by_number(self, bank: str | None, word: str, number: int, limit: int = 5) -> list[Thread]:
        """The pulls, or the issues, of a number. None has one that a column cannot hold."""
        if number > _MAX_NUMBER:
            return []
        where, values = self._db.in_bank(bank)
        return self._threads(
            word, f"{where} AND number = ? ORDER BY id LIMIT ?", *values, number, limit
        )

    def _threads(self, word: str, where: str, *values: object) -> list[Thread]:
        table = FINDABLE[word]
        found = self._db.all(f"SELECT {table.columns} FROM {table.visible} WHERE {where}", values)
        corrected = [self.corrected(thread) for thread in table.records(found)]
        return [thread for thread in corrected if not isinstance(thread, Remark)]

    def _pulls(self, where: str, *values: object) -> list[Pull]:
        found = self._threads("pull", where, *values)
        return [pull for pull in found if isinstance(pull, Pull)]

    def corrected(self, record: Thread | Remark) -> Thread | Remark:
        """A record with the words of its correction, where there is one."""
        known = self._curation.state(record.bank, _word(record), record.id)
        if known is None or not known.text:
            return record
        if isinstance(record, Remark):
            return corrected_remark(record, known)
        return corrected_thread(record, known)

    def remarks(self, bank: str, thread: str) -> list[Remark]:
        """The remarks in the thread with a URI, by time."""
        found = REMARK.find(
            self._db, bank, "AND thread = ? ORDER BY time, id", (thread,), hidden=False
        )
        corrected = [self.corrected(one) for one in found]
        return [remark for remark in corrected if isinstance(remark, Remark)]

    def thread_passages(self, bank: str, thread: str) -> list[Passage]:
        """The passages of a thread, by URI, and of its remarks, by time."""
        named = parse_uri(thread)
        if named is None or named.kind not in NUMBERED:
            return []
        seen = FINDABLE[named.kind].visible
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage WHERE bank = ? AND kind = ? "
            f"AND id = (SELECT id FROM {seen} WHERE bank = ? AND id = ?) "
            f"UNION ALL SELECT {PASSAGE.columns} FROM passage WHERE bank = ? AND kind = 'remark' "
            "AND id IN (SELECT id FROM visible_remark WHERE bank = ? AND thread = ?) "
            "ORDER BY time, id",
            (bank, named.kind, bank, named.id, bank, bank, thread),
        )
        return PASSAGE.records(found)

    def pulls_with_commit(self, bank: str, commit: str) -> list[Pull]:
        """The pulls that contain a commit, or were merged by it."""
        return self._pulls(
            'bank = ? AND id IN (SELECT pull FROM pull_commit WHERE bank = ? AND "commit" = ?) '
            "ORDER BY number, id",
            *(bank, bank, commit),
        )

    def pulls_fixing(self, bank: str, issue: int) -> list[Pull]:
        """The pulls that say they close an issue."""
        return self._pulls(
            "bank = ? AND fixes <> '[]' AND EXISTS "
            f"(SELECT 1 FROM {self._db.dialect.json_items}(fixes) WHERE CAST(value AS bigint) = ?) "
            "ORDER BY number, id",
            *(bank, issue),
        )

    def pulls_touching(self, bank: str | None, filter: RecordFilter, limit: int = 20) -> list[Pull]:
        """The pulls that change a file or something in a folder, the latest first."""
        where, values = self._db.in_bank(bank)
        banks = [
            id for (id,) in self._db.all(f"SELECT DISTINCT bank FROM pull WHERE {where}", values)
        ]
        named = [
            (one, id)
            for one in banks
            for _, id in labels.labelled_records(self._db, one, filter, limit, ("pull",))
        ]
        found = [p for one, id in named for p in self._pulls("bank = ? AND id = ?", one, id)]
        found.sort(key=lambda pull: (pull.id, pull.bank))
        return sorted(found, key=lambda pull: pull.time, reverse=True)[:limit]

    def commits_mentioning(self, bank: str, number: int) -> list[str]:
        """The ids of the commits with `#number` in their message, sorted."""
        like = f"%#{number}%"
        found = self._db.all(
            "SELECT id, subject || ' ' || body FROM visible_commit "
            "WHERE bank = ? AND (subject LIKE ? OR body LIKE ?) ORDER BY id",
            (bank, like, like),
        )
        named = re.compile(rf"(?<![\w/#])#{number}(?!\d)")
        return [id for id, text in found if named.search(text)]

    def logins(self, bank: str) -> list[ForgeAccount]:
        """The accounts of a bank's forges, by login."""
        found = self._db.all(
            "SELECT login, name, email FROM forge_login WHERE bank = ? ORDER BY login", (bank,)
        )
        return [ForgeAccount(*row) for row in found]

    def known_threads(self, bank: str, kind: str, ids: Sequence[str]) -> dict[str, str]:
        """Which of these threads are known, each with the time of its last update."""
        found: dict[str, str] = {}
        for some in batches(ids):
            where = f"bank = ? AND id IN ({placeholders_for(some)})"
            sql = f"SELECT id, updated FROM {_table(kind)} WHERE {where}"
            found.update(self._db.all(sql, (bank, *some)))
        return found

    def thread_uncurated(self, bank: str, kind: str, id: str) -> Thread | None:
        """One pull or issue as it was read."""
        return FINDABLE[kind].first(self._db, bank, "AND id = ?", (id,))

    def remark_uncurated(self, bank: str, id: str) -> Remark | None:
        """One remark as it was read."""
        return REMARK.first(self._db, bank, "AND id = ?", (id,))

    def remarks_uncurated(self, bank: str, thread: str) -> list[Remark]:
        """All remarks of a thread as they were read, hidden or not."""
        return REMARK.find(self._db, bank, "AND thread = ? ORDER BY time, id", (thread,))

    def put_thread(self, thread: Thread, passage: Passage | None) -> bool:
        """Store a pull or an issue in place of its earlier version, with its passage (None: it
        cannot be found); returns whether anything changed."""
        before = self.thread_uncurated(thread.bank, _word(thread), thread.id)
        if before == thread:
            return False
        self._put_forged(thread, passage)
        if isinstance(thread, Pull):
            self._db.run(
                "DELETE FROM pull_commit WHERE bank = ? AND pull = ?", (thread.bank, thread.id)
            )
            commits = dict.fromkeys(filter(None, (*thread.commits, thread.merge)))
            self._db.run_many(
                insert_missing("pull_commit", 'bank, "commit", pull'),
                [(thread.bank, commit, thread.id) for commit in commits],
            )
        return True

    def put_remark(self, remark: Remark, passage: Passage | None) -> bool:
        """The same for a remark."""
        if self.remark_uncurated(remark.bank, remark.id) == remark:
            return False
        self._put_forged(remark, passage)
        return True

    def _put_forged(self, record: Thread | Remark, passage: Passage | None) -> None:
        FINDABLE[_word(record)].put(self._db, record)
        self._passages.replace(record, passage)
        self._progress.mark_changed(record.bank, "")

    def put_logins(self, bank: str, logins: Iterable[ForgeAccount]) -> None:
        """Add accounts; known ones stay."""
        self._db.run_many(
            insert_missing("forge_login", "bank, login, name, email"),
            [(bank, *one) for one in logins],
        )

    def put_repository(self, repository: ForgeRepository) -> None:
        """Store how far a repository was read."""
        f = repository
        self._db.run(
            upsert("followed_repository", "bank, repo, cursors, tags, read_at", "bank, repo"),
            (f.bank, f.repo, json.dumps(dict(f.cursors)), json.dumps(dict(f.tags)), f.read_at),
        )

    def erase(self, bank: str, word: str, id: str) -> None:
        """Remove a pull request, an issue or a remark, but not the remarks under it."""
        self._db.run(f"DELETE FROM {_table(word)} WHERE bank = ? AND id = ?", (bank, id))
        if word == "pull":
            self._db.run("DELETE FROM pull_commit WHERE bank = ? AND pull = ?", (bank, id))
        for beside in ("passage", "record_labels", "curation_state", "hidden_record"):
            self._db.run(
                f"DELETE FROM {beside} WHERE bank = ? AND kind = ? AND id = ?", (bank, word, id)
            )
        # Who nobody is any more need not be known.
        self._db.run(
            "DELETE FROM forge_login WHERE bank = ? AND login NOT IN (SELECT author FROM pull "
            "WHERE bank = ? UNION SELECT author FROM remark WHERE bank = ?)",
            (bank, bank, bank),
        )
