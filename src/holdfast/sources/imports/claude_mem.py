"""Reads claude-mem's database: observations, session summaries, and prompts.

It is opened read-only, while claude-mem may be running. Earlier versions had other and fewer tables
and columns; those that exist are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import InputError
from holdfast.sources.imports.draft import (
    DraftRecord,
    ImportItem,
    SkippedRecord,
    checked,
    unique_texts,
)
from holdfast.sources.json_fields import items, normal_time

PROGRAM = "claude-mem"
_MAGIC = b"SQLite format 3\x00"
# Byte 18 of a database in write-ahead mode.
_WAL_MODE = 2
# How long to wait for claude-mem to release its database.
_LOCK_TIMEOUT_S = 5.0
_DESCRIPTION = "claude-mem's database, usually ~/.claude-mem/claude-mem.db"
_TABLES = {"observations": "observation", "session_summaries": "summary", "user_prompts": "prompt"}
# Columns that had other names in earlier versions, the latest first.
_SESSION_COLUMNS = ("memory_session_id", "sdk_session_id", "session_id")
_PROMPT_SESSION_COLUMNS = ("content_session_id", "claude_session_id")
_SUMMARY_SECTIONS = "request investigated learned completed next_steps notes".split()
_Row = dict[str, Any]


def read(path: Path, lock_timeout_s: float = _LOCK_TIMEOUT_S) -> Iterator[ImportItem]:
    """Every record of a database. Waits so long for claude-mem to release it."""
    with _opened(path, lock_timeout_s) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not tables & set(_TABLES):
            raise InputError(
                f"{path} is a database, but not claude-mem's: it has none of the tables "
                f"{', '.join(_TABLES)}.",
                f"Name {_DESCRIPTION}.",
            )
        projects = _projects(database) if "sdk_sessions" in tables else {}
        for table, kind in _TABLES.items():
            if table in tables:
                for row in _rows(database, table):
                    yield _import_item(row, kind, projects)


@contextmanager
def _opened(path: Path, lock_timeout_s: float) -> Generator[sqlite3.Connection]:
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}.", f"Name {_DESCRIPTION}."
        ) from error
    if not head.startswith(_MAGIC) or len(head) < 20:
        raise InputError(f"{path} is not a SQLite database.", f"Name {_DESCRIPTION}.")
    # Without a log nobody has the database open. `immutable` then avoids creating one, which even
    # reading would do in write-ahead mode.
    is_closed = head[18] == _WAL_MODE and not path.with_name(f"{path.name}-wal").exists()
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_closed else ''}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=lock_timeout_s)) as database:
            database.execute("PRAGMA query_only = ON")
            database.execute("BEGIN")  # one consistent state, whatever is written meanwhile
            database.text_factory = _decode
            yield database
    except sqlite3.DatabaseError as error:
        raise _input_error(path, error) from error


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _input_error(path: Path, error: sqlite3.DatabaseError) -> InputError:
    why = str(error)
    if "locked" in why or "busy" in why:
        return InputError(
            f"{path} is in use by another program, which has locked it.",
            "Stop claude-mem's worker, or try again in a minute; nothing was imported.",
        )
    if "unable to open" in why or "readonly" in why:
        return InputError(
            f"{path} cannot be opened in its folder: {why}.",
            f"Copy it with {path.name}-wal to a folder of yours, and name the copy.",
        )
    return InputError(
        f"{path} is damaged: {why}.",
        "Repair it with `sqlite3 FILE .recover`, or take a backup of it; nothing was imported.",
    )


def _rows(database: sqlite3.Connection, table: str) -> Iterator[_Row]:
    cursor = database.execute(f"SELECT rowid AS number_, * FROM {table} ORDER BY rowid")
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _projects(database: sqlite3.Connection) -> dict[str, str]:
    """The project of each session, by any of its ids."""
    found: dict[str, str] = {}
    for row in _rows(database, "sdk_sessions"):
        for name in (*_SESSION_COLUMNS, *_PROMPT_SESSION_COLUMNS, "id"):
            if row.get(name) is not None:
                found[f"{name == 'id'}:{row[name]}"] = _text_field(row, "project")
    return found


def _import_item(row: _Row, kind: str, projects: dict[str, str]) -> ImportItem:
    id = row.get("id", row.get("number_"))
    if not isinstance(id, int):
        return SkippedRecord(kind, "wrong-shape", failed=True)
    columns = _SESSION_COLUMNS if kind != "prompt" else _PROMPT_SESSION_COLUMNS
    session = next((found for name in columns if (found := _text_field(row, name))), "")
    by_session = projects.get(f"False:{session}") or projects.get(
        f"True:{row.get('session_db_id')}", ""
    )
    project = _text_field(row, "merged_into_project") or _text_field(row, "project") or by_session
    time = normal_time(_text_field(row, "created_at")) or normal_time(row.get("created_at_epoch"))
    title, text = _title_and_text(row, kind)
    named = "session" if kind == "summary" else kind
    return checked(
        DraftRecord(
            kind,
            (kind, str(id), session, time),
            title,
            text,
            time,
            f"{PROGRAM}://{named}/{id}",
            project,
            session,
            unique_texts(*_list(row, "files_modified", "files_edited", "files_read")),
            unique_texts(_text_field(row, "type"), *_list(row, "concepts")),
        )
    )


def _title_and_text(row: _Row, kind: str) -> tuple[str, str]:
    if kind == "prompt":
        return "", _text_field(row, "prompt_text")
    if kind == "summary":
        sections = [(name, _text_field(row, name)) for name in _SUMMARY_SECTIONS]
        texts = [f"{n.replace('_', ' ').capitalize()}: {text}" for n, text in sections if text]
        return _text_field(row, "request"), "\n\n".join(texts)
    parts = [_text_field(row, name) for name in ("subtitle", "narrative", "text")]
    facts = "\n".join(f"- {fact}" for fact in _list(row, "facts"))
    return _text_field(row, "title"), "\n\n".join(unique_texts(*parts, facts))


def _text_field(row: _Row, name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _list(row: _Row, *names: str) -> list[str]:
    """The texts of lists that are kept as JSON; what is no such list counts as one text."""
    found: list[str] = []
    for name in names:
        word = _text_field(row, name)
        try:
            value: Any = json.loads(word) if word else []
        except (ValueError, RecursionError):
            value = [word]
        listed = items(value) or [value]
        found += [item.strip() for item in listed if isinstance(item, str) and item.strip()]
    return found
