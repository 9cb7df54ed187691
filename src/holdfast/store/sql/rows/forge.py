"""Pulls, issues and remarks as rows. A table has the columns of its dataclass."""

from __future__ import annotations

import json
from typing import Any

from holdfast.model.forge import Issue, Pull, Remark, RemarkKind, Thread, ThreadState
from holdfast.model.trust import Trust
from holdfast.store.sql.rows.records import Row

_BOTH = "bank, id, number, time, author, title, body, state, url, trust, repo, updated, closed"
PULL = f'{_BOTH}, labels, files, commits, "merge", base, branch, fixes, bot'
ISSUE = f"{_BOTH}, labels, bot"
REMARK = "bank, id, thread, kind, time, author, text, state, path, line, url, trust, updated, bot"
_LISTS = ("labels", "files", "commits", "fixes")


def row_of(record: Thread | Remark) -> Row:
    """`PULL`, `ISSUE` or `REMARK`."""
    columns = {Pull: PULL, Issue: ISSUE, Remark: REMARK}[type(record)]
    return tuple(_cell(getattr(record, name)) for name in _names(columns))


def pull_of(row: Row) -> Pull:
    """`PULL`."""
    return Pull(**_thread(PULL, row))


def issue_of(row: Row) -> Issue:
    """`ISSUE`."""
    return Issue(**_thread(ISSUE, row))


def remark_of(row: Row) -> Remark:
    """`REMARK`."""
    fields: dict[str, Any] = dict(zip(_names(REMARK), row, strict=True))
    fields.update(kind=RemarkKind(fields["kind"]), trust=Trust(fields["trust"]))
    fields["bot"] = bool(fields["bot"])
    return Remark(**fields)


def _thread(columns: str, row: Row) -> dict[str, Any]:
    fields: dict[str, Any] = dict(zip(_names(columns), row, strict=True))
    fields.update((name, tuple(json.loads(fields[name]))) for name in _LISTS if name in fields)
    fields.update(state=ThreadState(fields["state"]), trust=Trust(fields["trust"]))
    fields["bot"] = bool(fields["bot"])
    return fields


def _names(columns: str) -> list[str]:
    return columns.replace('"', "").split(", ")


def _cell(value: Any) -> Any:
    """A value as it is stored, without halves of surrogate pairs."""
    if isinstance(value, tuple):
        return _whole(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int) else _whole(str(value))


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
