from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.sources.question_forms import (
    is_foreign_question,
    is_foreign_request,
    says_unknown_in_foreign_words,
    wonders,
)

LANGUAGES = sorted((Path(__file__).parents[2] / "bench" / "data" / "languages").glob("*.jsonl"))
# Of the questions in each file, those that are known without their mark. The rest begin like a
# statement ("Se puede …") or go on after a comma.
MIN_KNOWN = 0.8


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_questions_without_a_mark_are_told_from_statements(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    asked = [row[key] for row in rows for key in ("sharing", "paraphrased") if key in row]
    asked += [row["unanswerable"] for row in rows if "unanswerable" in row]
    known = [q for q in asked if is_foreign_question(q.lstrip("¿").rstrip("?？ "))]
    assert len(known) >= MIN_KNOWN * len(asked)
    for row in rows:
        stated = row.get("statement", "").rstrip(".。")
        assert not is_foreign_question(stated) and not is_foreign_request(stated), stated
        assert not says_unknown_in_foreign_words(stated), stated


REQUESTS = {
    "de": "Finde bitte heraus, warum der Import doppelt läuft.",
    "de, verb at the end": "Bitte den doppelten Import prüfen",
    "fr": "Trouve pourquoi l'import tourne deux fois, s'il te plaît.",
    "es": "Averigua por qué la importación se ejecuta dos veces, por favor.",
    "it": "Scopri perché l'importazione gira due volte, per favore.",
    "pt": "Descubra por que a importação roda duas vezes, por favor.",
    "nl": "Zoek uit waarom de import twee keer draait.",
    "ru": "Выясни, почему импорт идёт дважды.",
    "pl": "Sprawdź, dlaczego import działa dwa razy.",
    "ja": "インポートが二回走る理由を調べてください。",
    "zh": "请查一下为什么导入运行了两次。",
    "ko": "가져오기가 두 번 실행되는 이유를 찾아 주세요.",
}


@pytest.mark.parametrize("language", REQUESTS)
def test_a_request_in_another_language_is_one(language: str) -> None:
    assert is_foreign_request(REQUESTS[language])


@pytest.mark.parametrize(
    "rule",
    [
        "Prüfe immer die Rückgabewerte.",
        "Vérifie toujours les types avant un commit.",
        "Escribe siempre las migraciones a mano.",
        "Scrivi sempre i test prima.",
        "Nunca apague os registros de auditoria.",
        "Schrijf voortaan alle logs in het Engels.",
        "Всегда проверяй миграции на копии.",
        "必ずテストを書いてください。",
        "请务必以后先写测试。",
        "테스트를 항상 먼저 작성해 주세요.",
        "Wie besprochen verwenden wir SQLite",
        "Wer ausliefert, sagt im Kanal Bescheid",
    ],
)
def test_what_shall_hold_is_neither_a_request_nor_a_question(rule: str) -> None:
    assert not is_foreign_request(rule) and not is_foreign_question(rule)


@pytest.mark.parametrize(
    "text",
    [
        "The tests run against three databases, which takes a minute.",
        "Was the cache warmed before the run",
        "Come back to this once the import works",
        "Test the importer",
        "Add the columns in die.py",
    ],
)
def test_english_is_left_to_the_patterns_of_english(text: str) -> None:
    assert not is_foreign_question(text) and not is_foreign_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dazu habe ich keinen Eintrag.",
        "Je n'ai aucune trace de cette décision.",
        "No tengo ningún registro de eso.",
        "Non ho trovato nulla a riguardo.",
        "Não encontrei nenhum registro sobre isso.",
        "Ik heb daar geen notities over.",
        "Об этом нет записей, нет информации.",
        "Nie znalazłem żadnych informacji.",
        "その件の記録は見つかりません。",
        "没有找到相关记录。",
        "그에 대한 기록이 없습니다.",
    ],
)
def test_that_nothing_is_known_is_recognised(text: str) -> None:
    assert says_unknown_in_foreign_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "I wonder why we dropped Kafka.",
        "I'd like to know why we dropped Kafka.",
        "Do you know why we dropped Kafka, or where it is written down.",
        "Not sure why we dropped Kafka",
        "I'm trying to understand how the importer retries.",
    ],
)
def test_a_question_inside_a_sentence_is_one(text: str) -> None:
    assert wonders(text)


@pytest.mark.parametrize(
    "text",
    [
        "I don't know why it worked before, but the fix was an index.",
        "We need to know the answer within a day.",
        "I remember when you started working on these things.",
        "I'm not sure how to do it, and I don't want to lose any data.",
        "Not sure about tabs, so we use spaces.",
        "I know why: the retry wrapper ran load() twice.",
    ],
)
def test_what_says_more_than_its_question_is_none(text: str) -> None:
    assert not wonders(text)
