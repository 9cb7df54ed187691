"""WordPiece as uncased BERT does it, from a `tokenizer.json`: text to token ids.

It gives the same ids as the `tokenizers` package, which would add many dependencies; a test
compares the two. `WordPiece.understands` says whether a file is of this kind.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from holdfast.inference.bert_characters import CHINESE, PUNCTUATION, REMOVED

MAX_INPUT_TOKENS = 512
_SUPPORTED_TYPES = ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
_UNCASED = {
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": True,
    "lowercase": True,
}
_UNSUPPORTED_FLAGS = ("normalized", "single_word", "lstrip", "rstrip")
# Words whose pieces are cached: most texts of a bank repeat a few thousand words.
MAX_CACHED_WORDS = 50_000
# Text is normalised in segments, so that the first 256 tokens of a megabyte cost a few kB.
_SEGMENT_CHARACTERS = 4_000
# Not `\s`: that contains 0x1c to 0x1f, which the normaliser removes without splitting the word.
_GAP = re.compile(r"[ \t\n\r]")
# In most texts few characters need to be normalised one by one.
_NON_ASCII = re.compile(r"[^\t\n\r -~]")
_WORD = re.compile(r"[^\x00-/:-@\[-`{-\x7f]+|[!-/:-@\[-`{-~]")
_NO_PUNCTUATION = {
    code: None for code in range(128) if chr(code).isalnum() or chr(code) in " \t\n\r"
}


class _CharacterCache(dict[str, str]):
    """How each character is normalised, computed when it first occurs.

    Normalising character by character is exact: marks, the only thing that canonical ordering
    moves, are removed.
    """

    def __missing__(self, char: str) -> str:
        folded = self[char] = _normalize_character(char)
        return folded


def _normalize_character(char: str) -> str:
    if char == "\ufffd" or ord(char) in REMOVED:
        return ""
    if char.isspace():
        return " "
    parts = [part for part in unicodedata.normalize("NFD", char) if ord(part) not in REMOVED]
    folded = "".join(_separate_punctuation(part.lower()) for part in parts)
    return f" {folded} " if ord(char) in CHINESE else folded


def _separate_punctuation(part: str) -> str:
    return f" {part} " if len(part) == 1 and ord(part) in PUNCTUATION else part


class _WordCache(dict[str, list[int]]):
    """The pieces of each word, computed when it first occurs."""

    def __init__(self, cut: Callable[[str], list[int]], max_words: int) -> None:
        self._split_word = cut
        self._max_words = max_words

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= self._max_words:
            self.clear()
        pieces = self[word] = self._split_word(word)
        return pieces


class WordPiece:
    """A vocabulary, and how a text is split into its pieces."""

    def __init__(
        self, description: dict[str, Any], max_cached_words: int = MAX_CACHED_WORDS
    ) -> None:
        model = description["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._prefix: str = model["continuing_subword_prefix"]
        self._max_word_characters: int = model["max_input_chars_per_word"]
        self._characters = _CharacterCache()
        self._special = {token["content"]: token["id"] for token in description["added_tokens"]}
        self._special_pattern = _special_pattern(description["added_tokens"])
        self._start, self._end = _special_ids(description["post_processor"])
        self._words = _WordCache(self._split_word, max_cached_words)

    @staticmethod
    def understands(description: dict[str, Any]) -> bool:
        """Whether this is WordPiece as BERT does it; anything else would give wrong ids."""
        try:
            kinds = [description[part]["type"] for part in ("model", "normalizer", "pre_tokenizer")]
            folds = {key: description["normalizer"][key] for key in _UNCASED}
            _special_ids(description["post_processor"])
            odd = any(
                token[flag] for token in description["added_tokens"] for flag in _UNSUPPORTED_FLAGS
            )
        except (KeyError, TypeError, ValueError, IndexError):
            return False
        if folds["strip_accents"] is None:
            folds["strip_accents"] = folds["lowercase"]
        return kinds == _SUPPORTED_TYPES and folds == _UNCASED and not odd

    def pieces(self, text: str, limit: int | None = None) -> list[int]:
        found: list[int] = []
        for part in self._parts(text):
            if isinstance(part, int):
                found.append(part)
            else:
                ids = chain.from_iterable(map(self._words.__getitem__, self._split(part)))
                found.extend(ids if limit is None else islice(ids, limit - len(found)))
            if limit is not None and len(found) >= limit:
                return found[:limit]
        return found

    def ids(self, text: str, limit: int) -> list[int]:
        return [self._start, *self.pieces(text, max(limit - 2, 0)), self._end]

    def pair(self, first: str, second: str, limit: int) -> tuple[list[int], list[int]]:
        """Of the second at most `limit` pieces are kept, and of the first what then still fits."""
        right = self.pieces(second, min(limit, MAX_INPUT_TOKENS - 3))
        left = self.pieces(first, MAX_INPUT_TOKENS - 3 - len(right))
        ids = [self._start, *left, self._end, *right, self._end]
        return ids, [0] * (len(left) + 2) + [1] * (len(right) + 1)

    def _parts(self, text: str) -> Iterator[int | str]:
        """Segments of text to split into words, and the ids of special tokens between them."""
        start = 0
        for match in self._special_pattern.finditer(text):
            yield from _segments(text, start, match.start())
            yield self._special[match.group(1)]
            start = match.end()
        yield from _segments(text, start, len(text))

    def _split(self, text: str) -> list[str]:
        """The words of a text as the vocabulary spells them."""
        text = _NON_ASCII.sub(self._normalized, text).lower()
        if not text.isascii():
            return _WORD.findall(text)
        # Takes two thirds of the time of the pattern, which finds the same.
        for mark in set(text.translate(_NO_PUNCTUATION)):
            text = text.replace(mark, f" {mark} ")
        return text.split()

    def _normalized(self, odd: re.Match[str]) -> str:
        return self._characters[odd.group()]

    def _split_word(self, word: str) -> list[int]:
        """The longest piece that the vocabulary has, then the longest of the rest, and so on."""
        if len(word) > self._max_word_characters:
            return [self._unknown]
        ids: list[int] = []
        known, prefix = self._vocabulary.get, self._prefix
        rest, least = word, 0
        while len(rest) > least:
            for end in range(len(rest), least, -1):
                found = known(rest[:end])
                if found is not None:
                    ids.append(found)
                    rest = prefix + rest[end:]
                    least = len(prefix)
                    break
            else:
                return [self._unknown]
        return ids


def _segments(text: str, start: int, end: int) -> Iterator[str]:
    while end - start > _SEGMENT_CHARACTERS:
        gap = _GAP.search(text, start + _SEGMENT_CHARACTERS, end)
        if gap is None:
            break
        yield text[start : gap.end()]
        start = gap.end()
    if start < end:
        yield text[start:end]


def _special_pattern(tokens: list[dict[str, Any]]) -> re.Pattern[str]:
    """A pattern that finds special tokens that a text spells out."""
    if not tokens:
        return re.compile(r"(?!)()")
    left = "|".join(re.escape(token["content"]) for token in tokens)
    return re.compile(f"({left})")


def _special_ids(post_processor: dict[str, Any]) -> tuple[int, int]:
    """The special tokens before and after a text; ValueError unless two texts are joined as
    special, first, special, second, special."""
    if post_processor["type"] == "BertProcessing":
        return post_processor["cls"][1], post_processor["sep"][1]
    if post_processor["type"] != "TemplateProcessing":
        raise ValueError(post_processor["type"])
    shape = [next(iter(part)) for part in post_processor["pair"]]
    types = [
        part[kind]["type_id"] for part, kind in zip(post_processor["pair"], shape, strict=True)
    ]
    marks = [part["SpecialToken"]["id"] for part in post_processor["pair"][::2]]
    single = [next(iter(part)) for part in post_processor["single"]]
    mark, text = "SpecialToken", "Sequence"
    if (shape, single) != ([mark, text, mark, text, mark], [mark, text, mark]):
        raise ValueError(shape)
    if types != [0, 0, 0, 1, 1] or marks[1] != marks[2]:
        raise ValueError(types)
    ids = [post_processor["special_tokens"][name]["ids"][0] for name in marks]
    return ids[0], ids[1]
