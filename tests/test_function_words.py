from __future__ import annotations

import pytest

from holdfast.function_words import language_of, without_asking
from holdfast.recall.query.terms import names_something, proper_names, read_terms

# A question in each language, its question word, and what it asks about.
QUESTIONS = {
    "de": ("Warum wurde der Cache abgeschaltet?", "warum", "cache"),
    "fr": ("Pourquoi a-t-on désactivé le cache ?", "pourquoi", "cache"),
    "es": ("¿Por qué se desactivó la caché?", "qué", "caché"),
    "it": ("Perché abbiamo disattivato la cache?", "perché", "cache"),
    "pt": ("Por que não usamos mais o cache?", "que", "cache"),
    "nl": ("Waarom is de cache uitgezet?", "waarom", "cache"),
    "ru": ("Почему мы отключили кэш?", "почему", "кэш"),
    "pl": ("Dlaczego wyłączyliśmy pamięć podręczną?", "dlaczego", "podręczn"),
    "ja": ("なぜキャッシュを廃止したのですか？", "なぜ", "廃止"),
    "zh": ("为什么关掉了缓存？", "为什么", "缓存"),
    "ko": ("캐시를 왜 껐어?", "왜", "캐시"),
}


@pytest.mark.parametrize("code", QUESTIONS)
def test_the_language_of_a_question_is_told_by_its_words(code: str) -> None:
    assert language_of(QUESTIONS[code][0]).codes == (code,)


@pytest.mark.parametrize("code", QUESTIONS)
def test_what_asks_is_not_looked_for_and_what_is_asked_about_is(code: str) -> None:
    question, asking, about = QUESTIONS[code]
    terms = read_terms(question).words
    assert terms
    assert not any(term.strip("…") == asking for term in terms)
    assert any(about.startswith(term.rstrip("…")) for term in terms)


@pytest.mark.parametrize(
    "question",
    [
        "Why did we drop Redis?",
        "redis session timeout",
        "How do we die gracefully in a container?",
        "los angeles deployment",
        "comment per user limit",
        "What does Müller think of the invoice?",
        'What does the error "接続できません" mean in the log?',
        "",
        "src/app/_layout.tsx",
    ],
)
def test_a_question_without_words_of_another_language_is_english(question: str) -> None:
    language = language_of(question)
    assert language.is_english
    assert not language.function_words
    assert without_asking(question, language.codes) == question


@pytest.mark.parametrize("question", ["Ποιος άλλαξε τη μνήμη;", "من غير الذاكرة؟", "เปลี่ยนแคชทำไม"])
def test_a_script_without_a_list_is_not_taken_for_english(question: str) -> None:
    assert not language_of(question).is_english


def test_words_of_two_languages_at_once_are_told_by_the_most() -> None:
    assert language_of("Warum nutzen wir the new API?").codes == ("de",)


@pytest.mark.parametrize(
    "question",
    ["why why why", "Warum?", "Qu'est-ce que c'est ?", "Почему?", "なぜ？", "为什么？", "왜?"],
)
def test_a_question_that_only_asks_names_nothing(question: str) -> None:
    assert not names_something(question)


def test_a_noun_of_german_is_not_a_name_because_it_has_a_capital() -> None:
    assert proper_names("Wann läuft die Schnittstelle zu SAP?") == ["sap"]
    assert proper_names("why did we drop Kafka for the queue") == ["kafka"]


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("今日決済について何を決めた？", ("決済",)),
        ("昨天缓存为什么失效？", ("缓存", "失效")),
        ("지난주에 캐시는 왜?", ("캐시",)),
        ("在庫数はいくつ？", ("在庫", "庫数")),
    ],
)
def test_words_for_times_are_not_glued_to_what_is_asked_about(
    question: str, terms: tuple[str, ...]
) -> None:
    assert read_terms(question).words == terms
