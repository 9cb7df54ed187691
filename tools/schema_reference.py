"""The reference of the database schema, as Markdown made from the migrations of SQLite.

Names, types and keys are read from a new database, so they are those of the last migration.
What a table and a column mean is in the comments of the migrations. `make docs` puts it into
docs/schema.md.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from holdfast.store.sqlite.store import SqliteStore

MIGRATIONS = Path(__file__).parents[1] / "src" / "holdfast" / "store" / "sqlite" / "migrations"
KINDS = {"C": "canonical", "D": "derived"}
_SECTION = re.compile(r"^-- (.+?) -{4,}$")
_CREATE = re.compile(r"^CREATE (TABLE|VIRTUAL TABLE|VIEW) (\w+)")
_COLUMN = re.compile(r'^ {4}"?(\w+)"? .*? -- (.+)$')
_MORE = re.compile(r"^ {4,}-- (.+)$")
_ADDED = re.compile(r"^ALTER TABLE (\w+) ADD COLUMN (\w+)")


class TableText(NamedTuple):
    """What the migrations say about a table: section, comment, and a comment for some columns."""

    section: str
    comment: str
    columns: dict[str, str]


def read_comments(scripts: list[str]) -> dict[str, TableText]:
    """The comments of all tables and views, in the order of the scripts."""
    found: dict[str, TableText] = {}
    section = ""
    for script in scripts:
        above: list[str] = []
        inside = ""
        for line in script.splitlines():
            if heading := _SECTION.match(line):
                section, above = heading[1], []
            elif created := _CREATE.match(line):
                inside = created[2]
                found[inside] = TableText(section, " ".join(above), {})
            elif added := _ADDED.match(line):
                found[added[1]].columns[added[2]] = " ".join(above)
            elif line.startswith("-- "):
                above.append(line[3:])
            elif line.startswith(")") or not line.strip():
                inside, above = "", []
            elif inside:
                _read_column(line, found[inside].columns)
    return found


def _read_column(line: str, columns: dict[str, str]) -> None:
    """Add the comment behind a column, or the next line of the comment before."""
    if told := _COLUMN.match(line):
        columns[told[1]] = told[2]
    elif columns and (more := _MORE.match(line)):
        last = next(reversed(columns))
        columns[last] += f" {more[1]}"


def kind_of(comment: str) -> tuple[str, str]:
    """Whether a table is canonical or derived, and the rest of its comment."""
    marked = re.match(r"([CD])(,[^.]*)?\. ", comment)
    if marked is None:
        return "", comment
    return KINDS[marked[1]] + (marked[2] or ""), comment[marked.end() :]


def _columns(store: SqliteStore, table: str, comments: dict[str, str]) -> Iterator[str]:
    yield "| column | type | |"
    yield "|---|---|---|"
    for _, name, type, required, _, key in store.database.all(f'PRAGMA table_info("{table}")'):
        told = str(type).lower() + ("" if required or key else ", may be null")
        told += f", key {key}" if key else ""
        yield f"| `{name}` | {told} | {comments.get(str(name), '').replace('|', chr(92) + '|')} |"


def reference() -> str:
    """All tables by section, then the views."""
    scripts = [path.read_text("utf-8") for path in sorted(MIGRATIONS.glob("*.sql"))]
    comments = read_comments(scripts)
    lines: list[str] = []
    section = ""
    with tempfile.TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "m")) as store:
        rows = store.database.all("SELECT name, type FROM sqlite_master")
        kinds = {str(name): str(type) for name, type in rows if name in comments}
        # What a later migration dropped is no longer there.
        for name, text in comments.items():
            if name not in kinds:
                continue
            if text.section != section:
                section = text.section
                lines += [f"## {section}", ""]
            kind, meaning = kind_of(text.comment)
            label = "view" if kinds[name] == "view" else kind
            lines += [f"### {name}", "", f"*{label or 'table'}.* {meaning}".strip(), ""]
            if kinds[name] == "table":
                lines += [*_columns(store, name, text.columns), ""]
    return "\n".join(lines).rstrip()
