"""Taking words out of the tables for good: whole records, or words out of every row.

What an engine leaves behind on its disk, and copies of a memory, are its own affair
(`store.sqlite.erasure`, `store.postgres.store`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.curation import Action, Verdict
from holdfast.model.uris import uri
from holdfast.principal import Level
from holdfast.store.index.progress import StageProgress
from holdfast.store.knowledge.concepts import Concepts
from holdfast.store.knowledge.graph import Graph
from holdfast.store.knowledge.memories import Memories
from holdfast.store.knowledge.rules import Rules
from holdfast.store.records.forge import ForgeRecords
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import insert_missing


class Erasure(NamedTuple):
    """What to erase: rows, by id; the URIs of decisions whose texts are erased too; marks by which
    erased content is recognised if it is read again; sources whose failed lines are no longer
    quoted; and pulls, issues and remarks (`forged`), each by kind and id."""

    bank: str
    sessions: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()
    forged: tuple[tuple[str, str], ...] = ()
    shared: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()


class Scrubber(Protocol):
    """Removes a pattern from a text."""

    def __call__(self, text: str) -> str:
        """The text without the pattern; the same text if it is not in there."""
        ...


class ScrubMatch(NamedTuple):
    """A row that contains what is scrubbed: its table and its identity."""

    table: str
    bank: str
    id: str
    session: str = ""


# The session that a model's summary is about.
_SUMMARY_SESSION = (
    "coalesce((SELECT session FROM exchange AS x WHERE x.bank = model_summary.bank "
    "AND x.id = record), (SELECT session FROM digest AS d WHERE d.bank = model_summary.bank "
    "AND d.id = record), '')"
)


class _Scrubbed(NamedTuple):
    """A table with words of others: the columns that hold them, its primary key, and, as SQL, the
    bank, the id and the session that a match names. Ids are not scrubbed."""

    columns: str
    key: str = "bank, id"
    bank: str = "bank"
    id: str = "id"
    session: str = "''"


_SCRUBBED = {
    "turn": _Scrubbed("text, speaker, branch, target, lines, action, result", session="session"),
    "session": _Scrubbed("title, cwd, branch, subagent", session="id"),
    "commit": _Scrubbed("author, email, subject, body, files"),
    "remembered_memory": _Scrubbed("text, who"),
    "memory_dimension": _Scrubbed("place, why"),
    "opinion": _Scrubbed("what, why"),
    "curation": _Scrubbed("text, who", key="seq", id="target"),
    "failed_line": _Scrubbed(
        "excerpt",
        key="source, line",
        bank="(SELECT bank FROM source WHERE id = failed_line.source)",
        id='"offset"',
        session="source",
    ),
    "source": _Scrubbed("problem", key="id", id="path"),
    "failed_task": _Scrubbed("problem", key="name", bank="''", id="name"),
    "injection": _Scrubbed("because", session="session"),
    "bank": _Scrubbed("background", key="id", bank="id"),
    "rule": _Scrubbed("heading, text"),
    "statement": _Scrubbed(
        "text, author, about, files", key="bank, uri, place", id="uri", session="session"
    ),
    "pattern": _Scrubbed("content"),
    "proposal": _Scrubbed("text, reason"),
    "refused_proposal": _Scrubbed("text, why", key="bank, seq", id="seq"),
    "model_summary": _Scrubbed(
        "content, problem", key="bank, hash, version", id="record", session=_SUMMARY_SESSION
    ),
    "commit_patch": _Scrubbed("changes, diff"),
    "model_call": _Scrubbed("problem", session="session"),
    "service_pause": _Scrubbed("problem", key="service", bank="''", id="service"),
    "pull": _Scrubbed("author, title, body, labels, files, base, branch, url"),
    "issue": _Scrubbed("author, title, body, labels, url"),
    "remark": _Scrubbed("author, text, path, url"),
    "forge_login": _Scrubbed("login, name, email", key="bank, login", id="login"),
    "shared_record": _Scrubbed("text, author, email, files, note", key="bank, id, share_import"),
    "outbox_item": _Scrubbed("line, problem", key="bank, remote, id"),
    "imported_record": _Scrubbed("title, text, files, labels", key="bank, id, import_batch"),
    "import_batch": _Scrubbed("place"),
    "api_key": _Scrubbed("name", key="id", bank="''"),
}

_JSON_LISTS = ("files", "labels")

# Rows that are removed rather than scrubbed: made by a program, or read from files that are there.
_REMOVED_TABLES = (
    "model_summary",
    "commit_patch",
    "rule",
    "statement",
    "pattern",
    "proposal",
    "forge_login",
    "outbox_item",
)

_SESSION_TABLES = (
    "exchange", "digest", "passage", "claim", "stale_session", "session_derivation",
    "curation_state", "hidden_record", "record_use", "turn",
)  # fmt: skip

# The table of a kind of record, where it has another name.
_TABLE_OF = {
    "memory": "remembered_memory",
    "shared": "shared_record",
    "imported": "imported_record",
}

# Kinds of derived records that people may have corrected, and their tables.
_DERIVED_KINDS = {
    "fact": ("fact",),
    "concept": ("concept",),
    "entity": ("entity_spelling",),
    "memory": ("retained_memory", "opinion"),
}


def find_words(
    query: Callable[[str], Iterable[Sequence[Any]]],
    clean: Scrubber,
    tables: Collection[str] = tuple(_SCRUBBED),
) -> Iterator[tuple[ScrubMatch, Sequence[Any], Sequence[Any]]]:
    """The rows that hold what is scrubbed, each with its key and its texts."""
    for name in tables:
        table = _SCRUBBED[name]
        keys, columns = table.key.split(", "), table.columns.split(", ")
        listed = ", ".join((table.bank, table.id, table.session, *keys, *columns))
        for row in query(f'SELECT {listed} FROM "{name}"'):
            bank, id, session, *rest = row
            key, words = rest[: len(keys)], rest[len(keys) :]
            held = zip(columns, words, strict=True)
            if any(_cleaned(column, word, clean) != word for column, word in held):
                yield ScrubMatch(name, str(bank), str(id), str(session)), key, words


def scrubbed_columns() -> dict[str, set[str]]:
    """The columns that a scrubbing reads, by table."""
    return {
        name: {*table.key.split(", "), *table.columns.split(", ")}
        for name, table in _SCRUBBED.items()
    }


def erased_ids(what: Erasure) -> Iterator[tuple[str, Sequence[str]]]:
    """The ids of what an erasure removes, by table."""
    yield from (("session", what.sessions), ("turn", what.turns), ("commit", what.commits))
    yield from (("remembered_memory", what.memories), ("shared_record", what.shared))
    yield "imported_record", what.imported
    yield from ((kind, (id,)) for kind, id in what.forged)


def _is(key: str) -> str:
    return " AND ".join(f"{name} = ?" for name in key.split(", "))


def _cleaned(column: str, word: Any, clean: Scrubber) -> Any:
    if not isinstance(word, str) or not word:
        return word
    if column not in _JSON_LISTS:
        return clean(word)
    cleaned = [clean(item) for item in json.loads(word)]
    return json.dumps(cleaned, ensure_ascii=False, separators=(",", ":"))


class Eraser(Subject):
    """Erases records and words. Nothing of this can be undone."""

    _concepts: Concepts
    _forge: ForgeRecords
    _graph: Graph
    _memories: Memories
    _progress: StageProgress
    _rules: Rules

    def erase(self, erasure: Erasure) -> None:
        """Remove rows, and the texts of decisions about them."""
        self._db.require(Level.ADMIN)
        self._prepare()
        self._erase_summaries(erasure)
        self._erase_patterns(erasure)
        for session in erasure.sessions:
            self._memories.clear_session(erasure.bank, session, 0)
            for table in _SESSION_TABLES:
                self._db.run(
                    f"DELETE FROM {table} WHERE bank = ? AND session = ?", (erasure.bank, session)
                )
            self._db.run(
                "DELETE FROM hidden_record WHERE bank = ? AND id = ?", (erasure.bank, session)
            )
            self._db.run("DELETE FROM session WHERE bank = ? AND id = ?", (erasure.bank, session))
            self._progress.mark_changed(erasure.bank, session)
        by_id = (
            ("turn", erasure.turns),
            ("commit", erasure.commits),
            ("memory", erasure.memories),
            ("shared", erasure.shared),
            ("imported", erasure.imported),
        )
        for kind, ids in by_id:
            table = _TABLE_OF.get(kind, kind)
            for id in ids:
                name = (erasure.bank, kind, id)
                for beside in ("passage", "record_labels", "curation_state", "hidden_record"):
                    self._db.run(
                        f"DELETE FROM {beside} WHERE bank = ? AND kind = ? AND id = ?", name
                    )
                self._db.run(f'DELETE FROM "{table}" WHERE bank = ? AND id = ?', (erasure.bank, id))
                if kind == "memory":
                    self._memories.drop_dimensions(erasure.bank, id)
        self._erase_beside(erasure)
        # What is made of all of a bank holds words of any of it.
        self._concepts.drop(erasure.bank)
        for source in erasure.sources:
            self._db.run("UPDATE failed_line SET excerpt = '' WHERE source = ?", (source,))
        self.block_marks(erasure.bank, erasure.marks)
        self._blank_log(erasure)
        # The names of what is erased go at once; the graph is made again from what is left.
        self._graph.drop(erasure.bank)
        self._progress.mark_changed(erasure.bank, "")

    def _prepare(self) -> None:
        """Do what the engine needs for what is deleted to be overwritten."""
        raise NotImplementedError

    def _writable_log(self) -> AbstractContextManager[None]:
        """A context in which the curation log can be changed, which nothing but an erasure may."""
        raise NotImplementedError

    def backups_holding(self, content: Erasure | Scrubber) -> list[Path]:
        """The backups that contain it, or that cannot be read."""
        raise NotImplementedError

    def overwrite_deleted(self) -> None:
        """Overwrite deleted content in the files of the store."""
        raise NotImplementedError

    def _erase_beside(self, what: Erasure) -> None:
        """Erase what other tables have of turns, commits and memories."""
        for id in what.turns:
            self._db.run("DELETE FROM record_use WHERE bank = ? AND turn = ?", (what.bank, id))
        for id in what.memories:
            self._db.run(
                "DELETE FROM concept_anchor WHERE bank = ? AND kind = 'memory' AND id = ?",
                (what.bank, id),
            )
            self._db.run(
                "DELETE FROM record_use WHERE bank = ? AND record = ?",
                (what.bank, uri("memory", id)),
            )
        for word, id in what.forged:
            self._forge.erase(what.bank, word, id)
        # What waits to be sent and may hold its words: itself, and whatever is made of others.
        unsent = "DELETE FROM outbox_item WHERE bank = ? AND gone = 0 AND state <> 'sent' AND "
        self._db.run(f"{unsent} origin NOT LIKE 'holdfast://memory/%'", (what.bank,))
        for target in what.targets:
            self._db.run(f"{unsent} origin = ?", (what.bank, target))
        for id in what.commits:
            for table in (
                "commit_patch",
                "file_change",
                "commit_revert",
                "git_tag",
                "git_branch",
                "commit_session",
            ):
                self._db.run(f"DELETE FROM {table} WHERE bank = ? AND id = ?", (what.bank, id))

    def _erase_summaries(self, what: Erasure) -> None:
        """Erase the summaries that a model made of a session with any word of it, though they were
        paid for, and those of records that are gone."""
        sessions = set(what.sessions)
        for id in what.turns:
            row = self._db.one(
                "SELECT session FROM turn WHERE bank = ? AND id = ?", (what.bank, id)
            )
            sessions |= {row[0]} if row else set()
        of = "SELECT id FROM {} WHERE bank = ? AND session = ?"
        for session in sessions:
            name = (what.bank, session)
            self._db.run(
                f"DELETE FROM model_summary WHERE bank = ? AND record IN "
                f"({of.format('exchange')} UNION {of.format('digest')})",
                (what.bank, *name, *name),
            )
        self._db.run(
            "DELETE FROM model_summary WHERE bank = ? AND record NOT IN (SELECT id FROM exchange "
            "WHERE bank = ? UNION SELECT id FROM digest WHERE bank = ?)",
            (what.bank, what.bank, what.bank),
        )

    def _blank_log(self, what: Erasure) -> None:
        """Take the words out of decisions. The ids of memories and shared records are replaced too,
        because they are hashes of words and addresses. Of verdicts, with any word of a session, all
        of the bank lose their reasons and wordings: records that are made of many sessions may
        hold it."""

        with self._writable_log():
            for verdict in Verdict if what.sessions or what.turns else ():
                self._db.run(
                    "UPDATE curation SET text = ? WHERE bank = ? AND action = ? AND text LIKE ?",
                    (verdict.value, what.bank, Action.JUDGE.value, f"{verdict.value}%"),
                )
            for target in what.targets:
                self._db.run(
                    "UPDATE curation SET text = '' WHERE bank = ? AND target = ?",
                    (what.bank, target),
                )
            for id in (*what.memories, *what.shared):
                other = os.urandom(len(id) // 2).hex()
                self._db.run(
                    "UPDATE curation SET target = replace(target, ?, ?) WHERE bank = ?",
                    (id, other, what.bank),
                )
                self._db.run("UPDATE injection SET records = replace(records, ?, ?)", (id, other))

    def block_marks(self, bank: str, marks: Iterable[str], turns: Iterable[str] = ()) -> None:
        """Keep marks of content that must not be read again, and withhold the raw lines of
        turns."""
        self._db.require(Level.ADMIN)
        self._db.run_many(insert_missing("erasure_mark", "bank, mark"), [(bank, m) for m in marks])
        self._db.run_many(
            "INSERT INTO hidden_record SELECT bank, 'raw', id, session FROM turn "
            "WHERE bank = ? AND id = ? ON CONFLICT DO NOTHING",
            [(bank, turn) for turn in turns],
        )

    def rows_to_scrub(self, clean: Scrubber) -> list[ScrubMatch]:
        """The canonical rows that contain what the scrubber removes."""
        return [match for match, _, _ in find_words(self._db.stream, clean)]

    def scrub(self, clean: Scrubber) -> None:
        """Remove it from all canonical rows."""
        self._db.require(Level.ADMIN, all_banks=True)
        self._prepare()
        found = list(find_words(self._db.stream, clean))

        with self._writable_log():
            for match, key, words in found:
                if match.table in _REMOVED_TABLES:
                    self._drop_row(match.table, key)
                    continue
                table = _SCRUBBED[match.table]
                columns = table.columns.split(", ")
                new = [
                    _cleaned(name, word, clean) for name, word in zip(columns, words, strict=True)
                ]
                settings = ", ".join(f"{name} = ?" for name in columns)
                self._db.run(
                    f'UPDATE "{match.table}" SET {settings} WHERE {_is(table.key)}', (*new, *key)
                )
        self._scrub_keyed(clean)
        self._concepts.drop()
        self._graph.drop()

    def _scrub_keyed(self, clean: Scrubber) -> None:
        """Scrub words that are part of a key, and the state of corrected records."""
        for bank, kind, id, text, was in self._db.all(
            "SELECT bank, kind, id, text, was FROM curation_state"
        ):
            if (clean(text), clean(was)) != (text, was):
                self._db.run(
                    "UPDATE curation_state SET text = ?, was = ? WHERE bank = ? AND kind = ? AND "
                    "id = ?",
                    (clean(text), clean(was), bank, kind, id),
                )
        for table, column in (("git_tag", "name"), ("git_branch", "name"), ("file_change", "path")):
            for bank, name in self._db.all(f"SELECT DISTINCT bank, {column} FROM {table}"):
                if clean(name) != name:
                    self._db.run(
                        f"DELETE FROM {table} WHERE bank = ? AND {column} = ?", (bank, name)
                    )
        for bank, name in self._db.all(
            "SELECT DISTINCT bank, other_path FROM file_change WHERE other_path <> ''"
        ):
            if clean(name) != name:
                self._db.run(
                    "DELETE FROM file_change WHERE bank = ? AND other_path = ?", (bank, name)
                )

    def corrected_derived_records(self, bank: str) -> set[tuple[str, str]]:
        """Kind and id of the derived records that exist and have a person's correction."""
        found: set[tuple[str, str]] = set()
        for kind, tables in _DERIVED_KINDS.items():
            for table in tables:
                rows = self._db.all(
                    "SELECT kind, id FROM curation_state WHERE bank = ? AND kind = ? AND text <> "
                    "'' "
                    f"AND id IN (SELECT id FROM {table} WHERE bank = ?)",
                    (bank, kind, bank),
                )
                found.update((kind, id) for kind, id in rows)
        return found

    def erase_corrections(self, bank: str, names: Iterable[tuple[str, str]]) -> None:
        """Remove the texts of the corrections of these records."""
        self._db.require(Level.ADMIN)
        listed = list(names)
        if listed:
            with self._writable_log():
                for kind, id in listed:
                    self._db.run(
                        "UPDATE curation SET text = '' "
                        "WHERE bank = ? AND target = ? AND action = ?",
                        (bank, uri(kind, id), Action.CORRECT.value),
                    )
                    self._db.run(
                        "UPDATE curation_state SET text = '', was = '', time = '', who = '' "
                        "WHERE bank = ? AND kind = ? AND id = ?",
                        (bank, kind, id),
                    )
            self._progress.mark_changed(bank, "")

    def _erase_patterns(self, what: Erasure) -> None:
        """Remove patterns and proposals, which are made again, and refusals whose evidence is
        erased."""
        for table in ("pattern", "proposal", "statement"):
            self._db.run(f"DELETE FROM {table} WHERE bank = ?", (what.bank,))
        self._db.run(
            "DELETE FROM stage_progress WHERE bank = ? AND stage = 'patterns'", (what.bank,)
        )
        turns = list(what.turns)
        for session in what.sessions:
            found = self._db.all(
                "SELECT id FROM turn WHERE bank = ? AND session = ?", (what.bank, session)
            )
            turns += [id for (id,) in found]
        named = (("turn", turns), ("commit", what.commits), ("memory", what.memories))
        gone = {uri(kind, id) for kind, ids in named for id in ids}
        for refusal in self._rules.refusals(what.bank):
            if gone.intersection(refusal.evidence):
                self._db.run(
                    "DELETE FROM refused_proposal WHERE bank = ? AND seq = ?",
                    (what.bank, refusal.seq),
                )

    def _drop_row(self, table: str, key: Sequence[object]) -> None:
        """Remove a row that would make no sense without the words, and its passage."""
        if table == "rule":
            self._db.run("DELETE FROM passage WHERE kind = 'rule' AND bank = ? AND id = ?", key)
        self._db.run(f"DELETE FROM {table} WHERE {_is(_SCRUBBED[table].key)}", key)
