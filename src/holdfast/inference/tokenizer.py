"""The interface to tokenizers, and the implementation for a file: `wordpiece`, or a package for
other kinds."""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from holdfast.errors import InputError
from holdfast.inference import packaged
from holdfast.inference.wordpiece import MAX_INPUT_TOKENS, WordPiece


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


@cache
def packaged_tokenizer() -> Tokenizer:
    """That of the models that come with Holdfast, read once in a process: its 30,000 words take a
    twentieth of a second."""
    return open_tokenizer(packaged.TOKENIZER)


class HuggingFaceTokenizer:
    """Any `tokenizer.json`, read by the `tokenizers` package, if that is installed."""

    def __init__(self, path: Path) -> None:
        try:
            package = importlib.import_module("tokenizers")
        except ImportError as error:
            raise InputError(
                f"{path} is not a WordPiece vocabulary as uncased BERT models have it.",
                "Run `pip install tokenizers`, which reads every kind.",
            ) from error
        try:
            self._tokenizer: Any = package.Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises nothing more specific
            raise InputError(
                f"{path} cannot be read: {error}.", "Copy the tokenizer.json of the model again."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def pieces(self, text: str, limit: int | None = None) -> list[int]:
        ids: list[int] = self._tokenizer.encode(
            _without_surrogates(text), add_special_tokens=False
        ).ids
        return ids if limit is None else ids[:limit]

    def ids(self, text: str, limit: int) -> list[int]:
        self._tokenizer.enable_truncation(limit)
        try:
            return self._tokenizer.encode(_without_surrogates(text)).ids
        finally:
            self._tokenizer.no_truncation()

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]:
        left = len(self.pieces(first)) + self._tokenizer.num_special_tokens_to_add(True)
        whole = min(left + limit, MAX_INPUT_TOKENS)
        strategy = "only_second" if left < whole else "longest_first"
        self._tokenizer.enable_truncation(whole, strategy=strategy)
        try:
            both = self._tokenizer.encode(_without_surrogates(first), _without_surrogates(second))
        finally:
            self._tokenizer.no_truncation()
        return both.ids, both.type_ids


def _without_surrogates(text: str) -> str:
    """The text without lone surrogates, which the package cannot process."""
    return text.encode("utf-8", "replace").decode("utf-8")
