from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.model.knowledge import Claim, ClaimKind, Fact
from holdfast.model.query import Layer
from holdfast.model.trust import Status
from holdfast.model.uris import uri
from holdfast.recall.core.plan import RecallPlan
from holdfast.refine.facts.claim_outcomes import ClaimOutcomes
from tests.support.refine_banks import find_fact, open_filled, session_on, session_saying
from tests.support.rule_families import HELD_OUT, TUNED, Family
from tests.support.transcripts import Script


def investigation() -> list[Script]:
    """A guess, work that rests on it, nothing of it, and its disproof three sessions later."""
    first = session_on("2026-09-01", 1)
    first.user("The checkout times out every night. Why does it fail?")
    first.tool("Bash", "TimeoutError: checkout took 30 s", error=True, command="curl checkout")
    first.assistant("I suspect the checkout timeout is caused by the stale DNS cache.")
    second = session_on("2026-09-05", 2)
    second.user("Please shorten the DNS cache of the checkout to one minute.")
    second.tool("Edit", "ok", file_path="/home/dev/proj/dns.py", old_string="a", new_string="b")
    second.assistant("Shortened the DNS cache of the checkout to one minute.")
    third = session_on("2026-09-08", 3)
    third.user("Add a footer to the invoice page.")
    third.assistant("Added the footer to the invoice page.")
    fourth = session_on("2026-09-12", 4)
    fourth.user("The checkout still times out at night. Please find out why.")
    fourth.assistant("The checkout timeout was not caused by the stale DNS cache after all.")
    fourth.assistant("The root cause of the checkout timeout was the exhausted connection pool.")
    fourth.tool("Edit", "ok", file_path="/home/dev/proj/pool.py", old_string="5", new_string="50")
    fourth.tool("Bash", "12 passed", command="pytest tests/test_checkout.py")
    fourth.assistant("All tests pass now.")
    return [first, second, third, fourth]


QUESTION = "what causes the checkout timeout"


@pytest.mark.slow
def test_a_guess_is_shown_as_a_hypothesis_until_it_is_disproved(tmp_path: Path) -> None:
    with open_filled(tmp_path, *investigation()) as memory:
        before = memory.ask(QUESTION, as_of="2026-08-31T23:59:59.999Z")
        assert before.abstained
        between = memory.ask(QUESTION, as_of="2026-09-10T00:00:00.000Z")
        assert "stale DNS cache. (a guess, not confirmed) [1]" in between.answer
        assert "connection pool" not in between.answer and "retracted" not in between.answer
        assert "[1] is an unconfirmed guess." in between.caveats
        after = memory.ask(QUESTION)
        first = after.answer.splitlines()[0]
        assert "connection pool" in first
        for line in after.answer.splitlines():
            assert "I suspect" not in line or "(retracted since)" in line


@pytest.mark.slow
def test_recall_as_of_a_day_gives_a_guess_its_status_of_that_day(tmp_path: Path) -> None:
    with open_filled(tmp_path, *investigation()) as memory:

        def status(as_of: str) -> set[Status]:
            plan = RecallPlan((Layer.TRANSCRIPTS,), as_of=as_of)
            hits = memory.search.recall_with_plan("suspect stale DNS cache", None, plan).hits
            return {hit.status for hit in hits if hit.kind == "turn" and "I suspect" in hit.text}

        assert status("2026-08-31T00:00:00.000Z") == set()
        assert status("2026-09-10T00:00:00.000Z") == {Status.HYPOTHESIS}
        assert status("2026-09-12T23:00:00.000Z") == {Status.RETRACTED}
        assert status("") == {Status.RETRACTED}


@pytest.mark.slow
def test_recall_as_of_a_day_leaves_out_later_records(tmp_path: Path) -> None:
    with open_filled(tmp_path, *investigation()) as memory:
        plan = RecallPlan(as_of="2026-09-10T00:00:00.000Z", limit=50)
        hits = memory.search.recall_with_plan("checkout DNS cache pool footer", None, plan).hits
        assert hits and max(hit.time for hit in hits) < "2026-09-09"


def final_status(memory: Holdfast) -> Status:
    """What became of the guess after all that was said."""
    outcomes = ClaimOutcomes(memory.reader.facts.claims(memory.reader.banks.all()[0].id))
    outcomes.apply_claims()
    guess = the_guess(memory).id
    return [c.status for c in outcomes.status_changes() if c.id == guess][-1]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("Yes, that was it.", Status.VERIFIED),
        ("Please sort the imports.", Status.HYPOTHESIS),
    ],
)
def test_a_yes_of_the_user_verifies_the_last_guess(
    tmp_path: Path, said: str, status: Status
) -> None:
    script = session_on("2026-09-01", 1)
    script.user("The export crashes. Why?")
    script.assistant("I suspect the export crashes because of the missing locale file.")
    script.user(said)
    script.assistant("Understood.")
    with open_filled(tmp_path, script) as memory:
        assert final_status(memory) is status


def test_a_yes_after_a_disproof_does_not_bring_the_guess_back(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("The export crashes. Why?")
    script.assistant("I suspect the export crashes because of the missing locale file.")
    script.user("No, that was not it.")
    script.assistant("Then I will look further.")
    script.user("Yes, that was it.")
    script.assistant("Understood.")
    with open_filled(tmp_path, script) as memory:
        assert final_status(memory) is Status.RETRACTED


def test_a_guess_proven_in_its_own_exchange_is_verified(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("The export crashes. Why?")
    script.assistant("Probably the export crashes because of the missing locale file.")
    script.tool("Edit", "ok", file_path="/home/dev/proj/x.py", old_string="a", new_string="b")
    script.tool("Bash", "3 passed", command="pytest")
    script.assistant("The root cause was the missing locale file of the export.")
    with open_filled(tmp_path, script) as memory:
        guess = the_guess(memory)
        assert guess.status is Status.VERIFIED and guess.because.startswith("holdfast://turn/")


def disputed_solution() -> list[Script]:
    """A solution that took three attempts, and the word that it was none."""
    first = session_on("2026-09-01", 1)
    first.user("The importer doubles rows at night, find out why.")
    for place in range(3):
        first.tool("Bash", "2 failed", error=True, command="pytest tests/test_importer.py")
        first.tool(
            "Edit", "ok", file_path="/home/dev/proj/importer.py", old_string=f"{place}",
            new_string="x",
        )  # fmt: skip
    first.tool("Bash", "12 passed", command="pytest tests/test_importer.py")
    first.assistant("The root cause of the doubled rows in the importer was the missing batch key.")
    second = session_on("2026-09-20", 2)
    second.user("Rows are doubled again.")
    second.assistant("The missing batch key was not the cause of the doubled rows in the importer.")
    return [first, second]


def test_a_disputed_solution_goes_to_review_and_holds_until_then(tmp_path: Path) -> None:
    with open_filled(tmp_path, *disputed_solution()) as memory:
        fact = find_fact(memory, "missing batch key")
        assert (fact.status, fact.attempts, len(fact.against)) == (Status.VERIFIED, 3, 1)
        (review,) = memory.browse.reviews()
        assert (review.kind, review.target) == ("correction", uri("fact", fact.id))
        memory.curation.decide(review, keep=False)
        assert find_fact(memory, "missing batch key").status is Status.RETRACTED
        memory.undo()
        assert find_fact(memory, "missing batch key") == fact


def test_a_no_in_the_next_message_retracts_the_guess(tmp_path: Path) -> None:
    script = session_on("2026-09-01", 1)
    script.user("The import is broken. Why?")
    script.assistant("It is probably the wrong encoding of the file that breaks the import.")
    script.user("no, that's not it, the import still fails")
    script.assistant("Looking further.")
    with open_filled(tmp_path, script) as memory:
        guess = the_guess(memory)
        life = memory.reader.facts.status_changes(guess.bank, [("claim", guess.id)])
        assert [change.status for change in life] == [Status.HYPOTHESIS, Status.RETRACTED]


def the_guess(memory: Holdfast) -> Claim:
    bank = memory.reader.banks.all()[0].id
    (guess,) = [c for c in memory.reader.facts.claims(bank) if c.kind is ClaimKind.HYPOTHESIS]
    return guess


@pytest.mark.parametrize("family", [*TUNED, *HELD_OUT], ids=lambda family: family.name)
def test_an_amendment_retires_the_rule_and_a_near_miss_does_not(
    tmp_path: Path, family: Family
) -> None:
    scripts = [
        session_saying("2026-09-01", 1, family.rule),
        session_saying("2026-09-10", 2, family.near_miss),
        session_saying("2026-09-20", 3, family.amendment),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        facts = {fact.content: fact for fact in memory.browse.facts(all=True)}
        old, new = facts[family.rule], facts[family.amendment]
        assert facts[family.near_miss].status is Status.OBSERVED
        assert old.status is Status.SUPERSEDED
        assert old.superseded_by == f"holdfast://fact/{new.id}"
        assert new.supersedes == (f"holdfast://fact/{old.id}",)
        assert old.validity.until == new.validity.since
        then = memory.show(f"fact/{old.id}", as_of="2026-09-15T00:00:00.000Z")
        assert isinstance(then.record, Fact) and then.record.status is Status.OBSERVED
        with pytest.raises(NotFoundError, match="not known then"):
            memory.show(f"fact/{new.id}", as_of="2026-09-15T00:00:00.000Z")


def test_recall_and_ask_give_the_rule_in_force_and_name_the_old_one(tmp_path: Path) -> None:
    family = TUNED[0]
    scripts = [
        session_saying("2026-09-01", 1, family.rule),
        session_saying("2026-09-20", 3, family.amendment),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        old, new = find_fact(memory, "with npm in"), find_fact(memory, "with pnpm")
        found = memory.recall("how do we install packages").hits
        assert "pnpm" in found[0].text
        assert f"holdfast://fact/{old.id}" in found[0].supersedes
        past = [hit for hit in found if hit.text.startswith(family.rule[:50]) and hit.session]
        assert past and past[0].status is Status.SUPERSEDED
        assert past[0].superseded_by == f"holdfast://fact/{new.id}"
        answer = memory.ask("how do we install packages")
        assert "pnpm" in answer.answer.splitlines()[0]
        assert any(old.id in note or new.id in note for note in answer.caveats)
        then = memory.ask("how do we install packages", as_of="2026-09-10T00:00:00.000Z")
        assert "npm" in then.answer and "pnpm" not in then.answer
        assert "superseded" not in then.answer


def test_a_superseded_rule_that_is_stated_again_holds_again(tmp_path: Path) -> None:
    family = TUNED[0]
    scripts = [
        session_saying("2026-09-01", 1, family.rule),
        session_saying("2026-09-20", 2, family.amendment),
        session_saying("2026-10-20", 3, family.rule),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        old, new = find_fact(memory, "with npm in"), find_fact(memory, "with pnpm")
        assert old.status is Status.VERIFIED and old.superseded_by == ""
        life = memory.show(f"fact/{old.id}").lives
        assert [change.status for change in life][:2] == [Status.OBSERVED, Status.SUPERSEDED]
        assert len(old.evidence) == 2 and new.validity.since == "2026-09-20T09:00:20.000Z"


def test_a_long_turn_is_not_marked_for_one_sentence_of_many(tmp_path: Path) -> None:
    long = TUNED[0].rule + " The rest of this message is about the new invoice page. " * 6
    scripts = [
        session_saying("2026-09-01", 1, long),
        session_saying("2026-09-20", 2, TUNED[0].amendment),
    ]
    with open_filled(tmp_path, *scripts) as memory:
        hits = memory.recall("install packages with npm invoice page").hits
        turn = next(hit for hit in hits if hit.kind == "turn" and hit.text.startswith("From now"))
        assert turn.status is Status.OBSERVED
        assert find_fact(memory, "with npm in").status is Status.SUPERSEDED
