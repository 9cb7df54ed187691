"""Kinds of what is said in other languages than English."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.kinds import kind_of
from holdfast.refine.distil.statements import find_statements
from holdfast.refine.distil.utterances import Place, Utterance
from holdfast.sources.foreign_cues import binds_in_foreign_words


def said(text: str) -> tuple[Candidate, list[Utterance]]:
    turn = Turn("bank", "t", "s", 0, "", Role.ASSISTANT, Trust.ASSISTANT, text)
    utterance = Utterance(turn, text, Place.CLOSING, False)
    return Candidate(0, find_statements(text)[0]), [utterance]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Проблема в том, что импорт читает таблицу арендаторов дважды.", Kind.LESSON),
        ("Das Problem war, dass der Import die Tabelle der Mandanten doppelt liest.", Kind.LESSON),
        ("Le problème venait de la table des clients, lue deux fois.", Kind.LESSON),
        ("El problema era que la tabla de clientes se lee dos veces.", Kind.LESSON),
        ("Добавил индекс для таблицы арендаторов в импорте.", Kind.OUTCOME),
        ("Ich habe den Index der Tabelle der Mandanten ersetzt.", Kind.OUTCOME),
        ("J'ai ajouté un index sur la table des clients.", Kind.OUTCOME),
        ("He añadido un índice a la tabla de clientes.", Kind.OUTCOME),
        ("Импорт читает таблицу арендаторов при запуске сервиса.", Kind.FACT),
    ],
)
def test_an_agent_names_causes_and_results_in_other_languages(text: str, kind: Kind) -> None:
    candidate, utterances = said(text)
    assert kind_of(candidate.statement, utterances[0], Kind.FACT) is kind


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("Всегда используй pnpm", True),
        ("Никогда не коммить в main", True),
        ("Bitte immer pnpm nutzen", True),
        ("Nutze nie npm", True),
        ("Niemals direkt pushen", True),
        ("Toujours utiliser pnpm", True),
        ("Ne pousse jamais sur main", True),
        ("Usa siempre pnpm", True),
        ("Nunca uses npm", True),
        ("Il faut toujours lancer les tests", True),
        ("Der Name muss immer klein sein", True),
        ("Il ne faut pas pousser sur main", True),
        ("Wir müssen immer noch den Fehler beheben", False),
        ("Der Test schlägt immer fehl", False),
        ("Schlägt immer noch fehl", False),
        ("Le test échoue toujours", False),
        ("Toujours pas de résultat", False),
        ("Siempre falla la prueba", False),
        ("Sale siempre el mismo error", False),
        ("Тест всегда падает", False),
        ("Импорт никогда не работал", False),
        ("Wir müssen den Fehler beheben", False),
        ("Deben ser errores del parser", False),
    ],
)
def test_what_is_forbidden_or_always_to_be_binds_and_what_happens_does_not(
    text: str, binds: bool
) -> None:
    assert binds_in_foreign_words(text) is binds
