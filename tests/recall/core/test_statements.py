from __future__ import annotations

import pytest

from holdfast.model.query import LAYER_BY_KIND, Hit
from holdfast.model.trust import Trust
from holdfast.recall.core.statements import (
    is_question,
    is_request,
    reports_progress,
    says_not_known,
    stated_runs,
    statements,
    states,
    without_outer_reports,
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


@pytest.mark.parametrize(
    "text",
    [
        "const [ agentsFiles,",
        "agentsFiles,",
        "// Search for AGENTS.md and SKILL.md",
        "If you need specific details from before exiting plan mode, read the transcript at: x",
        "User has approved your plan. You can now start coding.",
    ],
)
def test_torn_code_and_text_of_the_agents_program_are_no_statements(text: str) -> None:
    assert not states(text, by_person=False) and not states(text, by_person=True)


@pytest.mark.parametrize(
    "text",
    [
        "Memory has nothing on why Kafka was dropped.",
        "I don't have a record of that.",
        "I could not find one.",
        "There is no mention of it in the project.",
        "Not known: nothing in memory speaks of this.",
        "Not known: memory has no record about this.",
        "Memory has no record about this.",
        "Not known: nothing in memory clearly answers this; the nearest records are listed.",
        "Not known: no record clearly answers this.",
        "No record clearly answers this.",
        "That is not known.",
        "I'd have to look that up.",
    ],
)
def test_that_nothing_is_known_is_no_statement(text: str) -> None:
    assert says_not_known(text)
    assert statements(hit(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "We don't have a staging server.",
        "The importer has no retries.",
        "No results are cached.",
        "Unknown keys in the settings are refused.",
        "The memory of the worker stays below 80 MB.",
        "I couldn't find the config, so it is created on the first start now.",
    ],
)
def test_that_something_is_not_there_is_a_statement(text: str) -> None:
    assert not says_not_known(text)
    assert statements(hit(text)) == [text]


@pytest.mark.parametrize("text", ["Understood.", "Let me check.", "I'll look at it.", "Done!"])
def test_an_acknowledgement_or_an_announcement_is_no_statement(text: str) -> None:
    assert statements(hit(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "[Request interrupted by user for tool use]",
        "[Image #1] [Image #2]",
        "! uv run pytest tests/test_names.py",
        "! make check",
    ],
)
def test_what_a_program_put_into_a_message_and_a_command_that_was_run_state_nothing(
    text: str,
) -> None:
    assert statements(hit(text, trust=Trust.USER)) == []
    assert statements(hit(f"{text}\n\nOK.", "exchange")) == []


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "app", "version": "1.2"}',
        'The log said "url": "https://example.org/app.js", "status": 404, "size": 12.',
        "Click to copy the address</li>\\n <li><strong>Sharing:</strong> the button copies it.",
        "<ul><li>The export runs at night.</li></ul>",
    ],
)
def test_a_part_of_a_file_or_a_page_that_was_pasted_states_nothing(text: str) -> None:
    assert statements(hit(f"This is what the page shows us now.\n\n{text}", trust=Trust.USER)) == [
        "This is what the page shows us now."
    ]
    assert text not in statements(hit(text))


@pytest.mark.parametrize(
    "text",
    [
        "The token is wrapped in `<rb></rb><rt></rt>` and the id stands above it.",
        'The body is `{"name": "app", "id": 1}` in both versions.',
        "Lines end in `\\n` and not in `\\r\\n`.",
        "[Docs] are built by sphinx.",
        "A List<int> is faster than a Map<string, int> here.",
    ],
)
def test_a_sentence_with_code_in_it_is_a_statement(text: str) -> None:
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


@pytest.mark.parametrize(
    ("call", "is_evidence"),
    [
        ("Grep src\nkubernetes\n→ ok: 4 files", False),
        ("Read src/app.py\n→ ok", False),
        ("Bash\nrg -n kubernetes\n→ ok: deploy.md:3", False),
        ("Bash\ncd deploy && grep -r kubernetes .\n→ ok", False),
        ("Bash\ngit commit -m 'Move to Kubernetes'\n→ ok: [main 1234567] Move", True),
        ("Edit deploy.md\n+Kubernetes\n→ ok", True),
    ],
)
def test_a_call_that_looks_for_something_is_a_question_too(call: str, is_evidence: bool) -> None:
    assert bool(statements(hit(call, trust=Trust.TOOL))) is is_evidence


@pytest.mark.parametrize("kind", ["rule", "memory", "fact"])
def test_a_record_of_nothing_but_code_is_kept_whole(kind: str) -> None:
    assert statements(hit("```\nmake release\n```", kind)) == ["```\nmake release\n```"]


@pytest.mark.parametrize(
    "text",
    [
        "Let me only stage the files that belong to the cursor support and leave the others alone.",
        "Now let me read the VPN connection notifier and the entities that are already there.",
        "Good. I'll check the release section's exact syntax and confirm the name of the field.",
        "Let's look at how the daemon starts, because the prompt is drawn twice.",
        "Perfect! Now let me compile my findings with a comprehensive summary of all of them.",
        "Waiting for the team lead to assign more work on the profile list and its widgets.",
        "Now update the component to wrap its rows in the table and fix the expanded style of it.",
        "Now add the Cursor section to the page, right before the section with the linked docs:",
        "Real findings of the linter — let's fix them by naming the repeated literals of the file.",
        "There are other changes in here — I'll only commit the file that we changed for this.",
        "Next, rename the field in all of its tests, and then in the schema of the website too.",
        "I'm going to refactor the reader so that it asks for the folder only once in a session.",
        "Thanks for the review!",
        "You're welcome.",
        "Happy to help with the rest of it.",
        "26 files changed, +1295 -315 lines.",
        "8 files were modified in the last commit of the day.",
        "Hello there!",
        "Good morning.",
        "**Committed** `133a5cb` — 26 files changed, 3335 insertions(+), 70 deletions(-)",
        "Committed as `b220ccc`: 3 files changed",
    ],
)
def test_what_announces_greets_or_counts_files_states_nothing(text: str) -> None:
    assert statements(hit(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Good — the count runs in a subshell, so finished jobs are counted forever.",
        "I'll use pnpm for installs from now on, as the lockfile of yarn breaks.",
        "The release changed 26 files, because the folder was renamed.",
        "Let the daemon die with its pipe.",
        "Now the daemon reads its folder once, and the tests of it take half of their time.",
        "First runs take a minute, because the model is compiled before it is asked for anything.",
        "I'm going to the harbour festival with my sister, who sings in the choir of the town.",
        "Happy paths are tested by the suite of the browser; errors are tested without it.",
        "Next to the mailer runs the importer, which reads the same queue and writes another one.",
        "Hello World is printed by the example in the manual of the shell.",
        "Committed 3 files that configure the tide gauge.",
    ],
)
def test_a_statement_that_begins_like_narration_is_one(text: str) -> None:
    assert statements(hit(text)) == [text]


def test_a_person_may_announce_what_holds() -> None:
    text = "I'll check the tide tables every Monday, before the first boat leaves the pier."
    assert statements(hit(text, trust=Trust.USER)) == [text]
    assert statements(hit(text)) == []


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


@pytest.mark.parametrize(
    "text",
    [
        "All 1329 tests pass and lint is clean.",
        "Tests: 1329 pass, 0 fail",
        "Pre-commit hooks (tests, lint, typecheck) all passed.",
        "**Commit created successfully!**",
        "Committed as `28c3bbd`.",
        "Fixed and committed as [21da6a6e](.github/workflows/release.yml).",
        "(committed)",
        "**Step 4: Remediation prompt generator - add cursor support**",
        "All three tasks are complete.",
        "Here's a summary of the changes made to `src/shared/cursor-provider.ts`:",
        "No further action is needed.",
    ],
)
def test_that_work_went_as_it_should_is_only_a_report(text: str) -> None:
    assert reports_progress(text)


@pytest.mark.parametrize(
    "text",
    [
        "The change is done — added `--trust` to the arguments of the agent.",
        "The tests fail because the clock is mocked.",
        "Committed seats are kept for a year.",
        "All boats pass the lock before noon, and the ferry passes it twice a day.",
        "**Redis** is gone from production.",
        "The build is clean only after the cache was emptied, since stale objects are linked in.",
    ],
)
def test_what_says_something_else_too_is_no_mere_report(text: str) -> None:
    assert not reports_progress(text)


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        (
            "Committed `133a5cb` — 26 files changed; The gauge is read twice; 3 files changed",
            "The gauge is read twice",
        ),
        ("The gauge is read twice; 3 files changed; so is the pier", None),
        ("3 files changed; 4 insertions(+)", "4 insertions(+)"),
    ],
)
def test_reports_at_the_ends_of_a_list_are_left_out(sentence: str, left: str | None) -> None:
    assert without_outer_reports(sentence) == (sentence if left is None else left)
