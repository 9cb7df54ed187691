"""Results of tools in the form of the protocol: as text and as data."""

from __future__ import annotations

from holdfast.app.answers.tool import Object
from holdfast.errors import HoldfastError
from holdfast.interfaces.mcp.server_spec import error_text


def text_content(words: str) -> Object:
    """A text block of a result."""
    return {"type": "text", "text": words}


def tool_result(words: str, data: Object) -> Object:
    """A result, as text and as data."""
    return {"content": [text_content(words)], "structuredContent": data}


def tool_error(error: HoldfastError) -> Object:
    """An error as a result, which the model reads."""
    return {"content": [text_content(error_text(error))], "isError": True}
