"""Edits one table of a TOML document as text: added at its end, removed where it is.

The result is parsed again. If anything but our table would change, it is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, cast

from holdfast.errors import InputError

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)

Table = dict[str, Any]


def read(text: str) -> Table:
    """The document; raises ValueError where it is not TOML."""
    return tomllib.loads(text)


def entry(text: str, table: str, name: str) -> object:
    """The value of a name in a table; None where there is none."""
    found: object = read(text).get(table)
    return cast(Table, found).get(name) if isinstance(found, dict) else None


def put(text: str, table: str, name: str, value: Table) -> str:
    """The document with an entry at its end. Objects in it become tables of their own."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{table}.{name}]"]
    inner: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict):
            fields = [f"{k} = {_toml_value(v)}" for k, v in cast(Table, item).items()]
            inner += ["", f"[{table}.{name}.{key}]", *fields]
        else:
            lines.append(f"{key} = {_toml_value(item)}")
    whole = newline.join([*lines, *inner]) + newline
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return _checked(text, text + gap + whole, table, name)


def _toml_value(value: Any) -> str:
    """A string, or a list of strings. TOML has JSON's escapes except surrogate pairs, and requires
    DEL to be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def remove(text: str, table: str, name: str) -> str:
    """The document without an entry that has a header of its own, and the line before it."""
    header = re.compile(
        rf"^[ \t]*\[{re.escape(table)}\.{re.escape(name)}(?:\.[^\]\n]+)?\][ \t]*(?:#.*)?$",
        re.MULTILINE,
    )
    after = text
    while (found := header.search(after)) is not None:
        following = _HEADER.search(after, found.end())
        end = following.start() if following else len(after)
        after = re.sub(r"\r?\n\Z", "", after[: found.start()], count=1) + (
            ("\n" if found.start() and following else "") + after[end:]
        )
        if not following and after and not after.endswith("\n"):
            after += "\r\n" if "\r\n" in text else "\n"
    return _checked(text, after, table, name)


def _checked(before: str, after: str, table: str, name: str) -> str:
    """The new text; raises InputError where more than the entry changed."""
    if _without_entry(before, table, name) != _without_entry(after, table, name):
        raise InputError(
            f"The entry {table}.{name} cannot be changed without changing more.",
            "Edit it by hand, then run this again. Nothing was changed.",
        )
    return after


def _without_entry(text: str, table: str, name: str) -> Table:
    whole = read(text)
    found: object = whole.get(table)
    if isinstance(found, dict):
        rest = {key: value for key, value in cast(Table, found).items() if key != name}
        whole = {**whole, table: rest}
        if not rest:
            del whole[table]
    return whole
