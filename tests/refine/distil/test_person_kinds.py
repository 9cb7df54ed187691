"""Of which kind a person's statement is, and which orders are done with."""

from __future__ import annotations

import pytest

from holdfast.model.knowledge import Kind
from holdfast.model.records import Role, Turn
from holdfast.model.trust import Trust
from holdfast.refine.distil.person_kinds import (
    MAX_SENTENCES,
    is_step_order,
    kind_of_person_statement,
)
from holdfast.refine.distil.statements import Statement


def statement(text: str, total: int = 1) -> Statement:
    return Statement(text, "", "", False, True, 0, 1, total)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never change the ledger of a closed year.", Kind.RULE),
        ("The icons must be PNGs.", Kind.RULE),
        ("Whenever you touch the parser, run its fuzzer.", Kind.RULE),
        ("End each commit with the number of its ticket.", Kind.RULE),
        ("Do not reset the ledger.", Kind.RULE),
        ("Do not commit unless I ask for it.", Kind.RULE),
        ("I prefer small commits.", Kind.PREFERENCE),
        ("I'd like one table for all tenants.", Kind.PREFERENCE),
        ("Keep it local, don't want my notes to be public.", Kind.PREFERENCE),
        ("The status view should open the panel.", Kind.DECISION),
        ("Use the HTTP address instead of the SSH one.", Kind.DECISION),
        ("I don't want it everywhere because each tenant is different.", Kind.DECISION),
        ("Do not add a flag since there is only one tenant.", Kind.DECISION),
        ("Use the small model in all helpers.", Kind.DECISION),
        ("Have each helper write a page about its part.", Kind.DECISION),
        ("Use of the small model doubled last week.", Kind.FACT),
        ("In `parser`: keep the comments of the input.", Kind.DECISION),
        ("The root cause is the clock of the runner.", Kind.LESSON),
        ("The second tenant was made by accident.", Kind.FACT),
        ("The indicator never loads after a refresh.", Kind.FACT),
        ("We keep one ledger because each tenant has its own file.", Kind.DECISION),
        ("We keep the ledger in memory so that a report takes a second.", Kind.DECISION),
        ("The report takes three seconds because every row is read twice.", Kind.FACT),
        ("The auditor called, since the weekend every row comes twice.", Kind.FACT),
        ("We see every row twice since the weekend.", Kind.FACT),
    ],
)
def test_words_of_a_person_show_the_kind(text: str, kind: Kind) -> None:
    assert kind_of_person_statement(statement(text)) is kind


@pytest.mark.parametrize(
    "text",
    [
        "Don't push it yet, only commit.",
        "I want you to write tests for the checkout.",
        "Please write tests for the checkout.",
        "I need a summary for this PR.",
    ],
)
def test_an_order_for_the_moment_is_neither_rule_nor_preference(text: str) -> None:
    assert kind_of_person_statement(statement(text)) in (Kind.DECISION, Kind.FACT)


def test_a_sentence_of_a_specification_is_no_rule() -> None:
    text = "Each task must be marked with a box."
    assert kind_of_person_statement(statement(text, MAX_SENTENCES)) is Kind.RULE
    assert kind_of_person_statement(statement(text, MAX_SENTENCES + 1)) is not Kind.RULE


@pytest.mark.parametrize(
    ("text", "is_step"),
    [
        ("Approve the change of the importer and merge it.", True),
        ("Compare the ledger of the first tenant with the printed one.", True),
        ("ok please review the plan again and report what has changed", True),
        ("Write unit tests for the checkout.", True),
        ("Remove the importer again.", False),
        ("Compare both writers, because the new one should need less memory.", False),
        ("Compare both writers, because the new one needs more memory.", False),
        ("Never merge it without a review.", False),
        ("Check the logs. The runner has a wrong clock.", False),
        ("I prefer to review it before you merge.", False),
    ],
)
def test_the_next_step_of_the_work_is_an_order_that_is_done_with(text: str, is_step: bool) -> None:
    assert is_step_order(statement(text)) is is_step


def said(seq: int, text: str, role: Role = Role.USER) -> Turn:
    trust = Trust.USER if role is Role.USER else Trust.ASSISTANT
    return Turn("b", f"t{seq}", "s", seq, "", role, trust, text)


@pytest.mark.parametrize(
    "text",
    [
        "Continue working on task 2. All thats left is the ledger.",
        "I think you made these changes in the main workspace",
        "You forgot the ledger of the second tenant.",
        "i want to only change the part right after the title",
        "I don't think you understand what i'm asking. Make a plan for the ledger.",
        "I think you should have read the ledger first",
        "You missed one: fix the ledger of the second tenant",
        "I want to remove it from the ledger",
        "I would like to check the ledger before you change it.",
    ],
)
def test_steps_complaints_and_wishes_for_the_edit_at_hand_are_done_with(text: str) -> None:
    assert is_step_order(statement(text))
    assert kind_of_person_statement(statement(text)) is Kind.FACT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I think we use one ledger a tenant.", Kind.DECISION),
        ("You forgot the tests again, always write them first.", Kind.RULE),
        ("The manager of the ledger is created but never used.", Kind.FACT),
        ("Never embed the ledger in a page.", Kind.RULE),
        ("We look at the start, but don't look at the ledger again.", Kind.FACT),
        ("Keep the ledger, but don't rename its rows.", Kind.RULE),
        ("Read the host from the settings in case we move it in the future.", Kind.FACT),
        ("In the future, read the host from the settings.", Kind.RULE),
        ("We look once, but don't look again", Kind.FACT),
        ("You can merge, but don't push to main", Kind.RULE),
        ("It is fine, and do not commit secrets", Kind.RULE),
    ],
)
def test_what_is_so_or_may_come_is_no_rule(text: str, kind: Kind) -> None:
    assert kind_of_person_statement(statement(text)) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I think you should use Postgres for the queue", Kind.DECISION),
        ("You seem to ignore it: use pnpm for everything", Kind.DECISION),
        ("I want to remove the legacy API that nobody uses", Kind.PREFERENCE),
        ("I would like to replace the queue with Postgres and keep it simple", Kind.PREFERENCE),
    ],
)
def test_what_shapes_the_work_is_neither_complaint_nor_step(text: str, kind: Kind) -> None:
    assert not is_step_order(statement(text))
    assert kind_of_person_statement(statement(text)) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Файл настроек нельзя хранить в репозитории.", Kind.RULE),
        ("Die Zeilen dürfen nicht doppelt vorkommen.", Kind.RULE),
        ("Les lignes doivent rester triées.", Kind.RULE),
        ("Los nombres deben estar en minúsculas.", Kind.RULE),
        ("Я предпочитаю короткие имена.", Kind.PREFERENCE),
        ("Ich mag kurze Namen.", Kind.PREFERENCE),
        ("Je préfère les noms courts.", Kind.PREFERENCE),
        ("Prefiero nombres cortos.", Kind.PREFERENCE),
        ("Берём очередь вместо таблицы.", Kind.DECISION),
        ("Wir nehmen eine Warteschlange statt der Tabelle.", Kind.DECISION),
        ("Une file au lieu de la table.", Kind.DECISION),
        ("Una cola en vez de la tabla.", Kind.DECISION),
        ("Проблема в том, что строки приходят дважды.", Kind.LESSON),
    ],
)
def test_kinds_are_known_in_other_languages(text: str, kind: Kind) -> None:
    assert kind_of_person_statement(statement(text)) is kind


@pytest.mark.parametrize(
    "text",
    [
        "Il faut corriger le bug",
        "Es muss ein Fehler sein",
        "Hay que arreglar el bug",
        "Должно быть ошибка в парсере",
    ],
)
def test_a_step_or_a_guess_in_another_language_is_no_rule(text: str) -> None:
    assert kind_of_person_statement(statement(text)) is not Kind.RULE
