"""Parses the answers of a model into typed drafts.

Small errors are corrected. An answer that cannot be used raises `ModelAnswerError` with a reason
that can be sent back to the model.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, cast

from holdfast.errors import ModelAnswerError

# More than any field or list of a good answer has; what is longer is cut.
_MAX_CHARACTERS = 4000
_MAX_ITEMS = 40


class ExchangeDraft(NamedTuple):
    """A model's summary of one exchange, not checked yet."""

    type: str
    title: str
    summary: str
    details: str
    facts: tuple[str, ...]
    keywords: tuple[str, ...]


class DigestDraft(NamedTuple):
    """A model's digest of a session, not checked yet."""

    request: str
    investigated: tuple[str, ...]
    learned: tuple[str, ...]
    completed: tuple[str, ...]
    next_steps: tuple[str, ...]


def parse_exchanges(text: str, wanted: int) -> dict[int, ExchangeDraft]:
    """The drafts by number, 1 to `wanted`. Raises `ModelAnswerError` if there are none."""
    whole = parse_object(text)
    items = whole.get("exchanges", [whole] if wanted == 1 else None)
    if not isinstance(items, list):
        raise ModelAnswerError("it has no list of exchanges.")
    found: dict[int, ExchangeDraft] = {}
    for item in cast(list[object], items)[: wanted + _MAX_ITEMS]:
        if not isinstance(item, dict):
            continue
        fields = cast(dict[str, Any], item)
        number: object = fields.get("number", 1 if wanted == 1 else None)
        if isinstance(number, int) and 1 <= number <= wanted and number not in found:
            draft = ExchangeDraft(
                text_field(fields, "type"),
                text_field(fields, "title"),
                text_field(fields, "summary"),
                text_field(fields, "details"),
                _text_list(fields, "facts"),
                _text_list(fields, "keywords"),
            )
            if draft.title or draft.summary:
                found[number] = draft
    if not found:
        raise ModelAnswerError("no exchange in it has a number, a title and a summary.")
    return found


def parse_digest(text: str) -> DigestDraft:
    """The draft of a digest. Raises `ModelAnswerError` if all fields are missing."""
    whole = parse_object(text)
    lists = ("investigated", "learned", "completed", "next_steps")
    draft = DigestDraft(text_field(whole, "request"), *(_text_list(whole, n) for n in lists))
    if not any(draft):
        raise ModelAnswerError("it has none of the fields that were asked for.")
    return draft


def parse_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text, with or without other text around it."""
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


def text_field(fields: dict[str, Any], name: str, limit: int = _MAX_CHARACTERS) -> str:
    """The start of a field if it is a text, else ""."""
    value: object = fields.get(name)
    return value[:limit] if isinstance(value, str) else ""


def _text_list(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    value: object = fields.get(name)
    if isinstance(value, str):
        value = [value]
    items = cast(list[object], value) if isinstance(value, list) else []
    return tuple(item[:_MAX_CHARACTERS] for item in items[:_MAX_ITEMS] if isinstance(item, str))
