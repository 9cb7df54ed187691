"""A later statement is linked to the one it changes, and to no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.amendments import Conversation, Pair, read_pairs

from holdfast.model.knowledge import ClaimKind, Fact
from holdfast.model.trust import Status, Trust
from holdfast.refine.facts.amendments import (
    Statement,
    WordWeights,
    amendment_strength,
    amends,
    names_the_change,
)
from holdfast.refine.facts.plain_statements import (
    changes_in_part,
    find_plain_statements,
    may_be_amended,
    reported_changes,
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


@pytest.mark.parametrize(
    ("earlier", "later", "status"),
    [
        ("product images are jpeg", "switch the product images over to webp", Status.SUPERSEDED),
        (
            "el servidor local escucha en el puerto 8000",
            "el servidor local escucha ahora en el puerto 8765",
            Status.SUPERSEDED,
        ),
        (
            "recordings of calls are kept for 90 days",
            "correction about the recordings: 30 days",
            Status.SUPERSEDED,
        ),
        (
            "the audit log records logins and failed logins",
            "exports of patient data belong in the audit log too",
            Status.AMENDED,
        ),
        (
            "Wir haben beschlossen, dass Bestellnummern siebenstellig sind.",
            "Bestellnummern ab sofort neunstellig, sieben Stellen reichen nicht mehr",
            Status.SUPERSEDED,
        ),
        (
            "We support ruby 3.1 and up in the client, please keep the syntax compatible.",
            "bump the minimum ruby for the client: 3.3, drop the rest",
            Status.SUPERSEDED,
        ),
        (
            "les images sont compressées chaque semaine",
            "désormais compression des images chaque nuit, elles sont compressés à 3 h",
            Status.SUPERSEDED,
        ),
        (
            "Fotos im Katalog dürfen nicht breiter als eine Spalte sein",
            "das mit den Fotos in einer Spalte war Unsinn, im Katalog dürfen sie breiter sein",
            Status.SUPERSEDED,
        ),
        (
            "every transfer in the ledger needs a second approval",
            "transfers below 20 euros go through without approval, the clerks drown in them",
            Status.AMENDED,
        ),
        (
            "chaque nouveau module a son propre paquet npm.",
            "finalement on met tout dans un seul paquet, les nouveaux modules aussi",
            Status.AMENDED,
        ),
    ],
    ids=[
        "moved",
        "another language",
        "another value",
        "added in few words",
        "numbers in compounds",
        "versions with a digit in common",
        "how often, and a word in another form",
        "a reference to it in another language",
        "only things of some size",
        "another number of the same",
    ],
)
def test_few_words_tell_what_a_statement_changes(
    tmp_path: Path, earlier: str, later: str, status: Status
) -> None:
    reply = "The audit log has logins and exports." if status is Status.AMENDED else "OK."
    facts = facts_of(tmp_path, pair_of(earlier, later, reply))
    (linked,) = (fact for fact in facts if fact.superseded_by)
    assert (linked.content, linked.status) == (earlier, status)


@pytest.mark.parametrize(
    ("earlier", "later", "summary"),
    [
        (
            "calls to the search service time out after 2 seconds",
            "calls to the tax service time out after 10 seconds from now on",
            "The tax client waits 10 seconds.",
        ),
        (
            "tests never call the real sandbox, use the recorded cassettes",
            "call recordings are kept for 90 days",
            "Recordings are deleted after 90 days.",
        ),
        (
            "rules of the bot appear as bot rules, not just as rules",
            "ok, commit and push",
            "Committed: bot rules appear as bot rules instead of just as rules.",
        ),
        (
            "Fold it into a phase 2 implementation plan",
            "start with the phase 0 fixes of the plan and review the implementation plan",
            "The plan of phase 0 is reviewed.",
        ),
        (
            "We agreed that invoices show dates as DD.MM.YYYY.",
            "We agreed that payslips show the month as MM/YYYY.",
            "Payslips show the month.",
        ),
        (
            "database backups run every night",
            "database statistics are refreshed every week from now on",
            "The statistics are refreshed on Sundays.",
        ),
        (
            "the weekly report is sent to the board every month",
            "the report is kept for a year, deleted every January",
            "Reports are deleted in January.",
        ),
        (
            "every transfer in the ledger needs a second approval",
            "transfers below 20 euros are shown in grey",
            "Small transfers are grey.",
        ),
        (
            "Kundennummern sind sechsstellig",
            "Rechnungsnummern ab sofort achtstellig",
            "Rechnungsnummern haben acht Stellen.",
        ),
        (
            "commits to main need an approval",
            "the committee approves the main budget every month",
            "The budget is approved every month.",
        ),
        (
            "it should have full menus for batch management",
            "the batch management menu says back to main menu instead of back to batch runs",
            "The batch management menu showed back to main menu instead of back to batch runs.",
        ),
        (
            "the start command opens the ledger in the editor",
            "keep our working papers in the tracker",
            "Created `ledger/help.go` with its package; the start command no longer opens the "
            "ledger in the editor; `Makefile`, three tests, two pages of the manual and the list "
            "of changes were adapted; all checks pass.",
        ),
        (
            "the reset only looks for open branches, it keeps 2 sheets of the ledger in .store",
            "! git branch -v",
            "The reset of the ledger now keeps 0 sheets in .store, whatever branches are open.",
        ),
    ],
    ids=[
        "another service",
        "what is deleted in time",
        "an order to go on",
        "a part of the work",
        "a similar format",
        "another thing as often",
        "another matter of the same",
        "other things of some size",
        "other numbers in compounds",
        "words that begin alike",
        "a report of a fault",
        "what a long list of changes says",
        "a command of the person's shell",
    ],
)
def test_what_is_about_something_else_amends_nothing(
    tmp_path: Path, earlier: str, later: str, summary: str
) -> None:
    facts = facts_of(tmp_path, pair_of(earlier, later, summary))
    assert not [fact for fact in facts if fact.superseded_by]


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


@pytest.mark.parametrize(
    ("later", "earlier"),
    [
        ("exchange rates are fetched daily now", "shipping rates are fetched hourly"),
        ("staging is reset every night", "the production database is never reset at night"),
        ("test files are named in kebab-case", "component files are named in PascalCase"),
    ],
)
def test_words_that_name_two_things_are_not_shared(later: str, earlier: str) -> None:
    assert amendment_strength(Statement(later), earlier, UNWEIGHTED) == 0.0


def test_a_word_counts_less_the_more_statements_have_it() -> None:
    texts = [f"the portal shows {name} to customers" for name in "prices stock orders".split()]
    weights = WordWeights([*texts, "the portal logs in UTC", "invoices are archived"])
    assert 0 < weights.of("portal") < weights.of("invoic") == 1.0


@pytest.mark.parametrize(
    ("later", "earlier", "names"),
    [
        ("no longer in redis", "sessions are kept in redis", True),
        ("redis is obsolete", "sessions are kept in redis", True),
        ("one approval will do", "pull requests need two approvals", True),
        ("ranges are fine", "pin versions, no ranges", True),
        ("it takes 5 minutes", "it is at most 3 MB", False),
        ("sessions are shown on the page", "sessions are kept in redis", False),
    ],
)
def test_a_statement_names_what_it_changes(later: str, earlier: str, names: bool) -> None:
    assert names_the_change(later, earlier) is names


def test_decisions_on_one_subject_that_both_hold_do_not_replace_each_other() -> None:
    first = "We decided that the export job writes CSV files to the reports bucket."
    assert not amends("We decided that the export job runs in the reports cluster.", first)
    assert amends("We decided that the export job writes Parquet, no longer CSV files.", first)


@pytest.mark.parametrize(
    ("text", "statement", "may_change"),
    [
        ("uploads are capped at 10 MB", True, True),
        ("fix the upload limit in the form", True, False),
        ("the upload is failing with a 500", False, False),
        ("why are uploads capped at 10 MB?", False, False),
        ("skip the linter for this commit", False, False),
        ("see https://example.com/issues/1 about uploads", False, False),
        ("/pr-review 154", False, False),
        ("/tmp is mounted without exec", True, True),
    ],
)
def test_plain_statements_say_how_something_is_to_be(
    text: str, statement: bool, may_change: bool
) -> None:
    assert bool(find_plain_statements(text)) is statement
    assert (may_be_amended(text) and statement) is may_change


@pytest.mark.parametrize(
    "text",
    [
        "#terminalLastCommand there are some errors in the berth loader",
        "another error of the crane list, check the logs",
        "the crane list needs fixing: berths are doubled",
        "Veo que no se cargan las grúas pero existen en la base de datos.",
        "arreglar los errores de la lista de grúas",
        "Cuando abro el muelle, los valores no cambiaron.",
        "Je vois que la liste des grues ne marche plus.",
        "Die Liste der Kräne funktioniert nicht, zeig den Fehler.",
        "Vejo que a lista dos guindastes não carrega.",
        "Список кранов не работает, исправь ошибку.",
    ],
)
def test_what_fails_and_what_is_to_be_done_is_no_statement_in_any_language(text: str) -> None:
    assert find_plain_statements(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Los muelles deben poder cerrarse varias veces al día.",
        "Les grues sont vérifiées chaque mois.",
        "Die Kräne werden jeden Monat geprüft.",
        "Errors of the crane list are logged to stderr.",
        "A bug fix that only corrects a typo needs no test.",
    ],
)
def test_what_is_to_hold_is_a_statement_in_other_languages(text: str) -> None:
    assert find_plain_statements(text) == [text]


def test_a_closing_message_reports_changes_and_not_proposals() -> None:
    message = "Done. The limit is 20 MB instead of 10 MB. I could raise it from 20 MB to 50 MB."
    assert reported_changes(message) == ["The limit is 20 MB instead of 10 MB."]


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


def test_a_statement_that_says_enough_by_itself_is_not_shown_in_the_agents_words(
    tmp_path: Path,
) -> None:
    said = "All tide commands run in the terminal from now on instead of in the background."
    pair = pair_of(
        "A click on the harbour status in the status bar opens the berth view.",
        said,
        "The status bar no longer opens the berth view: a click on the harbour status runs "
        "`bw status` in a terminal.",
    )
    contents = [fact.content for fact in facts_of(tmp_path, pair)]
    assert not any("bw status" in content for content in contents)


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
