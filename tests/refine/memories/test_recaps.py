"""What a conversation came to is found by what it is: a restatement of what both sides said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.recaps import read_matters

from holdfast.app.memory import Holdfast
from holdfast.model.records import Role, ToolCall, Turn
from holdfast.model.trust import Trust
from holdfast.refine.memories.recaps import find_recaps
from holdfast.settings import Settings
from tests.support.transcripts import Script

LIMIT = [
    ("user", "Exports of big accounts time out. Nobody gets their CSV above 50,000 rows."),
    ("assistant", "I could raise the gateway timeout to 10 minutes for `/export`."),
    ("user", "No, the gateway is shared, ops refused that last year."),
    ("assistant", "Then a background job: the page answers at once, a mail has the link."),
    ("user", "Fine. But small ones should stay as they are, people like the instant download."),
    ("assistant", "Where is the border? 5,000 rows take about 4 seconds."),
    ("user", "5,000 then. And how long does the link work?"),
    ("assistant", "24 hours is what the bucket does, `exports-tmp`."),
    ("user", "Too short over a weekend, make it 72."),
    (
        "assistant",
        "Up to 5,000 rows the download stays instant. Above that it runs as a background job and "
        "the mail carries a link to `exports-tmp` that works for 72 hours; the gateway timeout is "
        "left alone.",
    ),
]


def talk(turns: list[tuple[str, str]]) -> list[Turn]:
    return [
        Turn(
            "bank",
            f"t{n}",
            "session",
            n,
            f"2026-03-02T09:{n:02}:00.000Z",
            Role(speaker),
            Trust.USER if speaker == "user" else Trust.ASSISTANT,
            text,
        )
        for n, (speaker, text) in enumerate(turns, start=1)
    ]


def test_a_restatement_without_any_phrase_is_the_recap() -> None:
    (found,) = find_recaps(talk([*LIMIT, ("user", "👍")]))
    assert found.text == LIMIT[-1][1]
    assert "10 minutes" not in found.whole


def test_a_list_of_ideas_that_was_asked_for_is_no_recap() -> None:
    asked = [*LIMIT[:-2], ("user", "72 then. What are the options, and their pros and cons?")]
    assert find_recaps(talk([*LIMIT, ("user", "👍")]))
    assert not find_recaps(talk([*asked, LIMIT[-1], ("user", "👍")]))


@pytest.mark.parametrize(
    "how",
    [
        f"Here's how to set it up. {LIMIT[-1][1]}",
        f"{LIMIT[-1][1]}\n\n1. Make the bucket:\n```\nmake bucket\n```\n\n2. Start the job:\n"
        "```\nmake job\n```\n",
    ],
)
def test_how_something_is_done_is_no_recap(how: str) -> None:
    assert not find_recaps(talk([*LIMIT[:-1], ("assistant", how), ("user", "Yes, great.")]))


def test_what_a_person_objects_to_is_no_recap() -> None:
    objection = ("user", "No, that is not it at all, the job must not send mails.")
    assert find_recaps(talk([*LIMIT, objection])) == []


def test_an_exception_said_afterwards_belongs_to_the_recap() -> None:
    more = [
        ("user", "Yes. When is it live?"),
        ("assistant", "Thursday."),
        ("user", "One more thing: partner accounts always get the job, whatever the size."),
        ("assistant", "Noted."),
    ]
    (found,) = find_recaps(talk([*LIMIT, *more]))
    assert found.whole.endswith(
        "Later in the same conversation: One more thing: partner accounts always get the job, "
        "whatever the size."
    )


@pytest.mark.parametrize(
    "said", ["Can you also look why the logs are empty?", "Please check the size of the bucket."]
)
def test_a_request_for_something_else_is_not_added(said: str) -> None:
    (found,) = find_recaps(talk([*LIMIT, ("user", "Yes."), ("user", said)]))
    assert found.added == ()


def test_a_report_of_work_is_no_recap() -> None:
    turns = talk(LIMIT)
    edit = replace(
        turns[-1], id="edit", seq=10, text="", role=Role.TOOL,
        tool=ToolCall("Edit", "export.py", ok=True),
    )  # fmt: skip
    assert find_recaps([*turns[:-1], edit, replace(turns[-1], seq=11)]) == []


RECAP = LIMIT[-1][1]


@pytest.mark.parametrize(
    "said",
    [
        f"I'm now changing the export: {RECAP}",
        f"Perfect! I've updated `export.py`. {RECAP}",
        f"Let me check the bucket first. {RECAP}",
        f"Not the gateway either. But look at the times: {RECAP}",
        f"## Todo List\n- [x] {RECAP}",
        f"| rows | way |\n|---|---|\n| 5,000 | {RECAP} |",
        "Export of 5,000 rows: gateway, background job, mail, `exports-tmp`, 72 hours, instant "
        "download, link.",
        "The problem of the gateway: 5,000 rows time out there, the background job and the mail "
        "with the link to `exports-tmp` fix it, and after 72 hours the download is gone.",
    ],
)
def test_what_an_agent_says_of_its_work_or_finds_out_is_no_recap(said: str) -> None:
    assert (
        find_recaps(talk([*LIMIT[:-1], ("assistant", said), ("user", "Which file is it?")])) == []
    )


@pytest.mark.parametrize(
    "said",
    [
        "Let's update the export: up to 5,000 rows the download stays instant, above that it runs "
        "as a background job, and the mail carries a link to `exports-tmp` for 72 hours.",
        "Perfect! Now let's keep the download instant up to 5,000 rows, run a background job "
        "above that, and send a link to `exports-tmp` that works for 72 hours.",
        "The timeout error occurs because exports above 5,000 rows do not run as a background job "
        "yet, so that the link to `exports-tmp` of 72 hours is never sent.",
        f"- {LIMIT[-1][1]}".replace(". Above", ".\n+ Above"),
        "const LIMIT = 5000; // up to 5,000 rows the download stays instant\nconst HOURS = 72; // "
        "only then the background job mails a link to `exports-tmp`",
    ],
)
def test_how_an_agent_goes_about_a_task_is_no_recap(said: str) -> None:
    assert not find_recaps(talk([*LIMIT[:-1], ("assistant", said), ("user", "👍")]))


@pytest.mark.parametrize(
    "opening",
    ["Okay, let's recap: ", "Perfect! Let's write it down: ", "Let's keep it like this. "],
)
def test_an_agent_may_announce_a_recap_by_lets(opening: str) -> None:
    said = opening + LIMIT[-1][1]
    assert find_recaps(talk([*LIMIT[:-1], ("assistant", said), ("user", "👍")]))


WORK = "Let me check the export: Now let me look at the mail: Let me update the bucket: "


def test_the_report_of_an_agent_that_announces_its_calls_is_no_recap() -> None:
    said = WORK + "\n\n" + LIMIT[-1][1]
    assert not find_recaps(talk([*LIMIT[:-1], ("assistant", said), ("user", "👍")]))


@pytest.mark.parametrize(
    "said",
    [
        "Please create a commit message that covers the background job, the 5,000 rows, the "
        "72 hours of the link, and the bucket `exports-tmp`.",
        "The background job has started, the mail with the link to `exports-tmp` arrived, 5,000 "
        "rows. Please show the gateway timeout of 72 hours.",
        "[info] export of 5,000 rows as a background job\n[info] mail with link to `exports-tmp` "
        "for 72 hours\n[info] gateway timeout left alone, always",
        '{"rows": 5000, "link": "only 72 hours", "bucket": "exports-tmp", "job": "background", '
        '"download": "instant up to 5,000 rows"}',
    ],
)
def test_orders_news_and_printed_lines_of_a_person_are_no_recap(said: str) -> None:
    assert not find_recaps(talk([*LIMIT[:-1], ("user", said)]))


def test_a_person_who_lays_down_the_whole_is_a_recap() -> None:
    said = (
        "Up to 5,000 rows the download stays instant. Above that it is a background job, and the "
        "mail has a link to `exports-tmp` that works for 72 hours, never longer."
    )
    (found,) = find_recaps(talk([*LIMIT[:-1], ("user", said), ("assistant", "Agreed.")]))
    assert found.text == said


@pytest.mark.parametrize(
    ("said", "reply", "settled"),
    [
        (RECAP, "👍", True),
        (RECAP, "Which file is it?", False),
        (f"So the rule is: {RECAP}", "Which file is it?", True),
    ],
)
def test_what_an_agent_alone_sums_up_is_no_decision(said: str, reply: str, settled: bool) -> None:
    (found,) = find_recaps(talk([*LIMIT[:-1], ("assistant", said), ("user", reply)]))
    assert found.is_settled is settled


def test_a_recap_is_shown_without_marks_of_bold() -> None:
    said = ("assistant", RECAP.replace("72 hours", "**72 hours**"))
    (found,) = find_recaps(talk([*LIMIT[:-1], said, ("user", "👍")]))
    assert found.text == RECAP


def test_a_monologue_has_no_recap() -> None:
    assert find_recaps(talk([("user", text) for _, text in LIMIT])) == []
    assert find_recaps(talk([LIMIT[0], *(("assistant", text) for _, text in LIMIT[1:])])) == []


def test_the_recaps_of_the_tuning_set_are_found() -> None:
    found = 0
    for matter in read_matters("tuning"):
        last = matter.conversations[-2]
        told = " ".join(one.whole for one in find_recaps(talk(list(last.turns))))
        found += all(" ".join(words.split()) in told for words in matter.must)
    assert found >= 19


def test_a_recap_is_retained_whole_in_place_of_its_sentences(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", bank="p", embed_model="none")
    script = Script("00000001-0000-4000-8000-000000000001")
    for speaker, text in [*LIMIT, ("user", "Yes, do it.")]:
        script.user(text) if speaker == "user" else script.assistant(text)
    script.write(tmp_path / "claude" / "projects")
    with Holdfast(settings) as memory:
        memory.ingest(memory.ingestion.find([tmp_path / "claude" / "projects"]))
        bank = memory.context.bank_id() or ""
        (recap,) = memory.reader.memories.recaps(bank)
        others = [m for m in memory.reader.memories.retained(bank) if m.id != recap.memory.id]
    assert recap.memory.what == LIMIT[-1][1]
    turn = recap.memory.evidence_for[1]
    assert not any(turn in one.evidence_for for one in others)
