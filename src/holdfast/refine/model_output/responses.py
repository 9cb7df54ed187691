"""What a model answered, read once into types. Small faults are mended; what cannot be read is a
`ModelAnswerError` that says why, so that the model can be told.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

from holdfast.errors import ModelAnswerError

_LONGEST = 4000
_MOST_ITEMS = 40


class ExchangeDraft(NamedTuple):
    """One exchange as a model sees it; nothing in it is believed yet."""

    type: str
    title: str
    summary: str
    details: str
    facts: tuple[str, ...]
    keywords: tuple[str, ...]


class DigestDraft(NamedTuple):
    """A session as a model sees it."""

    request: str
    investigated: tuple[str, ...]
    learned: tuple[str, ...]
    completed: tuple[str, ...]
    next_steps: tuple[str, ...]


def parse_exchanges(text: str, wanted: int) -> dict[int, ExchangeDraft]:
    """The drafts by their numbers, 1 to `wanted`; at least one of them."""
    whole = parse_object(text)
    items = whole.get("exchanges", [whole] if wanted == 1 else None)
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of exchanges.")
    found: dict[int, ExchangeDraft] = {}
    for item in cast(list[object], items)[: wanted + _MOST_ITEMS]:
        if not isinstance(item, dict):
            continue
        fields = cast(dict[str, Any], item)
        number: object = fields.get("number", 1 if wanted == 1 else None)
        if isinstance(number, int) and 1 <= number <= wanted and number not in found:
            draft = ExchangeDraft(
                _text(fields, "type"),
                _text(fields, "title"),
                _text(fields, "summary"),
                _text(fields, "details"),
                _texts(fields, "facts"),
                _texts(fields, "keywords"),
            )
            if draft.title or draft.summary:
                found[number] = draft
    if not found:
        raise ModelAnswerError("no exchange in it has a number, a title and a summary.")
    return found


def parse_digest(text: str) -> DigestDraft:
    """The draft of a digest."""
    whole = parse_object(text)
    draft = DigestDraft(
        _text(whole, "request"),
        *(_texts(whole, name) for name in ("investigated", "learned", "completed", "next_steps")),
    )
    if not any(draft):
        raise ModelAnswerError("it has none of the fields that were asked for.")
    return draft


def parse_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text, whatever stands around it."""
    if not text.strip():
        raise ModelAnswerError("it was empty.")
    start = text.find("{")
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(text[start:] if start >= 0 else text)
    except (ValueError, RecursionError) as error:
        raise ModelAnswerError(f"it is not valid JSON ({str(error)[:80]}).") from error
    if not isinstance(found, dict):
        raise ModelAnswerError("it is not a JSON object.")
    return cast(dict[str, Any], found)


def _text(fields: dict[str, Any], name: str) -> str:
    value: object = fields.get(name)
    return value[:_LONGEST] if isinstance(value, str) else ""


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    value: object = fields.get(name)
    if isinstance(value, str):
        value = [value]
    items = cast(list[object], value) if isinstance(value, list) else []
    return tuple(item[:_LONGEST] for item in items[:_MOST_ITEMS] if isinstance(item, str))
