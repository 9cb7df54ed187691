"""Results as the protocol has them: in words, and as data."""

from __future__ import annotations

from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError


def text(words: str) -> Object:
    """Words, as a result holds them."""
    return {"type": "text", "text": words}


def result(words: str, data: Object) -> Object:
    """A result, in words and as data."""
    return {"content": [text(words)], "structuredContent": data}


def failed(error: HoldfastError) -> Object:
    """What went wrong, and what to do about it, as a result."""
    return {"content": [text(f"{error.message} {error.remedy}".strip())], "isError": True}
