"""Memories of other programs, made as these programs make them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

_NOW = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE, project TEXT NOT NULL, custom_title TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT,
        project TEXT, text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,
        concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT,
        created_at_epoch INTEGER, content_hash TEXT, merged_into_project TEXT);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT,
        project TEXT, request TEXT, investigated TEXT, learned TEXT, completed TEXT,
        next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT, created_at TEXT,
        created_at_epoch INTEGER);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER,
        content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT, created_at TEXT,
        created_at_epoch INTEGER);
"""
# As its first versions had it: other names, no structure in observations, no prompts.
_FIRST = """
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT NOT NULL,
        sdk_session_id TEXT UNIQUE, project TEXT NOT NULL);
    CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT,
        project TEXT, text TEXT NOT NULL, type TEXT, created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT,
        project TEXT, request TEXT, learned TEXT, created_at TEXT, created_at_epoch INTEGER);
"""
_PLAIN: list[dict[str, Any]] = [
    {"type": "decision", "text": "The sails of the yawl are cut from hemp cloth."},
    {"type": "discovery", "text": "The ketch leaks at the rudder post."},
]
_STRUCTURED: list[dict[str, Any]] = [
    {
        "type": "decision",
        "title": "Hemp sails for the yawl",
        "subtitle": "Cotton rots within a season.",
        "narrative": "The sails of the yawl are cut from hemp cloth.",
        "facts": '["Hemp cloth lasts ten years", "The sailmaker is in Bergen"]',
        "concepts": '["trade-off"]',
        "files_modified": '["rig/sails.py"]',
        "files_read": "not json",
    },
    {"type": "discovery", "title": "Leak", "narrative": "The ketch leaks at the rudder post."},
]
_KEY = "AKIAIOSFODNN7EXAMPLE"
NOON = "2026-03-01T12:00:00.000Z"


def insert(database: sqlite3.Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        marks = ", ".join("?" * len(row))
        database.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()]
        )


def claude_mem(path: Path, first: bool = False, wal: bool = False) -> Path:
    """A database of claude-mem with two projects: two observations, a summary and a prompt."""
    session, asked = ("sdk", "claude") if first else ("memory", "content")
    session, asked = f"{session}_session_id", f"{asked}_session_id"
    summary = {"request": "Choose the cloth", "learned": "Bergen has the best sailmaker."}
    yawl = {session: "m-1", "project": "yawl", "created_at": NOON}
    ketch = {session: "m-2", "project": "ketch", "created_at": NOON}
    with closing(sqlite3.connect(path)) as database:
        if wal:
            database.execute("PRAGMA journal_mode = WAL")
        database.executescript(_FIRST if first else _NOW)
        for number, project in ((1, "yawl"), (2, "ketch")):
            names = {asked: f"c-{number}", session: f"m-{number}"}
            insert(database, "sdk_sessions", [{"id": number, **names, "project": project}])
        told = _PLAIN if first else _STRUCTURED
        insert(database, "observations", [{**yawl, **told[0]}, {**ketch, **told[1]}])
        insert(database, "session_summaries", [{**yawl, **summary}])
        if not first:
            said = {"prompt_number": 1, "prompt_text": f"Which cloth for the sails? key {_KEY}"}
            insert(database, "user_prompts", [{"session_db_id": 1, asked: "c-1", **said}])
        database.commit()
    return path
