"""Which part of a record is quoted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.language import stem
from holdfast.model.query import LAYER_BY_KIND, Hit
from holdfast.model.trust import Trust
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote, whole_statements
from holdfast.research.answering.sentence_choice import (
    Cosines,
    Part,
    choose_part,
    read_question,
)

LONG = "The tests of the importer and of the mailer were run again after that, and all of them " * 5


def nothing_near(texts: Sequence[str]) -> Sequence[float]:
    return ()


def choose(question: str, text: str, kind: str = "turn", cosines: Cosines = nothing_near) -> Part:
    hit = Hit(
        f"holdfast://{kind}/1", kind, LAYER_BY_KIND[kind], 1.0, text, "", "", "b",
        trust=Trust.ASSISTANT,
    )  # fmt: skip
    weights = {stem(word): 1.0 for word in question.lower().strip("?").split()}
    return choose_part(hit, read_question(question, weights), by_person=False, cosines=cosines)


def test_what_follows_a_sentence_is_quoted_with_it() -> None:
    text = (
        f"{LONG}passed.\n\nThe hosted version is slow with a large repository. Scanning millions "
        "of lines is expensive. A guard now rejects more than 1,000,000 lines."
    )
    part = choose("how large a repository does the hosted version take?", text)
    assert part.sentence.startswith("The hosted version")
    assert "rejects more than 1,000,000 lines" in part.quoted
    assert "passed" not in part.quoted


def test_what_a_sentence_refers_back_to_is_quoted_before_it() -> None:
    text = (
        f"{LONG}passed. GoReleaser wipes the dist folder. That is why the archive was missing from "
        f"the release. {LONG}passed again."
    )
    part = choose("why was the archive missing from the release?", text)
    assert part.quoted.startswith("GoReleaser wipes the dist folder. That is why")


def test_a_quote_is_no_longer_than_allowed_unless_one_sentence_is() -> None:
    days = [
        f"On day {n} the tide gauge counts every wave of the pier twice a day." for n in range(20)
    ]
    text = " ".join(days)
    quoted = choose("what does the tide gauge count?", text).quoted
    assert quoted.endswith("twice a day.") and 200 < len(quoted) <= MAX_SENTENCE_CHARS


def test_a_list_is_quoted_without_the_next_list() -> None:
    text = (
        f"{LONG}passed.\n\nThe eviction policy is LRU:\n- the limit is 128 MB\n- data is "
        "ephemeral\n\n**Files:**\n- compose.yml"
    )
    quoted = choose("which eviction policy is it?", text).quoted
    assert quoted == "The eviction policy is LRU: the limit is 128 MB; data is ephemeral"


@pytest.mark.parametrize("kind", ["memory", "fact"])
def test_a_statement_is_quoted_whole_even_where_it_is_cut(kind: str) -> None:
    text = "Big repositories are expensive. A guard rejects more than 1,000,000 lines, only…"
    assert choose("are big repositories expensive?", text, kind).quoted == text


def test_a_cause_is_preferred_where_a_reason_is_asked_for() -> None:
    symptom = "The prompt of the shell froze on every start of the machine in the office"
    cause = "The prompt of the shell froze because the reader takes one byte at a time"
    text = f"{symptom}.\n\n{LONG}passed.\n\n{cause}."
    assert choose("why did the prompt of the shell freeze?", text).sentence == f"{cause}."
    assert choose("when did the prompt of the shell freeze?", text).sentence.startswith(symptom)


def test_a_question_in_between_ends_a_quote() -> None:
    text = (
        f"{LONG}passed.\n\nThe cache is kept in Redis. Shall I drop it? {LONG}passed too. "
        "Postgres holds the rest."
    )
    assert choose("where is the cache kept?", text).quoted == "The cache is kept in Redis."


def test_what_a_record_says_twice_is_quoted_once() -> None:
    said = "The number of jobs came from the lampwick."
    text = f"Which page?\n\nPid 4: {said}\n\n{said}"
    quoted = choose("where did the number of jobs come from?", text, "exchange").quoted
    assert quoted == f"Pid 4: {said}"


FAULTS = (
    f"{LONG}passed.\n\n"
    "1. **Label**: The list of ships had no entry for the ferry. Whoever took it was told of the "
    "tug instead, which is the default of that list since the harbour was built in the north.\n"
    "2. **Sound**: The dialog played the horn of a wrong ship, because the file with the horns was "
    "read before the ferry was known. It is read again now whenever a ship enters the harbour.\n"
)


def test_meaning_decides_between_items_where_a_model_tells() -> None:
    question = "which entry did the dialog show for a wrong ship?"

    def cosines(texts: Sequence[str]) -> Sequence[float]:
        return [0.9 if "told of the tug" in text else 0.1 for text in texts]

    assert "horn of a wrong ship" in choose(question, FAULTS).sentence
    assert "told of the tug" in choose(question, FAULTS, cosines=cosines).sentence


def test_words_decide_between_sentences_that_are_equally_near() -> None:
    question = "which entry did the dialog show for a wrong ship?"
    part = choose(question, FAULTS, cosines=lambda texts: [0.5] * len(texts))
    assert part == choose(question, FAULTS)


def test_an_item_of_a_list_is_quoted_from_its_beginning() -> None:
    quoted = choose("who was told of the tug, the default?", FAULTS).quoted
    assert quoted.startswith("**Label**: The list of ships had no entry for the ferry. Whoever")


def test_only_a_few_sentences_are_compared_by_meaning() -> None:
    compared: list[str] = []

    def cosines(texts: Sequence[str]) -> Sequence[float]:
        compared.extend(texts)
        return [0.0] * len(texts)

    text = " ".join(f"On day {n} the tide gauge counts every wave of pier {n}." for n in range(40))
    choose("what does the tide gauge count?", text, cosines=cosines)
    assert 1 < len(compared) < 10


UNWANTED = (
    f"{LONG}passed.\n\nNot wanted:\n\n- a second copy of the tide tables in the office of the pilot"
    "\n- the lamp of the pier as a dependency of the gauge, at whatever hour of the night it is lit"
    f"\n\nThe lamp is grey. {LONG}passed again."
)


def test_an_item_is_quoted_with_what_announces_its_list() -> None:
    quoted = choose("is the gauge a dependency of the lamp?", UNWANTED).quoted
    assert quoted.startswith("Not wanted: the lamp of the pier as a dependency")
    assert "second copy" not in quoted


def test_a_sentence_after_a_list_is_quoted_without_what_announces_the_list() -> None:
    assert choose("is the lamp grey?", UNWANTED).quoted.startswith("The lamp is grey.")


@pytest.mark.parametrize("text", ["# Two changes:", "```\nTwo changes:", "> Two changes:"])
def test_what_only_announces_is_quoted_as_it_is(text: str) -> None:
    hit = Hit("holdfast://turn/1", "turn", LAYER_BY_KIND["turn"], 1.0, text, "", "", "b")
    only = [Quote(hit, text, 1.0, 1.0)]
    assert whole_statements(only) == only


def test_a_command_is_quoted_only_where_one_is_asked_for() -> None:
    command = "cd /srv/harbour && npm run build 2>&1 | tail -5 must pass for the harbour project."
    text = f"{command}\n\nThe harbour project plans the berths of ferries."
    told = choose("what is the harbour project about?", text)
    assert told.quoted == "The harbour project plans the berths of ferries." and told.states
    assert choose("how do I run the build of the harbour project?", text).sentence == command
    assert not choose("what is the harbour project about?", command).states


def test_a_rule_that_names_a_command_is_no_command() -> None:
    rule = "Always run `npm run lint && npm test` before the harbour project is released."
    assert choose("what about the harbour project?", rule).states


def test_lines_of_a_log_are_quoted_only_where_a_problem_is_asked_for() -> None:
    log = "[Tide Gauge] Attempt 1/3 failed for the gauge\n\n[Tide Gauge] Retrying the gauge in 10 s"
    text = f"{log}\n\nThe gauge now waits for the modem before it is read."
    assert choose("what was done for the gauge?", text).quoted.startswith("The gauge now waits")
    assert "Attempt 1/3" in choose("what is the problem with the attempt?", text).quoted
    assert not choose("what was done for the gauge?", log, "memory").states
    assert choose("what was done for the gauge?", "[Tide] The gauge waits.", "memory").states


@pytest.mark.parametrize(
    ("question", "answers", "beside"),
    [
        (
            "What went wrong with the crane?",
            "The crane stopped because its cable was frayed.",
            "All is ready, so give the go ahead whenever you want, nothing is wrong here.",
        ),
        (
            "What was done for the crane?",
            "The crane has a new cable.",
            "All tasks of the week are done.",
        ),
    ],
)
def test_the_words_in_which_a_question_asks_are_not_looked_for(
    question: str, answers: str, beside: str
) -> None:
    assert choose(question, f"{beside}\n\n{LONG}passed.\n\n{answers}").sentence == answers


def test_a_folder_above_the_project_says_nothing_of_the_project() -> None:
    text = "The sources lie in /home/dev/projects/harbour/src and are read from there every day."
    part = choose("projects?", text)
    assert part.covered == 0 and part.is_beside
    assert choose("src?", text).covered == 1


def test_a_record_without_any_word_of_the_question_is_not_beside_it() -> None:
    assert not choose(
        "quay?", "The berths are planned a day ahead for all of the ferries."
    ).is_beside
