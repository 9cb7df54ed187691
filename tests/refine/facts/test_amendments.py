"""A later statement is linked to the one it changes, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.amendments import Conversation, Pair, read_pairs

from holdfast.model.knowledge import ClaimKind, Fact
from holdfast.model.trust import Status, Trust
from holdfast.refine.facts.amendments import (
    WordWeights,
    amends,
)
from holdfast.refine.facts.plain_statements import (
    changes_in_part,
)
from tests.support.refine_banks import open_filled_at_once, session_on
from tests.support.transcripts import Script

UNWEIGHTED = WordWeights(())


def script_of(conversation: Conversation) -> Script:
    script = session_on(conversation.day, int(conversation.session[:8]) + 1)
    for speaker, text in conversation.turns:
        script.user(text) if speaker == "user" else script.assistant(text)
    return script


def facts_of(tmp_path: Path, *pairs: Pair) -> list[Fact]:
    sides = [script_of(side) for pair in pairs for side in (pair.earlier, pair.later)]
    with open_filled_at_once(tmp_path, *sides) as memory:
        return memory.browse.facts(all=True)


def pair_of(earlier: str, *later: str) -> Pair:
    """A person's statement, and a later conversation in which person and agent take turns."""
    first = Conversation("00000000", "2026-03-01", (("user", earlier), ("assistant", "Done.")))
    speakers = ("user", "assistant") * len(later)
    turns = tuple(zip(speakers, later, strict=False))
    return Pair("own", "amended", "", first, Conversation("00000001", "2026-05-01", turns))


@pytest.mark.parametrize(
    "pair",
    [pair for pair in read_pairs("tuning") if pair.id in ("coverage-gate", "mail-provider")],
    ids=lambda pair: pair.id,
)
def test_what_no_longer_holds_is_superseded_and_both_facts_name_each_other(
    tmp_path: Path, pair: Pair
) -> None:
    later, earlier = facts_of(tmp_path, pair)
    assert earlier.status is Status.SUPERSEDED and later.status is Status.OBSERVED
    assert earlier.superseded_by == f"holdfast://fact/{later.id}"
    assert later.supersedes == (f"holdfast://fact/{earlier.id}",)
    assert earlier.validity.until == later.validity.since


@pytest.mark.parametrize(
    "pair",
    [pair for pair in read_pairs("tuning") if pair.id in ("screen-flags", "ops-alerts")],
    ids=lambda pair: pair.id,
)
def test_what_holds_in_part_is_amended_and_stays_in_force(tmp_path: Path, pair: Pair) -> None:
    later, earlier = facts_of(tmp_path, pair)
    assert earlier.status is Status.AMENDED and not earlier.validity.until
    assert earlier.superseded_by == f"holdfast://fact/{later.id}"
    assert later.supersedes == (f"holdfast://fact/{earlier.id}",)


def test_a_bare_answer_is_told_in_the_words_of_the_agents_summary(tmp_path: Path) -> None:
    pair = pair_of(
        "invoices are archived after 90 days",
        "look at the invoice archive, it grows like mad",
        "Invoices are archived after 90 days. Shall I shorten that?",
        "yes, make it 30",
        "Invoices are archived after 30 days instead of 90.",
    )
    later, earlier = facts_of(tmp_path, pair)
    assert "30 days instead of 90" in later.content and later.trust is Trust.ASSISTANT
    assert earlier.status is Status.SUPERSEDED


@pytest.mark.parametrize(
    "later",
    [
        "should invoices be archived after 30 days instead of 90?",
        "archive the invoices of this run after 30 days, just this once",
        "as agreed, invoices are archived after 90 days",
        "quotes are archived after 30 days now, no longer after a year",
    ],
)
def test_a_question_an_exception_for_once_a_repetition_and_another_subject_amend_nothing(
    tmp_path: Path, later: str
) -> None:
    facts = facts_of(tmp_path, pair_of("invoices are archived after 90 days", later, "OK."))
    assert not [fact for fact in facts if fact.superseded_by]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "The staging database listens on port 5433.",
            "Correction: the staging database listens on port 6432, not 5433.",
        ),
        (
            "The billing client gives up after four attempts.",
            "That was wrong: the billing client gives up after six attempts, not four.",
        ),
        (
            "From now on, always run `make gate` before you push.",
            "Do not run `make gate` before a push any more. Always run `make preflight` instead.",
        ),
        (
            "The worker reads its jobs from RabbitMQ.",
            "Sorry, my mistake: the worker reads its jobs from NATS, not RabbitMQ.",
        ),
    ],
)
def test_words_that_are_repeated_to_give_them_up_end_what_they_said(
    tmp_path: Path, earlier: str, later: str
) -> None:
    facts = facts_of(tmp_path, pair_of(earlier, later, "Understood."))
    assert [fact.content for fact in facts if fact.status is Status.SUPERSEDED] == [earlier]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Do not run `make gate` before a push.", "Do not run `make gate` before a push, please."),
        ("The worker reads its jobs from RabbitMQ.", "The worker reads its jobs in batches."),
    ],
)
def test_what_is_ruled_out_again_or_said_beside_it_ends_nothing(
    tmp_path: Path, earlier: str, later: str
) -> None:
    facts = facts_of(tmp_path, pair_of(earlier, later, "Understood."))
    assert not [fact for fact in facts if fact.superseded_by]


def test_a_change_that_only_an_agent_proposes_amends_nothing(tmp_path: Path) -> None:
    pair = pair_of(
        "invoices are archived after 90 days",
        "is there anything wrong with the invoice archive?",
        "It grows. We could archive invoices after 30 days instead of 90.",
        "nah, leave it",
        "Nothing was changed.",
    )
    assert facts_of(tmp_path, pair) == []


def test_statements_that_nobody_amends_are_no_facts(tmp_path: Path) -> None:
    with open_filled_at_once(tmp_path, script_of(read_pairs("tuning")[0].earlier)) as memory:
        (bank,) = memory.reader.banks.all()
        kinds = {claim.kind for claim in memory.reader.facts.claims(bank.id)}
        assert ClaimKind.STATEMENT in kinds
    plain = pair_of("invoices are archived after 90 days").earlier
    with open_filled_at_once(tmp_path / "other", script_of(plain)) as memory:
        assert memory.browse.facts(all=True) == []


@pytest.mark.parametrize(
    "earlier",
    [
        "Rule for uploads: at most 10 MB per file, images only. Please implement it in src/up.py.",
        "The upload limit is 10 MB, only images. Please change src/upload.py accordingly.",
        "Users may upload files up to 10 MB; only images are accepted.",
    ],
)
def test_a_limit_is_changed_by_a_reference_to_it(tmp_path: Path, earlier: str) -> None:
    later = "about the upload limit we agreed on: it is 20 MB now, PDFs too"
    facts = facts_of(tmp_path, pair_of(earlier, later, "The limit is 20 MB now."))
    (linked,) = (fact for fact in facts if fact.superseded_by)
    assert "10 MB" in linked.content and "Please" not in linked.content
    assert any(later == fact.content for fact in facts)


@pytest.mark.slow
def test_the_tuning_pairs_are_linked_as_measured(tmp_path: Path) -> None:
    pairs = read_pairs("tuning")
    facts = facts_of(tmp_path, *pairs)
    by_uri = {f"holdfast://fact/{fact.id}": fact for fact in facts}
    links = [(by_uri[f.superseded_by], f) for f in facts if f.superseded_by]
    days = {(p.later.day, p.earlier.day) for p in pairs if p.is_linked}
    right = [link for link in links if tuple(f.validity.since[:10] for f in link) in days]
    assert len(right) >= 57, len(right)
    assert len(links) - len(right) <= 1, [link for link in links if link not in right]


def test_decisions_on_one_subject_that_both_hold_do_not_replace_each_other() -> None:
    first = "We decided that the export job writes CSV files to the reports bucket."
    assert not amends("We decided that the export job runs in the reports cluster.", first)
    assert amends("We decided that the export job writes Parquet, no longer CSV files.", first)


@pytest.mark.parametrize(
    ("text", "summary", "in_part"),
    [
        ("PDFs are allowed as well", "", True),
        ("the rule does not apply to drafts", "", True),
        ("make it 20 MB", "", False),
        ("one retry is enough", "It is retried once instead of three times.", False),
    ],
)
def test_an_exception_or_an_addition_leaves_the_rest_in_force(
    text: str, summary: str, in_part: bool
) -> None:
    assert changes_in_part(text, summary) is in_part


def test_the_history_that_a_program_hands_over_is_nobodys_statement(tmp_path: Path) -> None:
    pair = pair_of(
        "We always deploy the berth planner from the release branch.",
        "The following is the Codex agent history added since your last approval assessment.\n\n"
        "[12] assistant: We deploy the berth planner from main now, never from the release branch.",
        "Allowed.",
    )
    assert [fact.status for fact in facts_of(tmp_path, pair)] == [Status.OBSERVED]


def test_what_a_person_lays_down_beside_a_printed_line_counts(tmp_path: Path) -> None:
    later = "[worker] payload refused. Uploads are capped at 20 MB from now on, not 10."
    facts = facts_of(tmp_path, pair_of("uploads are capped at 10 MB", later, "The cap is 20 MB."))
    assert [fact for fact in facts if fact.superseded_by]
