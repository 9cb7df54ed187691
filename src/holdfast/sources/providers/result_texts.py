"""The result of a tool as a few plain texts, cut to size and without control characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from holdfast.regex import regex
from holdfast.sources.json_fields import Record, objects

# Of one result, and of one text of it.
MAX_TEXTS = 10
MAX_TEXT_CHARS = 2_000
# Control characters but for line ends and tabs, and marks that turn the direction of writing.
_HIDDEN = regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
# Fields in which tools return lists of hits.
_LIST_FIELDS = ("results", "items", "result", "hits", "matches", "documents", "data", "content")
_MAX_DEPTH = 3


def result_texts(result: dict[str, Any]) -> list[str]:
    """The texts of a result, in its order. Each item of a list in it is one text."""
    blocks = objects(result.get("content"))
    texts = [clean(text) for block in blocks for text in _block_texts(block)]
    found = [text for text in dict.fromkeys(texts) if text]
    if not found and "structuredContent" in result:
        texts = [clean(text) for text in _value_texts(result["structuredContent"], _MAX_DEPTH)]
        found = [text for text in texts if text]
    return found[:MAX_TEXTS]


def clean(text: str) -> str:
    """A text without control characters, cut to size."""
    text = _HIDDEN.sub("", text[: 4 * MAX_TEXT_CHARS].replace("\r\n", "\n")).strip()
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1].rstrip()}…"


def _block_texts(block: Record) -> Iterator[str]:
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        block = {"type": "text", **block["resource"]}
    text: object = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return
    if text.lstrip()[:1] in ("{", "["):
        try:
            yield from _value_texts(json.loads(text), _MAX_DEPTH)
            return
        except (ValueError, RecursionError):
            pass  # not JSON after all
    yield text


def _value_texts(value: object, depth: int) -> Iterator[str]:
    """The texts of a value: each item of a list, the list in an object, or its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in cast(list[object], value):
            yield from _value_texts(item, depth - 1)
    elif isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        inner: object = next(
            (fields[k] for k in _LIST_FIELDS if isinstance(fields.get(k), list)), None
        )
        if inner is not None and depth:
            yield from _value_texts(inner, depth - 1)
        else:
            yield "\n".join(
                f"{k}: {v}" for k, v in fields.items() if isinstance(v, str | int | float)
            )
