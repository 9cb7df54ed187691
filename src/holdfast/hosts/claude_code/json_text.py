"""Edits a JSON document as text, so that every other byte stays.

Settings files are written by people. Parsing and writing one anew would reformat it and hide our
lines in the diff, so values are inserted and removed in place, in the format of their neighbours.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple, cast

_SPACE = re.compile(r"[ \t\n\r]*")
_SCALARS = json.JSONDecoder()
_INDENT = re.compile(r"\n([ \t]+)\S")
_DEFAULT_INDENT = "  "

Step = str | int


class Node(NamedTuple):
    """A value and its position in the text. `parts` are the members or items of a container; a
    member's `start` is that of its key."""

    value: Any
    start: int
    end: int
    parts: tuple[Part, ...] = ()


class Part(NamedTuple):
    """A member of an object, or an item of a list."""

    name: Step
    start: int
    node: Node


def read(text: str) -> Node:
    """Parse a document, with the position of each value. Raises ValueError where it is not JSON, or
    nested too deeply."""
    try:
        json.loads(text)
        return _value(text, _skip(text, 0))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Node:
    if text[at] in "{[":
        return _container(text, at)
    value, end = _SCALARS.raw_decode(text, at)
    return Node(value, at, end)


def _container(text: str, start: int) -> Node:
    keyed = text[start] == "{"
    parts: list[Part] = []
    at = _skip(text, start + 1)
    while text[at] not in "}]":
        name: Step = len(parts)
        begins = at
        if keyed:
            name, end = _SCALARS.raw_decode(text, at)
            at = _skip(text, _skip(text, end) + 1)
        node = _value(text, at)
        parts.append(Part(name, begins, node))
        at = _skip(text, node.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    values: Any = {part.name: part.node.value for part in parts}
    return Node(values if keyed else list(values.values()), start, at + 1, tuple(parts))


def find(node: Node, path: tuple[Step, ...]) -> Node | None:
    """The value at a path; of duplicate keys the last, as parsers do."""
    for step in path:
        named = [part.node for part in node.parts if part.name == step]
        if not named:
            return None
        node = named[-1]
    return node


def put(text: str, path: tuple[Step, ...], value: Any) -> str:
    """The text with a value at a path of keys; missing objects on the way are created. The last
    step -1 adds an item to the end of a list."""
    root = read(text)
    for depth in range(len(path) - 1, -1, -1):
        holder = find(root, path[:depth])
        if holder is None:
            value = [value] if path[depth] == -1 else {path[depth]: value}
            continue
        there = find(root, path[: depth + 1])
        if there is not None:
            return text[: there.start] + _dump(text, there.start, value) + text[there.end :]
        return _append(text, holder, path[depth], value)
    return _dump(text, 0, value)


def _append(text: str, holder: Node, name: Step, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if holder.parts:
        last = holder.parts[-1]
        lead = text[: last.start].rpartition("\n")[2]
        if lead.strip() or "\n" not in text[holder.start : last.start]:
            gap = ", "
            member = _member(name, json.dumps(value, ensure_ascii=False))
        else:
            gap = f",{newline}{lead}"
            member = _member(name, _indented(text, value, lead, newline))
        return text[: last.node.end] + gap + member + text[last.node.end :]
    if "\n" not in text.strip() and len(text.strip()) > 2:
        member = _member(name, json.dumps(value, ensure_ascii=False))
        return text[: holder.start + 1] + member + text[holder.end - 1 :]
    base = _indent_at(text, holder.start)
    lead = base + indent_unit(text)
    member = _member(name, _indented(text, value, lead, newline))
    inner = f"{newline}{lead}{member}{newline}{base}"
    return text[: holder.start + 1] + inner + text[holder.end - 1 :]


def _member(name: Step, member: str) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {member}" if isinstance(name, str) else member


def _dump(text: str, at: int, value: Any) -> str:
    """A value in the format of the document, to replace one at a position."""
    if "\n" not in text.strip():
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    return _indented(text, value, _indent_at(text, at), newline)


def _indented(text: str, value: Any, lead: str, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=indent_unit(text))
    return lines.replace("\n", newline + lead)


def _indent_at(text: str, at: int) -> str:
    line = text[:at].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent_unit(text: str) -> str:
    """The indentation of one level in the document."""
    found = _INDENT.search(text)
    return found.group(1) if found else _DEFAULT_INDENT


def remove(text: str, path: tuple[Step, ...]) -> str:
    """The text without the value at a path."""
    root = read(text)
    holder = cast(Node, find(root, path[:-1]))
    number = max(n for n, part in enumerate(holder.parts) if part.name == path[-1])
    part = holder.parts[number]
    if len(holder.parts) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if number:
        return text[: holder.parts[number - 1].node.end] + text[part.node.end :]
    return text[: part.start] + text[holder.parts[1].start :]
