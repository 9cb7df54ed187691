"""What a person lays down in the course of `bench.year`, and what the memory makes of it by month.

Eight matters (rules, decisions, statements of fact) are said in short sessions of the largest bank,
and five of them are later said otherwise. At the end of each month, the start brief of the bank,
`ask` and `recall` are judged by the words that only one of the statements has.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tests.support.transcripts import Script

from holdfast.app.memory import Holdfast

# The day of a month on which something is said, early enough for its measurements.
DAY_OF_MONTH = 3
# Hits of a recall that a person reads.
_READ = 3


class Said(NamedTuple):
    """A statement: the month in which it is made, and words that no other has."""

    month: int
    text: str
    words: str


class Matter(NamedTuple):
    """A question, and what was said of it, the last statement being the valid one."""

    question: str
    said: tuple[Said, ...]

    def by(self, month: int) -> list[Said]:
        """What was said up to the end of a month."""
        return [said for said in self.said if said.month <= month]


MATTERS = (
    Matter(
        "What must be run before a push?",
        (
            Said(
                1, "From now on, always run `make gate` before you push.", "always run `make gate`"
            ),
            Said(
                5,
                "Do not run `make gate` before a push any more. Always run `make preflight` "
                "before you push.",
                "make preflight",
            ),
        ),
    ),
    Matter(
        "When must nothing be deployed?",
        (Said(2, "Never deploy on a Friday after 15:00.", "Friday after 15:00"),),
    ),
    Matter(
        "Where are login sessions cached?",
        (
            Said(1, "We decided to cache login sessions in Redis.", "sessions in Redis"),
            Said(
                4,
                "We decided to cache login sessions in Valkey instead of Redis.",
                "sessions in Valkey",
            ),
        ),
    ),
    Matter(
        "In which format is the nightly export written?",
        (
            Said(3, "Decision: the nightly export is written as Parquet.", "as Parquet"),
            Said(
                9,
                "New decision: the nightly export is written as Arrow files, no longer as Parquet.",
                "as Arrow files",
            ),
        ),
    ),
    Matter(
        "On which port does the staging database listen?",
        (
            Said(2, "The staging database listens on port 5433.", "port 5433"),
            Said(
                6,
                "Correction: the staging database listens on port 6432, not 5433.",
                "port 6432",
            ),
        ),
    ),
    Matter(
        "After how many attempts does the billing client give up?",
        (
            Said(7, "The billing client gives up after four attempts.", "after four attempts"),
            Said(
                10,
                "That was wrong: the billing client gives up after six attempts, not four.",
                "after six attempts",
            ),
        ),
    ),
    Matter(
        "With which tool are page load times measured?",
        (Said(6, "We decided to measure page load times with Lighthouse.", "with Lighthouse"),),
    ),
    Matter(
        "How must the names of feature flags start?",
        (Said(8, "Names of feature flags must always start with `ff_`.", "`ff_`"),),
    ),
)


def said_in(month: int) -> list[Said]:
    """What is said in a month."""
    return [said for matter in MATTERS for said in matter.said if said.month == month]


def write_plant(projects: Path, said: Said, session: str, folder: str, start: datetime) -> Path:
    """A short session in which a person lays something down and then has something else done."""
    script = Script(session=session, cwd=folder, start=start)
    script.user(said.text)
    script.assistant("Understood.")
    script.user("Now make the date test pass.")
    script.assistant("The date test compared local time with UTC. It compares UTC now and passes.")
    return script.write(projects)


class Judgement(NamedTuple):
    """How many matters there are, how many of them the brief, an answer and a recall tell as they
    are valid, and how many each tells as they were before."""

    matters: int
    brief: int
    brief_replaced: int
    ask: int
    ask_replaced: int
    recall: int
    recall_replaced: int


def judge(memory: Holdfast, bank: str, month: int) -> Judgement:
    """Judge what the memory tells at the end of a month."""
    lines = memory.briefs.session_brief(bank).text.splitlines()
    told, asked, found = list[set[bool]](), list[set[bool]](), list[set[bool]]()
    for matter in MATTERS:
        if said := matter.by(month):
            told.append(verdicts(said, lines))
            asked.append(verdicts(said, [memory.ask(matter.question, bank).answer]))
            hits = memory.recall(matter.question, bank).hits[:_READ]
            valid = [hit.text for hit in hits if not hit.how_it_ended]
            found.append(verdicts(said, valid))
    counts = [
        sum(is_valid in one for one in of)
        for of in (told, asked, found)
        for is_valid in (True, False)
    ]
    return Judgement(len(told), *counts)


def verdicts(said: Sequence[Said], texts: Sequence[str]) -> set[bool]:
    """Whether texts tell a matter as it is valid, as it was before, or both. A text with the words
    of both tells what is valid."""
    told = set[bool]()
    for text in texts:
        if said[-1].words in text:
            told.add(True)
        elif any(earlier.words in text for earlier in said[:-1]):
            told.add(False)
    return told
