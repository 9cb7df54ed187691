"""Of an agent's summary the sections are read that say what to remember."""

from __future__ import annotations

import pytest

from holdfast.refine.distil.statements import find_statements
from holdfast.refine.distil.summary_sections import Section, read_sections

NUMBERED = """1. Primary Request and Intent:
   The user wants rows to be read once.

2. Key Technical Concepts:
   - The retry wrapper reads rows lazily

3. Files and Code Sections:
   - `rows.py`
     1. Errors are raised here

4. Errors and fixes:
   - Rows came twice. Fixed by dropping the wrapper.
   1. The second error: none.

5. Problem Solving:
   Both readers share one cursor.

6. All user messages:
   - "never read twice"

7. Pending Tasks:
   - Measure it

8. Current Work:
   Measuring."""


def test_concepts_fixes_solutions_and_pending_tasks_are_read() -> None:
    assert read_sections(NUMBERED) == [
        (Section.KNOWLEDGE, "- The retry wrapper reads rows lazily"),
        (
            Section.FIXES,
            "- Rows came twice. Fixed by dropping the wrapper.\n   1. The second error: none.",
        ),
        (Section.KNOWLEDGE, "Both readers share one cursor."),
        (Section.PENDING, "- Measure it"),
    ]


def test_what_people_said_and_asked_is_not_taken_from_a_summary() -> None:
    assert "never read twice" not in str(read_sections(NUMBERED))
    assert "The user wants" not in str(read_sections(NUMBERED))


@pytest.mark.parametrize(
    "title",
    ["## Errors and Fixes", "4. **Errors and Fixes:**", "**Errors and fixes**:", "### 4. Errors"],
)
def test_a_title_may_be_written_in_any_form(title: str) -> None:
    text = f"## Goal\nRows.\n{title}\nRows came twice.\n## Relevant files\nrows.py"
    assert read_sections(text) == [(Section.FIXES, "Rows came twice.")]


def test_a_section_may_begin_on_the_line_of_its_title_or_be_empty() -> None:
    text = "4. **Key decisions:** One cursor.\n\n7. **Pending Tasks:** None.\n\n8. Current Work: x"
    assert read_sections(text) == [(Section.KNOWLEDGE, "One cursor.")]


def test_the_name_of_an_item_stands_above_it() -> None:
    text = (
        "5. Problem Solving:\n- **Rows came twice (CURRENT)**: The wrapper retried. Fixed by one."
    )
    ((section, body),) = read_sections(text)
    assert (section, body) == (
        Section.KNOWLEDGE,
        "#### Rows came twice\n\nThe wrapper retried. Fixed by one.",
    )
    stated = {(s.lead, s.text) for s in find_statements(body)}
    assert ("Rows came twice", "The wrapper retried.") in stated


def test_a_heading_below_a_title_is_a_part_of_its_section() -> None:
    text = "## Discoveries\n### Cache\nIt is cleared at six.\n## Files\n### rows.py\nRead once."
    assert read_sections(text) == [(Section.KNOWLEDGE, "### Cache\nIt is cleared at six.")]


def test_an_item_that_is_not_fixed_is_left_out() -> None:
    text = (
        "4. Errors and fixes:\n- **Task 3 - UNFIXED**: Rows are lost.\n  - In two tables.\n"
        "- **Twice**: Rows came twice."
    )
    assert read_sections(text) == [(Section.FIXES, "#### Twice\n\nRows came twice.")]


def test_how_the_agent_used_its_own_tools_is_left_out() -> None:
    text = (
        "4. Errors and fixes:\n- **Write error**: File has not been read yet, so I read it.\n"
        "- Rows came twice.\n- Looked in the wrong directory first."
    )
    assert read_sections(text) == [(Section.FIXES, "- Rows came twice.")]


@pytest.mark.parametrize("text", ["", "SCRIPTED SUMMARY of the conversation.", "Errors happened."])
def test_a_summary_without_sections_has_none(text: str) -> None:
    assert read_sections(text) == []
