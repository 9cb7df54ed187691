"""Kinds of what agents say in other languages than English, and what says nothing that lasts."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.features import Candidate
from holdfast.refine.distil.kinds import kind_of
from holdfast.refine.distil.lasting import may_last
from holdfast.refine.distil.statements import find_statements
from holdfast.refine.distil.utterances import Place, Utterance


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
    assert may_last(candidate, utterances)


@pytest.mark.parametrize(
    "text",
    [
        "Теперь я проанализирую таблицу арендаторов в импорте.",
        "Добавлю вывод ссылки на таблицу арендаторов.",
        "Ich werde die Tabelle der Mandanten im Import prüfen.",
        "Je vais vérifier la table des clients dans le script.",
        "Voy a revisar la tabla de clientes en el script.",
        "Проблема может быть в таблице арендаторов импорта.",
    ],
)
def test_what_an_agent_is_about_to_do_or_guesses_does_not_last(text: str) -> None:
    assert not may_last(*said(text))
