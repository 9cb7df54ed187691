"""What was said in any language and script is found by a question that shares its words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.app.memory import Holdfast
from holdfast.settings import NO_MODEL, Settings
from tests.support.empty_memory import with_empty_memory

SAID = (
    ("データベースの移行は金曜日に行った", ("移行はいつ行いましたか", "データベース")),
    ("데이터베이스 마이그레이션은 금요일에 했다", ("마이그레이션을 언제 했나요?", "데이터베이스")),
    ("数据库迁移在星期五完成了", ("什么时候迁移数据库？", "迁移")),
    ("เราย้ายฐานข้อมูลเมื่อวันศุกร์", ("ย้ายฐานข้อมูล",)),
    ("Миграция базы данных прошла в пятницу", ("миграции", "Когда была миграция базы?")),
    ("Die Migration der Tabellen lief am Freitag", ("Wann liefen die Migrationen?", "Migrationen")),
    ("La migración de las tablas terminó ayer", ("migraciones", "¿Cuándo fueron las migraciones?")),
    ("La restauration des sauvegardes a échoué", ("Quand les restaurations échouent ?",)),
    ("La prenotazione della visita scade domani", ("prenotazioni", "Quando scadono?")),
    ("A configuração dos alertas mudou", ("configurações", "Quem mudou as configurações?")),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holdfast]:
    folder = tmp_path_factory.mktemp("languages")
    settings = Settings(home=folder / "home", claude_dir=folder, embed_model=NO_MODEL)
    with Holdfast(with_empty_memory(settings)) as opened:
        for text, _ in SAID:
            opened.remember(text, "spoken")
        yield opened


@pytest.mark.parametrize(
    ("said", "asked"), [(said, asked) for said, questions in SAID for asked in questions]
)
def test_a_statement_is_found_by_a_question_that_shares_its_words(
    memory: Holdfast, said: str, asked: str
) -> None:
    found = memory.recall(asked, "spoken")
    assert [hit.text for hit in found.hits[:1]] == [said]


@pytest.mark.parametrize("asked", ["納品書はどこ", "配送在哪里", "배송은 언제", "Где накладная?"])
def test_a_question_about_something_else_is_not_answered(memory: Holdfast, asked: str) -> None:
    assert memory.recall(asked, "spoken").abstained
