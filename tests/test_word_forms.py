from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.query.terms import read_terms
from holdfast.word_forms import (
    fold_marks,
    index_parts,
    is_piece,
    is_start,
    mixed_case_names,
    phrase_parts,
    search_words,
    starts_word,
    word_start,
)

SAME_WORD = (
    ("миграции", "миграция", ""),
    ("платежей", "платежи", ""),
    ("migrationen", "migration", "german"),
    ("bücher", "buch", "german"),
    ("migraciones", "migración", "spanish"),
    ("configuraciones", "configurar", "spanish"),
    ("déploiements", "déploiement", "french"),
    ("modifications", "modifier", "french"),
    ("prenotazioni", "prenotazione", "italian"),
    ("modifiche", "modifica", "italian"),
    ("migrações", "migração", "portuguese"),
    ("configurações", "configuração", "portuguese"),
    ("wdrożenia", "wdrożeń", "polish"),
    ("αλλαγές", "αλλαγή", ""),
)


@pytest.mark.parametrize(("asked", "said", "language"), SAME_WORD)
def test_the_start_of_a_word_is_that_of_its_other_forms(
    asked: str, said: str, language: str
) -> None:
    start = word_start(asked, [language] if language else [])
    assert is_start(start)
    assert starts_word(fold_marks(start[:-1]), fold_marks(said))


def test_a_start_does_not_mean_much_longer_words() -> None:
    assert starts_word("rad", "räder".replace("ä", "a"))
    assert not starts_word("rad", "radikale")


@pytest.mark.parametrize("word", ["cache", "v2", "日本", "x1"])
def test_a_word_in_english_has_no_start(word: str) -> None:
    assert word_start(word) == ""


def test_an_english_query_does_not_load_the_stemmers() -> None:
    code = (
        "import sys; from holdfast.recall.query.terms import read_terms; "
        "read_terms('why did parseHTTPRequest drop the header'); print('Stemmer' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_names_in_mixed_case_are_cut_into_their_parts() -> None:
    assert index_parts("GradientLast() calls parseHTTPRequest") == (
        "gradient last parse http request"
    )
    assert index_parts("plain words, snake_case and kebab-case") == ""


@given(st.text(st.sampled_from("aB9_- é中"), max_size=40))
def test_names_in_mixed_case_are_those_of_one_pattern(text: str) -> None:
    names = re.findall(r"[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*", text)
    assert [name for name, _ in mixed_case_names(text)] == [
        name.lower() for name in dict.fromkeys(names)
    ]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("データベースの移行は金曜日に行った", "移行はいつ？"),
        ("数据库迁移在星期五完成了", "什么时候迁移数据库？"),
        ("데이터베이스 마이그레이션은 금요일에 했다", "마이그레이션을 언제 했나요?"),
        ("เราย้ายฐานข้อมูลเมื่อวันศุกร์", "ย้ายฐานข้อมูล"),
        ("夜間バッチ", "夜"),
        ("Redisのセッションは廃止", "redis"),
        ("ﾃﾞｰﾀの移行", "データ"),
    ],
)
def test_a_question_shares_pieces_with_the_text_that_has_its_words(said: str, asked: str) -> None:
    pieces = set(search_words(asked))
    assert pieces & {part.lower() for part in index_parts(said).split()}


def test_what_asks_is_no_term_of_a_question_in_chinese_or_japanese() -> None:
    assert read_terms("数据库什么时候迁移？").words == ("数据", "据库", "迁移")
    assert read_terms("移行はいつですか").words == ("移行",)


def test_hiragana_is_looked_for_where_there_is_nothing_else() -> None:
    assert search_words("すし") == ["すし"]


def test_terms_of_a_mixed_query_are_words_pieces_and_starts() -> None:
    terms = read_terms("Redisのセッション")
    assert terms.words[0] == "redis" and all(map(is_piece, terms.words[1:]))
    assert read_terms("Почему упала миграция?").words[-1] == "миграц…"


@given(st.text())
def test_every_text_can_be_cut(text: str) -> None:
    assert isinstance(index_parts(text), str)
    assert isinstance(phrase_parts(text), str)
    assert all(search_words(text))


@given(st.text(alphabet="数据库迁移完成的了", min_size=2, max_size=12))
def test_a_phrase_of_a_script_without_spaces_stands_in_the_parts_of_a_longer_text(
    phrase: str,
) -> None:
    assert phrase_parts(phrase) in index_parts(f"我們{phrase}之後")
