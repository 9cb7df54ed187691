from __future__ import annotations

import pytest

from holdfast.refine.distil.standalone import standalone
from holdfast.refine.distil.statements import LIMITS, blocks, find_statements

REPLY = """\
Fixed.

## Root cause
The cache kept its old key, so every second request missed. The expiry was never read.

What changed:
- `cache.py` now derives the key from the tenant
- The expiry is read at start-up
  and again after a reload

```python
key = make_key()  # not a statement
```

| file | change |
|---|---|
| cache.py | key by tenant |
"""


def test_headings_and_lines_with_a_colon_lead_what_stands_below_them() -> None:
    found = {block.text: (block.heading, block.lead, block.is_item) for block in blocks(REPLY)}
    assert found["The expiry is read at start-up and again after a reload"] == (
        "Root cause",
        "What changed:",
        True,
    )
    assert found["cache.py — key by tenant"][2]
    assert not any("make_key" in text for text in found)


def test_a_statement_is_a_sentence_or_neighbours_that_belong_together() -> None:
    found = [s for s in find_statements(REPLY) if s.lead == "Root cause"]
    first = "The cache kept its old key, so every second request missed."
    second = "The expiry was never read."
    assert {s.text for s in found} == {first, second, f"{first} {second}"}
    pair = next(s for s in found if s.length == 2)
    assert pair.is_whole and not pair.is_item and pair.position == 1
    assert next(s for s in found if s.text == second).before == first


def test_of_a_very_long_text_the_start_and_the_end_are_read() -> None:
    text = "The first matter is settled by now.\n\n" + "x" * (3 * LIMITS.max_text_chars)
    text += "\n\nThe last matter is settled as well."
    found = {s.text for s in find_statements(text)}
    assert {"The first matter is settled by now.", "The last matter is settled as well."} <= found
    assert all(len(one) <= LIMITS.max_chars for one in found)


def test_words_are_kept_as_they_are_written() -> None:
    (found,) = find_statements("`__init__.py` sets 1024**3 and a mask of `***` for secrets")
    assert found.text == "`__init__.py` sets 1024**3 and a mask of `***` for secrets"


NESTED = """\
Practical path:
1. **High – the lookup masks the error**
   - In the handler it is read before the error is sorted.
   - If it fails, the state of the row is never written.
2. Mark the package as deprecated.
   It stays as a shim.

The agreed name was recorded in the tracker.
"""


def test_an_item_below_another_is_led_by_it() -> None:
    leads = {s.text: s.lead for s in find_statements(NESTED)}
    above = "High – the lookup masks the error"
    assert leads["In the handler it is read before the error is sorted."] == above
    assert leads["If it fails, the state of the row is never written."] == above
    assert leads["Mark the package as deprecated. It stays as a shim."] == "Practical path"


def test_the_lead_of_a_list_ends_with_the_list() -> None:
    leads = {s.text: s.lead for s in find_statements(NESTED)}
    assert leads["The agreed name was recorded in the tracker."] == ""


def test_a_line_with_a_colon_leads_the_paragraph_below_it() -> None:
    found = find_statements("The cause:\n\nThe wrapper read each row twice.")
    assert [(s.text, s.lead) for s in found][-1] == (
        "The wrapper read each row twice.",
        "The cause",
    )


def test_what_introduces_code_does_not_lead_what_follows_it() -> None:
    text = "Uninstall:\n```bash\nuv tool uninstall it\n```\n\nThe tool works from any directory."
    assert [s.lead for s in find_statements(text) if s.text.startswith("The tool")] == [""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**1. Backend Cache** — Redis holds sessions.", "Backend Cache — Redis holds sessions."),
        ("- **It was stale. It is mended now** and fast.", "It is mended now and fast."),
        (
            "- **Backend Cache** — Redis holds sessions.",
            "**Backend Cache** — Redis holds sessions.",
        ),
        ("Limit is 1024**3. Pass **options to f(*a,**k).", "Pass **options to f(*a,**k)."),
    ],
)
def test_no_mark_of_bold_words_stands_alone(text: str, expected: str) -> None:
    found = [statement.text for statement in find_statements(text)]
    assert expected in found
    assert all(one.count("**") != 1 or "1024**3" in one for one in found)


def test_a_lead_loses_its_number_and_both_marks_of_bold_words() -> None:
    found = find_statements("**2. Backend Cache** holds:\n\n- the sessions of users for a day")
    assert standalone(found[-1]) == "Backend Cache holds: The sessions of users for a day"


def test_a_line_of_a_frame_is_no_statement() -> None:
    text = (
        "`★ Insight ─────────────────────`\nThe guard comes before the lookup of the ledger, so "
        "the list of orders stays empty.\n`─────────────────────`"
    )
    assert [one.text for one in find_statements(text)] == [
        "The guard comes before the lookup of the ledger, so the list of orders stays empty."
    ]


def test_a_fence_that_nothing_closes_leaves_no_lead_without_a_sentence() -> None:
    text = (
        "```\n```bash\n```\n```diff\n      # Make a flat copy of each order for the printer\n"
        '      print("Test 1: Converting the flat orders of the depot to labels of the printer")\n'
        "      try:\n-         # Print the first of them by hand"
    )
    assert [one.lead for one in find_statements(text)] == ["", ""]


def test_code_without_a_fence_is_no_statement_nor_is_a_comment_in_it() -> None:
    text = (
        "The reader of the ledger is unhappy now:\n\n"
        "    rows = Table(columns=NAMES)\n    # Not opened before the first row is read.\n"
        "    rows.total = rows.sum(0)\n    assert not rows.is_open\n\n"
        "It must stay closed until the first row is read."
    )
    assert [one.text for one in find_statements(text)] == [
        "The reader of the ledger is unhappy now:",
        "It must stay closed until the first row is read.",
    ]
