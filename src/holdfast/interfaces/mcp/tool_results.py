"""Results as the protocol has them: in words, and as data."""

from __future__ import annotations

from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError


def text_content(words: str) -> Object:
    """Words, as a result holds them."""
    return {"type": "text", "text": words}


def tool_result(words: str, data: Object) -> Object:
    """A result, in words and as data."""
    return {"content": [text_content(words)], "structuredContent": data}


def tool_error(error: HoldfastError) -> Object:
    """What went wrong, and what to do about it, as a result."""
    return {"content": [text_content(f"{error.message} {error.remedy}".strip())], "isError": True}
