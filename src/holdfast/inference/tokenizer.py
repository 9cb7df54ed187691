"""The interface to tokenizers, and the choice of an implementation for a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol, cast

from holdfast.errors import InputError
from holdfast.inference.huggingface import HuggingFaceTokenizer
from holdfast.inference.wordpiece import WordPiece


class Tokenizer(Protocol):
    """Text to token ids of one vocabulary."""

    def pieces(self, text: str, limit: int | None = None) -> list[int]:
        """The ids of the text alone, at most `limit` of them."""
        ...

    def ids(self, text: str, limit: int) -> list[int]:
        """The ids of a text with the special tokens of the model, at most `limit` in all."""
        ...

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]:
        """The ids of two texts, and to which each id belongs; the second has at most `limit`."""
        ...


def open_tokenizer(path: Path) -> Tokenizer:
    """Our own implementation for WordPiece, the `tokenizers` package, if installed, for other
    kinds."""
    try:
        description: object = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            f"There is no {path}.", "A model's folder needs the tokenizer.json it came with."
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read: {error}.", "Copy the tokenizer.json of the model again."
        ) from error
    if isinstance(description, dict):
        known = cast(dict[str, Any], description)
        if WordPiece.understands(known):
            return WordPiece(known)
    return HuggingFaceTokenizer(path)
