"""What a tool answered, as a few plain texts: cut to size, without anything a terminal obeys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

MAX_TEXTS = 10
MAX_TEXT_CHARS = 2_000
# Control characters but for line ends and tabs, and marks that turn the direction of writing.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
_LISTS = ("results", "items", "result", "hits", "matches", "documents", "data", "content")
_DEPTH = 3


def result_texts(result: dict[str, Any]) -> list[str]:
    """The texts of a result, in its order; a list within it is as many texts as it has items."""
    found: list[str] = []
    blocks: object = result.get("content")
    for block in cast(list[object], blocks) if isinstance(blocks, list) else []:
        for text in _of_block(block):
            if (seen := clean(text)) and seen not in found:
                found.append(seen)
            if len(found) == MAX_TEXTS:
                return found
    if not found and "structuredContent" in result:
        for text in _of_value(result["structuredContent"], _DEPTH):
            found += [seen] if (seen := clean(text)) else []
    return found[:MAX_TEXTS]


def clean(text: str) -> str:
    """A text that may be shown."""
    text = _UNSEEN.sub("", text[: 4 * MAX_TEXT_CHARS].replace("\r\n", "\n")).strip()
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1].rstrip()}…"


def _of_block(block: object) -> Iterator[str]:
    if not isinstance(block, dict):
        return
    told = cast(dict[str, Any], block)
    if told.get("type") == "resource" and isinstance(told.get("resource"), dict):
        told = {"type": "text", **told["resource"]}
    text: object = told.get("text")
    if told.get("type") != "text" or not isinstance(text, str):
        return
    if text.lstrip()[:1] in ("{", "["):
        try:
            yield from _of_value(json.loads(text), _DEPTH)
            return
        except (ValueError, RecursionError):
            pass  # it only looked like JSON
    yield text


def _of_value(value: object, depth: int) -> Iterator[str]:
    """The texts that a value holds: of a list each item, of an object its list, or its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in cast(list[object], value):
            yield from _of_value(item, depth - 1)
    elif isinstance(value, dict):
        told = cast(dict[str, Any], value)
        inner: object = next((told[k] for k in _LISTS if isinstance(told.get(k), list)), None)
        if inner is not None and depth:
            yield from _of_value(inner, depth - 1)
        else:
            yield "\n".join(
                f"{k}: {v}" for k, v in told.items() if isinstance(v, str | int | float)
            )
