"""No line is told twice in a session."""

from __future__ import annotations

from typing import Any

from holdfast.hosts.claude_code.scripts.told_once import without_told

RULE = (
    "Never retry a 4xx: they block addresses for that, and it took us the whole of a day to be let "
    "in again, with a letter that had to be signed."
)
OTHER = "Keys are in UTC."
START = {"kind": "start", "text": f"Decided here\n- 2026-09-04 user: “{RULE}” (fact/10129f58)\n"}
GOAL = f"""<holdfast-brief id="goal-1">
From Holdfast, the memory of this project.

- 2026-09-04, in “Retries”
  user: “{RULE}”
  files: src/fetch.py; source: holdfast://exchange/1
- 2026-10-27, in “Alerts”
  user: “{OTHER}”
  This replaces 2026-09-01: “Keys are in local time.”
  source: holdfast://exchange/2
`holdfast show URI` opens a source.
</holdfast-brief>"""
FILE = f"""<holdfast-brief id="file-1">
Holdfast, about src/fetch.py: decided on 2026-09-04.
- user: “{RULE}” (holdfast://exchange/1)
</holdfast-brief>"""


def test_what_the_start_told_is_a_reminder_in_what_comes_later() -> None:
    text = without_told(GOAL, [START])
    assert RULE not in text and OTHER in text
    reminder = "- as this session was told before: “Never retry a 4xx: they block addresses"
    lines = text.split("\n")
    assert lines[-3].startswith(reminder) and lines[-3].endswith(" …”")
    assert lines[:3] == GOAL.split("\n")[:3] and lines[-2:] == GOAL.split("\n")[-2:]
    assert "holdfast://exchange/1" not in text and "holdfast://exchange/2" in text


def test_a_file_note_repeats_neither_the_start_nor_the_goal() -> None:
    for before in (START, {"kind": "goal", "text": GOAL}):
        text = without_told(FILE, [before])
        assert RULE not in text and "about src/fetch.py" in text and "told before: “Never" in text


def test_what_is_new_stays_as_it_is() -> None:
    assert without_told(GOAL, []) == GOAL
    cut = {"kind": "start", "text": f"- “{RULE[:40]} …”"}
    assert without_told(GOAL, [cut]) == GOAL


def test_what_was_told_before_a_compaction_is_told_again() -> None:
    before: list[Any] = [START, {"kind": "goal", "text": GOAL}, {"kind": "start", "text": "-"}]
    assert without_told(FILE, before) == FILE


def test_the_rest_of_a_message_stays_of_which_the_session_was_told_the_rule() -> None:
    text = without_told(FILE.replace(RULE, f"{RULE} Except for 429."), [START])
    assert RULE not in text and " … Except for 429.”" in text and "“Never retry a 4xx" in text


def test_a_message_of_which_little_was_told_is_told() -> None:
    long = FILE.replace(RULE, f"{OTHER} {RULE}")
    assert without_told(long, [{"kind": "start", "text": f"“{OTHER}”"}]) == long


def test_an_entry_is_told_in_whole_if_any_quote_of_it_is_new() -> None:
    both = FILE.replace("” (", f"” “{OTHER}” (")
    assert without_told(both, [START]) == both
