from __future__ import annotations

import pytest

from holdfast.model.query import LAYER_BY_KIND, Hit
from holdfast.model.trust import Trust
from holdfast.recall.core.statements import (
    is_question,
    is_request,
    stated_runs,
    statements,
)


def hit(text: str, kind: str = "turn", trust: Trust = Trust.ASSISTANT) -> Hit:
    return Hit(
        f"holdfast://{kind}/1", kind, LAYER_BY_KIND[kind], 1.0, text, "", "", "b", trust=trust
    )


@pytest.mark.parametrize(
    "text",
    [
        "Why did we drop Kafka?",
        "why did we drop kafka",
        "how long do we wait for late events",
        "which tool are packages installed with",
        "ok, can you tell me where the tokens are",
        "is the cache still in redis",
        "does pip install the extra parts or is that ours to do",
        "なぜKafkaをやめたのですか？",
        "pourquoi on a abandonné Kafka",
        "I wonder why we dropped Kafka.",
        "Kafka: why dropped",
    ],
)
def test_a_question_of_a_person_states_nothing(text: str) -> None:
    assert is_question(text, by_person=True)
    assert statements(hit(text, trust=Trust.USER)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Fix the login bug.",
        "please write tests for checkout",
        "Can you add a dark mode",
        "now run the tests and commit",
        "Look at parseHTTPRequest, it drops the last header.",
        "reason for dropping Kafka",
        "Migrate the store to Postgres",
        "Finde heraus, warum wir Kafka abgeschafft haben.",
    ],
)
def test_a_request_of_a_person_states_nothing(text: str) -> None:
    assert is_request(text)
    assert statements(hit(text, trust=Trust.USER)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Packages are installed with yarn.",
        "When the clocks went back, every alert came twice.",
        "use sqlc instead of an ORM",
        "Never retry a 4xx.",
        "let's go with magic links",
        "Always run the tests before a push.",
        "What matters is speed.",
        "we dropped RabbitMQ because nobody could operate it",
        "keep 14 days",
    ],
)
def test_what_a_person_says_is_so_or_shall_be_so_is_a_statement(text: str) -> None:
    assert statements(hit(text, trust=Trust.USER)) == [text]


def test_the_reply_of_an_exchange_states_and_its_question_does_not() -> None:
    text = "Why do rows double?\n\nThe retry wrapper calls load() again."
    assert statements(hit(text, "exchange")) == ["The retry wrapper calls load() again."]
    assert statements(hit("Why do rows double?", "exchange")) == []
    said = "Rows are keyed by harbour\n\nUnderstood."
    assert statements(hit(said, "exchange")) == ["Rows are keyed by harbour"]


def test_a_digest_states_what_was_learned_and_not_what_was_asked() -> None:
    asked = "Request: Why did we drop Kafka?\n\nInvestigated: Why did we drop Kafka?"
    assert statements(hit(asked, "digest")) == []
    learned = "Learned: Kafka was dropped because nobody could operate it."
    assert statements(hit(f"{asked}\n\n{learned}", "digest")) == [learned]


def test_a_concept_that_only_counts_exchanges_states_nothing() -> None:
    text = "Kafka\n\n3 exchanges from 2026-09-01 to 2026-09-03 about kafka. Latest: Why Kafka?"
    assert statements(hit(text, "concept")) == []


@pytest.mark.parametrize("kind", ["rule", "memory", "fact"])
def test_a_record_of_nothing_but_code_is_kept_whole(kind: str) -> None:
    assert statements(hit("```\nmake release\n```", kind)) == ["```\nmake release\n```"]


def test_statements_that_follow_each_other_are_one_run() -> None:
    text = "The cache is in Redis. It expires. Shall I drop it? The rest is in Postgres."
    assert stated_runs(hit(text)) == [
        ["The cache is in Redis.", "It expires."],
        ["The rest is in Postgres."],
    ]


def test_a_reply_goes_on_from_what_a_person_said_in_its_exchange() -> None:
    text = "The report is too high\n\nRoot cause: each event was counted twice."
    assert stated_runs(hit(text, "exchange")) == [
        ["The report is too high", "Root cause: each event was counted twice."]
    ]
    text = "Request: The report is too high\n\nCompleted: The mailer is fast."
    assert [len(run) for run in stated_runs(hit(text, "digest"))] == [1, 1]
