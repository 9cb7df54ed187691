"""Our table in a TOML document that a person wrote: put at its end, and taken out as text.

What comes out is read again: a document that would say anything else than before, but for our
table, is refused and left as it is.
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
    """What stands in a table under a name; None where nothing does."""
    found: object = read(text).get(table)
    return cast(Table, found).get(name) if isinstance(found, dict) else None


def put(text: str, table: str, name: str, value: Table) -> str:
    """The document with an entry at its end. Its objects become tables of their own."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{table}.{name}]"]
    inner: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict):
            told = [f"{k} = {_spell(v)}" for k, v in cast(Table, item).items()]
            inner += ["", f"[{table}.{name}.{key}]", *told]
        else:
            lines.append(f"{key} = {_spell(item)}")
    whole = newline.join([*lines, *inner]) + newline
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return _same(text, text + gap + whole, table, name)


def _spell(value: Any) -> str:
    """A text, or a list of them. TOML knows JSON's escapes, but not those of pairs of halves, and
    wants one character more escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def take(text: str, table: str, name: str) -> str:
    """The document without an entry that has headers of its own, and the line before them."""
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
    return _same(text, after, table, name)


def _same(before: str, after: str, table: str, name: str) -> str:
    """The new text, if both say the same but for one entry."""
    if _others(before, table, name) != _others(after, table, name):
        raise InputError(
            f"The entry {table}.{name} cannot be changed without changing more.",
            "Edit it by hand, then run this again. Nothing was changed.",
        )
    return after


def _others(text: str, table: str, name: str) -> Table:
    whole = read(text)
    found: object = whole.get(table)
    if isinstance(found, dict):
        rest = {key: value for key, value in cast(Table, found).items() if key != name}
        whole = {**whole, table: rest}
        if not rest:
            del whole[table]
    return whole
