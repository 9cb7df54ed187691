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


def test_a_report_of_work_is_no_recap() -> None:
    turns = talk(LIMIT)
    edit = replace(
        turns[-1], id="edit", seq=10, text="", role=Role.TOOL,
        tool=ToolCall("Edit", "export.py", ok=True),
    )  # fmt: skip
    assert find_recaps([*turns[:-1], edit, replace(turns[-1], seq=11)]) == []


RECAP = LIMIT[-1][1]


WORK = "Let me check the export: Now let me look at the mail: Let me update the bucket: "


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
