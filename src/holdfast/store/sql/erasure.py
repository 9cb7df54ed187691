"""Taking words out of the database for good.

Deleting a row leaves its bytes in free pages, in the full-text index and in the log of pending
writes. `overwrite` makes the index anew, writes the file anew without its free pages, and empties
the log. Backups are looked into, never changed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.errors import StoreBusyError
from holdfast.model.curation import Action
from holdfast.model.uris import uri
from holdfast.store.protocol.curation import Erasure, Scrubber, ScrubMatch
from holdfast.store.sql.derived import DerivedWriter
from holdfast.store.sql.runner import Connection
from holdfast.store.sql.tables.forge import ForgeWriter
from holdfast.store.sqlite import copies
from holdfast.store.sqlite.connection import BUSY_S, translated

# The columns that hold words of others; names that records are known by are not among them.
_WORDS = {
    "turn": ("text", "speaker", "branch", "target", "lines", "action", "result"),
    "session": ("title", "cwd", "branch", "subagent"),
    "commit": ("author", "email", "subject", "body", "files"),
    "remembered_memory": ("text", "who"),
    "memory_dimension": ("place", "why"),
    "opinion": ("target", "what", "why"),
    "curation": ("text", "who"),
    "failed_line": ("excerpt",),
    "source": ("problem",),
    "failed_task": ("problem",),
    "injection": ("because",),
    "bank": ("background",),
    "rule": ("heading", "text"),
    "statement": ("text", "author", "about", "files"),
    "pattern": ("content",),
    "proposal": ("text", "reason"),
    "refused_proposal": ("text", "why"),
    "model_summary": ("content", "problem"),
    "commit_patch": ("changes", "diff"),
    "model_call": ("problem",),
    "service_pause": ("problem",),
    "review_advice": ("text",),
    "pull": ("author", "title", "body", "labels", "files", "base", "branch", "url"),
    "issue": ("author", "title", "body", "labels", "url"),
    "remark": ("author", "text", "path", "url"),
    "forge_login": ("login", "name", "email"),
    "shared_record": ("text", "author", "email", "files", "note"),
    "outbox_item": ("line", "problem"),
    "imported_record": ("title", "text", "files", "labels"),
    "import_batch": ("place",),
    "api_key": ("name",),
}
# How a row of each is known: bank, id and session.
_NAMED = {
    "turn": ("bank", "id", "session"),
    "session": ("bank", "id", "id"),
    "commit": ("bank", "id", "''"),
    "remembered_memory": ("bank", "id", "''"),
    "memory_dimension": ("bank", "id", "''"),
    "opinion": ("bank", "id", "''"),
    "curation": ("bank", "target", "''"),
    "failed_line": ("(SELECT bank FROM source WHERE id = failed_line.source)", "offset", "source"),
    "source": ("bank", "path", "''"),
    "failed_task": ("''", "name", "''"),
    "injection": ("bank", "id", "session"),
    "bank": ("id", "id", "''"),
    "rule": ("bank", "id", "''"),
    "statement": ("bank", "uri", "session"),
    "pattern": ("bank", "id", "''"),
    "proposal": ("bank", "id", "''"),
    "refused_proposal": ("bank", "seq", "''"),
    "model_summary": (
        "bank",
        "record",
        "coalesce((SELECT session FROM exchange AS x WHERE x.bank = model_summary.bank AND id = "
        "record), "
        "(SELECT session FROM digest AS d WHERE d.bank = model_summary.bank AND id = record), '')",
    ),
    "commit_patch": ("bank", "id", "''"),
    "model_call": ("bank", "id", "session"),
    "service_pause": ("''", "service", "''"),
    "review_advice": ("bank", "review", "''"),
    "pull": ("bank", "id", "''"),
    "issue": ("bank", "id", "''"),
    "remark": ("bank", "id", "''"),
    "forge_login": ("bank", "login", "''"),
    **dict.fromkeys(
        ("shared_record", "outbox_item", "imported_record", "import_batch"), ("bank", "id", "''")
    ),
    "api_key": ("''", "id", "''"),
}
_LISTS = ("files", "labels")
# What was made by machine, and read from files that are still there.
_DROPPED = (
    "model_summary",
    "commit_patch",
    "rule",
    "statement",
    "pattern",
    "proposal",
    "forge_login",
    "outbox_item",
)
_OF_A_SESSION = (
    "exchange", "digest", "passage", "claim", "stale_session", "session_derivation",
    "curation_state", "hidden_record", "record_use", "turn",
)  # fmt: skip
# Where records lie that are made of others, and that people may have corrected.
_TABLE_OF = {
    "memory": "remembered_memory",
    "shared": "shared_record",
    "imported": "imported_record",
}
_MADE_OF_OTHERS = {
    "fact": ("fact",),
    "concept": ("concept",),
    "entity": ("entity_spelling",),
    "memory": ("retained_memory", "opinion"),
}
_KEPT = "curation_is_append_only"
_RETRY_S = 0.05


class ErasureWriter(DerivedWriter, ForgeWriter):
    """What cannot be undone."""

    def erase(self, what: Erasure) -> None:
        self._overwrite_what_goes()
        self._erase_summaries(what)
        self._erase_patterns(what)
        for session in what.sessions:
            self._clear_retained(what.bank, session, 0)
            for table in _OF_A_SESSION:
                self._run(f"DELETE FROM {table} WHERE bank = ? AND session = ?", what.bank, session)
            self._run("DELETE FROM hidden_record WHERE bank = ? AND id = ?", what.bank, session)
            self._run("DELETE FROM session WHERE bank = ? AND id = ?", what.bank, session)
            self.mark_changed(what.bank, session)
        by_id = (
            ("turn", what.turns),
            ("commit", what.commits),
            ("memory", what.memories),
            ("shared", what.shared),
            ("imported", what.imported),
        )
        for kind, ids in by_id:
            table = _TABLE_OF.get(kind, kind)
            for id in ids:
                name = (what.bank, kind, id)
                for beside in ("passage", "record_labels", "curation_state", "hidden_record"):
                    self._run(f"DELETE FROM {beside} WHERE bank = ? AND kind = ? AND id = ?", *name)
                self._run(f'DELETE FROM "{table}" WHERE bank = ? AND id = ?', what.bank, id)
                if kind == "memory":
                    self._forget_dimensions(what.bank, id)
        self._erase_beside(what)
        # What is made of all of a bank holds words of any of it.
        self.drop_concepts(what.bank)
        for source in what.sources:
            self._run("UPDATE failed_line SET excerpt = '' WHERE source = ?", source)
        self.block_marks(what.bank, what.marks)
        self._blank_log(what)
        # The names of what is erased go at once; the graph is made again from what is left.
        self.drop_graph(what.bank)
        self.mark_changed(what.bank, "")

    def _overwrite_what_goes(self) -> None:
        self._run("PRAGMA secure_delete = ON")

    def _erase_beside(self, what: Erasure) -> None:
        """What lies in tables of their own beside turns, commits and memories."""
        for id in what.turns:
            self._run("DELETE FROM record_use WHERE bank = ? AND turn = ?", what.bank, id)
        for id in what.memories:
            self._run(
                "DELETE FROM concept_anchor WHERE bank = ? AND kind = 'memory' AND id = ?",
                *(what.bank, id),
            )
            self._run(
                "DELETE FROM record_use WHERE bank = ? AND record = ?", what.bank, uri("memory", id)
            )
        for word, id in what.forged:
            self.erase_forged(what.bank, word, id)
        # What waits to be sent and may hold its words: itself, and whatever is made of others.
        unsent = "DELETE FROM outbox_item WHERE bank = ? AND gone = 0 AND state <> 'sent' AND "
        self._run(f"{unsent} origin NOT LIKE 'holdfast://memory/%'", what.bank)
        for target in what.targets:
            self._run(f"{unsent} origin = ?", what.bank, target)
        for id in what.commits:
            for table in (
                "commit_patch",
                "file_change",
                "commit_revert",
                "git_tag",
                "git_branch",
                "commit_session",
            ):
                self._run(f"DELETE FROM {table} WHERE bank = ? AND id = ?", what.bank, id)

    def _erase_summaries(self, what: Erasure) -> None:
        """What a model made of a session goes with any word of it, though it was paid for; and
        what was made of records that are no more."""
        sessions = set(what.sessions)
        for id in what.turns:
            row = self._one("SELECT session FROM turn WHERE bank = ? AND id = ?", what.bank, id)
            sessions |= {row[0]} if row else set()
        of = "SELECT id FROM {} WHERE bank = ? AND session = ?"
        for session in sessions:
            name = (what.bank, session)
            self._run(
                f"DELETE FROM model_summary WHERE bank = ? AND record IN "
                f"({of.format('exchange')} UNION {of.format('digest')})",
                *(what.bank, *name, *name),
            )
        self._run(
            "DELETE FROM model_summary WHERE bank = ? AND record NOT IN (SELECT id FROM exchange "
            "WHERE bank = ? UNION SELECT id FROM digest WHERE bank = ?)",
            *(what.bank, what.bank, what.bank),
        )

    def _blank_log(self, what: Erasure) -> None:
        """Take the words out of decisions. The name of a memory is made of its words, that of a
        shared one of an address."""

        def change() -> None:
            for target in what.targets:
                self._run(
                    "UPDATE curation SET text = '' WHERE bank = ? AND target = ?",
                    what.bank,
                    target,
                )
            for id in (*what.memories, *what.shared):
                other = os.urandom(len(id) // 2).hex()
                self._run(
                    "UPDATE curation SET target = replace(target, ?, ?) WHERE bank = ?",
                    *(id, other, what.bank),
                )
                self._run("UPDATE injection SET records = replace(records, ?, ?)", id, other)

        self._with_open_log(change)

    def _with_open_log(self, change: Callable[[], None]) -> None:
        """Nothing but an erasure may change the log."""
        row = self._one("SELECT sql FROM sqlite_master WHERE name = ?", _KEPT)
        assert row is not None
        self._run(f"DROP TRIGGER {_KEPT}")
        change()
        self._run(row[0])

    def block_marks(self, bank: str, marks: Iterable[str], turns: Iterable[str] = ()) -> None:
        self._run_many(
            insert_missing("erasure_mark", "bank, mark"), [(bank, m) for m in marks]
        )
        self._run_many(
            "INSERT INTO hidden_record SELECT bank, 'raw', id, session FROM turn "
            "WHERE bank = ? AND id = ? ON CONFLICT DO NOTHING",
            [(bank, turn) for turn in turns],
        )

    def rows_to_scrub(self, clean: Scrubber) -> list[ScrubMatch]:
        with translated(self._path):
            return [touched for touched, _, _ in _finds(self._connection, clean)]

    def scrub(self, clean: Scrubber) -> None:
        self._overwrite_what_goes()
        with translated(self._path):
            found = [
                (touched.table, rowid, row)
                for touched, rowid, row in _finds(self._connection, clean)
            ]

        def change() -> None:
            for table, rowid, row in found:
                if table in _DROPPED:
                    self._drop_row(table, rowid)
                    continue
                columns = _WORDS[table]
                new = [
                    _cleaned(name, value, clean) for name, value in zip(columns, row, strict=True)
                ]
                settings = ", ".join(f"{name} = ?" for name in columns)
                self._run(f'UPDATE "{table}" SET {settings} WHERE rowid = ?', *new, rowid)

        self._with_open_log(change)
        self._scrub_keyed(clean)
        self.drop_concepts()
        self.drop_graph()

    def _scrub_keyed(self, clean: Scrubber) -> None:
        """The same for tables whose rows have no number."""
        for bank, kind, id, text, was in self._all(
            "SELECT bank, kind, id, text, was FROM curation_state"
        ):
            if (clean(text), clean(was)) != (text, was):
                self._run(
                    "UPDATE curation_state SET text = ?, was = ? WHERE bank = ? AND kind = ? AND "
                    "id = ?",
                    *(clean(text), clean(was), bank, kind, id),
                )
        for table, column in (("git_tag", "name"), ("git_branch", "name"), ("file_change", "path")):
            for bank, name in self._all(f"SELECT DISTINCT bank, {column} FROM {table}"):
                if clean(name) != name:
                    self._run(f"DELETE FROM {table} WHERE bank = ? AND {column} = ?", bank, name)
        for bank, name in self._all(
            "SELECT DISTINCT bank, other_path FROM file_change WHERE other_path <> ''"
        ):
            if clean(name) != name:
                self._run("DELETE FROM file_change WHERE bank = ? AND other_path = ?", bank, name)

    def corrected_derived_records(self, bank: str) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        for kind, tables in _MADE_OF_OTHERS.items():
            for table in tables:
                rows = self._all(
                    "SELECT kind, id FROM curation_state WHERE bank = ? AND kind = ? AND text <> "
                    "'' "
                    f"AND id IN (SELECT id FROM {table} WHERE bank = ?)",
                    *(bank, kind, bank),
                )
                found.update((kind, id) for kind, id in rows)
        return found

    def erase_corrections(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        listed = list(names)

        def change() -> None:
            for kind, id in listed:
                self._run(
                    "UPDATE curation SET text = '' WHERE bank = ? AND target = ? AND action = ?",
                    *(bank, uri(kind, id), Action.CORRECT.value),
                )
                self._run(
                    "UPDATE curation_state SET text = '', was = '', time = '', who = '' "
                    "WHERE bank = ? AND kind = ? AND id = ?",
                    *(bank, kind, id),
                )

        if listed:
            self._with_open_log(change)

    def _drop_row(self, table: str, rowid: int) -> None:
        """Remove what would make no sense with a hole in it, and what finds it."""
        if table == "rule":
            self._run(
                "DELETE FROM passage WHERE kind = 'rule' AND (bank, id) = "
                "(SELECT bank, id FROM rule WHERE rowid = ?)",
                rowid,
            )
        self._run(f"DELETE FROM {table} WHERE rowid = ?", rowid)

    def backups_holding(self, what: Erasure | Scrubber) -> list[Path]:
        folder = self._path.parent / "backups"
        copies = sorted(folder.glob("*.db")) if folder.is_dir() else []
        return [path for path in copies if _holds(path, what)]

    def overwrite_deleted(self) -> None:
        with translated(self._path):
            run = self._connection.execute
            run("PRAGMA secure_delete = ON")
            run("BEGIN IMMEDIATE")
            run(
                "DELETE FROM vector WHERE NOT EXISTS (SELECT 1 FROM passage "
                "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)"
            )
            run("INSERT INTO passage_fts (passage_fts) VALUES ('rebuild')")
            run("COMMIT")
            run("VACUUM")
            give_up = time.monotonic() + BUSY_S
            while run("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > give_up:
                    raise StoreBusyError(
                        "Another process still reads what was erased.",
                        "Close it, then run the same command again: the words are in no row any "
                        "more, but may be in memory.db-wal.",
                    )
                time.sleep(_RETRY_S)


def _finds(
    connection: Connection, clean: Scrubber
) -> Iterator[tuple[ScrubMatch, int, Sequence[Any]]]:
    """The rows that hold what is scrubbed, each with its number and its words."""
    for table, columns in _WORDS.items():
        there = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
        if not there >= set(columns):
            continue  # an older copy does not have it
        names = ", ".join((*_NAMED[table], "rowid", *columns))
        for row in connection.execute(f'SELECT {names} FROM "{table}"'):
            bank, id, session, rowid, *words = row
            held = zip(columns, words, strict=True)
            if any(_cleaned(name, word, clean) != word for name, word in held):
                yield ScrubMatch(table, str(bank), str(id), str(session)), rowid, words


def _cleaned(column: str, word: Any, clean: Scrubber) -> Any:
    if not isinstance(word, str) or not word:
        return word
    if column not in _LISTS:
        return clean(word)
    cleaned = [clean(item) for item in json.loads(word)]
    return json.dumps(cleaned, ensure_ascii=False, separators=(",", ":"))


def _holds(path: Path, what: Erasure | Scrubber) -> bool:
    """Whether a copy holds it, or cannot be looked into."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as copy:
            if not isinstance(what, Erasure):
                return any(True for _ in _finds(copy, what)) or copies.keeps(copy, what)
            tables = {row[0] for row in copy.execute("SELECT name FROM sqlite_master")}
            named = (
                ("session", what.sessions),
                ("turn", what.turns),
                ("commit", what.commits),
                ("remembered_memory", what.memories),
                ("shared_record", what.shared),
                ("imported_record", what.imported),
            )
            named += tuple((word, (id,)) for word, id in what.forged)
            return any(copies.has(copy, table, ids) for table, ids in named if table in tables)
    except sqlite3.DatabaseError:
        return True
