from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from holdfast.errors import InputError
from holdfast.inference import packaged
from holdfast.inference.tokenizer import HuggingFaceTokenizer, open_tokenizer
from holdfast.inference.wordpiece import WordPiece


def cased(folder: Path) -> Path:
    """The shipped vocabulary, but told to keep capitals: not ours to read."""
    description: dict[str, Any] = json.loads(packaged.TOKENIZER.read_text("utf-8"))
    description["normalizer"]["lowercase"] = False
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(description))
    return path


def test_the_packaged_vocabulary_is_read_by_our_own_tokenizer() -> None:
    assert isinstance(open_tokenizer(packaged.TOKENIZER), WordPiece)


def test_another_vocabulary_is_read_by_the_tokenizers_package_if_installed(tmp_path: Path) -> None:
    opened = open_tokenizer(cased(tmp_path))

    assert isinstance(opened, HuggingFaceTokenizer)
    reference: Any = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    reference.no_padding()
    reference.no_truncation()
    assert opened.ids("The Cat sat", 100) == reference.encode("The Cat sat").ids
    assert opened.ids("The Cat sat", 4)[-1] == 102 and len(opened.ids("The Cat sat", 4)) == 4
    assert opened.pieces("a cat\ud800", 1) == opened.pieces("a")


def test_both_tokenizers_truncate_pairs_alike() -> None:
    ours, theirs = WordPiece(json.loads(packaged.TOKENIZER.read_text("utf-8"))), None
    theirs = HuggingFaceTokenizer(packaged.TOKENIZER)

    for first, second in (("who?", "a cat"), ("who?", "cat " * 900), ("", "")):
        assert ours.pair(first, second, 320) == theirs.pair(first, second, 320)
    assert len(theirs.pair("dog " * 900, "cat " * 900, 320)[0]) == 512


def test_without_the_package_another_vocabulary_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(InputError) as caught:
        open_tokenizer(cased(tmp_path))

    assert "pip install tokenizers" in caught.value.remedy


@pytest.mark.parametrize("content", [None, b"{", b"\xff\xfe", b"[]", b'{"model": {}}'])
def test_an_unreadable_file_is_an_error_with_a_remedy(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InputError) as caught:
        open_tokenizer(path)

    assert str(path) in caught.value.message and caught.value.remedy
