from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from holdfast.inference import packaged
from holdfast.inference.wordpiece import WordPiece

DESCRIPTION: dict[str, Any] = json.loads(packaged.TOKENIZER.read_text("utf-8"))
OURS = WordPiece(DESCRIPTION)
THEIRS: Any = Tokenizer.from_file(str(packaged.TOKENIZER))
THEIRS.no_padding()
THEIRS.no_truncation()

SAMPLES = [
    "",
    " \t\r\n",
    "Hello, World!",
    "def f(x: int) -> dict[str, Any]:\n\treturn {**x, 'a': x[0]} # $HOME `ls` ~/.ssh\n",
    "naïve café Ångström İstanbul straße ΣΊΣΥΦΟΣ",
    "e\u0301 decomposed, o\u0308\u0301 twice",
    "我们把会话存储在数据库中 テストが失敗 データベース 한국어 텍스트",
    "हमने सत्रों को लामा العربية עברית ไทย Việt Nam",
    "🎉🚀 👩‍💻 ❤️ → ✅ ½ ™ №",
    "\x00nul \x07bell \x1b[31mred\x1b[0m \x1cfile\x1dgroup \x85next \ufeffmark \ufffd",
    "zero\u200bwidth soft\u00adhyphen non\u00a0breaking \u3000ideographic",
    "the [MASK] of [SEP] and [CLS], [UNK][PAD] but not [mask]",
    "a" * 100 + " " + "b" * 101,
    "\U0001e944 \U00020000 \U0010fffd \ue000 \u0378",
    "x" * 5000 + " " + "word, " * 3000,
]


def expected(text: str) -> list[int]:
    return THEIRS.encode(text).ids


@pytest.mark.parametrize("text", SAMPLES)
def test_token_ids_equal_those_of_the_reference(text: str) -> None:
    assert OURS.ids(text, 1_000_000) == expected(text)


@pytest.mark.slow
@settings(max_examples=400)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_token_ids_of_any_text_equal_those_of_the_reference(text: str) -> None:
    assert OURS.ids(text, 1_000_000) == expected(text)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(st.sampled_from("aé\u0301İ.$中\u200b [SEP] [ SEP ] \t\n\x1c ## un ##able".split(" ")))
)
def test_token_ids_of_awkward_character_pairs_equal_those_of_the_reference(
    parts: list[str],
) -> None:
    assert OURS.ids("".join(parts), 1_000_000) == expected("".join(parts))


@pytest.mark.slow
def test_every_character_is_treated_like_in_the_reference() -> None:
    common = [*range(0x3400), *range(0x3400, 0x110000, 61)]
    codes = [code for code in common if not 0xD800 <= code < 0xE000]
    for start in range(0, len(codes), 50):
        text = " ".join(f"a{chr(code)}b" for code in codes[start : start + 50])
        assert OURS.ids(text, 1_000_000) == expected(text), hex(codes[start])


def test_a_lone_surrogate_is_dropped_like_other_ignored_characters() -> None:
    assert OURS.pieces("a\ud800b") == OURS.pieces("ab")


@pytest.mark.slow
@given(st.text(max_size=200), st.integers(2, 40))
def test_a_limit_keeps_the_first_tokens_and_both_special_tokens(text: str, limit: int) -> None:
    whole = OURS.ids(text, 1_000_000)
    assert OURS.ids(text, limit) == [*whole[:-1][: limit - 1], whole[-1]]


def test_a_limit_avoids_reading_the_rest_of_a_long_text() -> None:
    class Counted(str):
        taken = 0

        def __getitem__(self, key: Any) -> str:
            taken = super().__getitem__(key)
            Counted.taken += len(taken)
            return taken

    text = Counted("some words of a text " * 50_000)

    assert len(OURS.ids(text, 256)) == 256
    assert 0 < Counted.taken < 10_000


def test_a_limit_avoids_reading_the_rest_of_a_long_text_without_spaces() -> None:
    class Counted(dict[str, int]):
        looked_up = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counted.looked_up += 1
            return super().get(key, default)

    description: Any = json.loads(packaged.TOKENIZER.read_text("utf-8"))
    description["model"]["vocab"] = Counted(description["model"]["vocab"])
    text = "+".join(f"{number:x}" for number in range(100_000))

    assert WordPiece(description).ids(text, 256) == OURS.ids(text, 256)
    assert 0 < Counted.looked_up < 5_000


def test_a_pair_has_both_texts_and_marks_which_is_which() -> None:
    ids, types = OURS.pair("who?", "the cat sat", 320)
    both = THEIRS.encode("who?", "the cat sat")

    assert (ids, types) == (both.ids, both.type_ids)


def test_the_second_text_of_a_pair_is_truncated_to_the_limit_of_the_model() -> None:
    ids, types = OURS.pair("who?", "cat " * 1000, 320)
    assert types.count(1) == 321 and len(ids) == len(types) == 2 + 2 + 321

    ids, types = OURS.pair("dog " * 1000, "cat " * 1000, 320)
    assert len(ids) == 512 and types.count(1) == 321


def test_ids_are_the_same_when_the_word_cache_is_full() -> None:
    text = "one two three four five six one two three " * 3
    assert WordPiece(DESCRIPTION, max_cached_words=3).ids(text, 1000) == expected(text)


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("model", {"type": "BPE"}),
        ("normalizer", {"lowercase": False}),
        ("normalizer", {"strip_accents": False}),
        ("normalizer", {"type": "Lowercase"}),
        ("pre_tokenizer", {"type": "Whitespace"}),
        ("post_processor", {"type": "RobertaProcessing"}),
        ("post_processor", {"pair": DESCRIPTION["post_processor"]["single"]}),
    ],
)
def test_a_vocabulary_of_another_kind_is_not_read_as_wordpiece(
    part: str, changed: dict[str, Any]
) -> None:
    assert WordPiece.understands(DESCRIPTION)
    assert not WordPiece.understands({**DESCRIPTION, part: {**DESCRIPTION[part], **changed}})


def test_special_tokens_that_strip_whitespace_are_left_to_the_reference() -> None:
    tokens = [{**token, "lstrip": True} for token in DESCRIPTION["added_tokens"]]
    assert not WordPiece.understands({**DESCRIPTION, "added_tokens": tokens})
    assert not WordPiece.understands({})


def test_the_older_form_of_the_special_tokens_is_supported() -> None:
    older = {"type": "BertProcessing", "cls": ["[CLS]", 101], "sep": ["[SEP]", 102]}
    known = {**DESCRIPTION, "post_processor": older}
    assert WordPiece.understands(known)
    assert WordPiece(known).ids("a cat", 9) == expected("a cat")
