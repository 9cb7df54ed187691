"""Whether confidence means something: how often answers of each confidence contain the answer.

Questions of the sets in $HOLDFAST_BENCH_DATA are put to the bank that holds the answer and to
another bank of the set, those of `bench/data/abstention` to small made-up banks. An answer contains
what was asked for if one of its citations is, or is made of, a turn (or a session) that the set
names as evidence; for the small banks, if it has the expected word. Thresholds are chosen on every
other question of a set and on `tuning.json`; `python -m bench.confidence held_back` asks the rest,
only to report. All questions are asked, or $HOLDFAST_BENCH_QUESTIONS of each set. Beside each share
stands the lower end of its interval (Wilson, 90% to one side): few answers say little.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench import small_banks
from bench.corpus import data_folder, unpacked
from bench.reranker import SETS
from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.evaluation.sets import Question, load_set, open_home, read_set, sample_evenly
from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import Memory
from holdfast.model.query import Answer, Confidence
from holdfast.model.records import Exchange, Turn
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.settings import load_settings

HALVES = ("tuning", "held_back")
# Of answers with this confidence, at least so many should contain the answer.
WANTED = {Confidence.HIGH: 0.90, Confidence.MEDIUM: 0.65}


class Asked(NamedTuple):
    """The confidence of an answer, and whether it contains what was asked for."""

    confidence: Confidence
    is_right: bool


def run(half: str = "tuning") -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    everything: list[Asked] = []
    for name in SETS:
        archive = f"eval/{name}.tar.xz"
        with unpacked(archive) as folder:
            if folder is None:
                yield f"confidence: {name}: skipped, {archive} is not in {data_folder()}"
                continue
            asked = ask_set(folder, half)
        yield from _lines(f"{name}, {half}", asked)
        everything += asked
    asked = [
        Asked(one.came.confidence, bool(one.expected) and one.contains_answer)
        for one in small_banks.ask_all(half, load_settings())
    ]
    yield from _lines(f"small banks, {half}", asked)
    yield from _lines(f"all, {half}", everything + asked)


def ask_set(folder: Path, half: str) -> list[Asked]:
    """Every other question of a set, to its own bank and to the next one."""
    wanted = read_set(folder)
    banks = wanted.banks
    count = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", "0")) or None
    questions = sample_evenly(wanted.questions[HALVES.index(half) :: 2], count)
    found: list[Asked] = []
    with open_home(load_settings()) as memory:
        load_set(memory, wanted, with_vectors=True)
        for question in questions:
            other = banks[(banks.index(question.bank) + 1) % len(banks)]
            answer = _ask(memory, question.text, question.bank)
            found.append(Asked(answer.confidence, _contains(memory, question, answer)))
            found.append(Asked(_ask(memory, question.text, other).confidence, is_right=False))
    return found


def _ask(memory: Holdfast, question: str, bank: str) -> Answer:
    *_, last = steps(memory.context, memory.search, AskOptions(question, bank))
    assert last.answer is not None
    return last.answer


def _contains(memory: Holdfast, question: Question, answer: Answer) -> bool:
    """Whether a citation is of the evidence that the set names."""
    bank = memory.context.bank_id(question.bank) or ""
    return not question.unanswerable and any(
        _is_evidence(memory, question, bank, citation.uri) for citation in answer.citations
    )


def _is_evidence(memory: Holdfast, question: Question, bank: str, uri: str) -> bool:
    reader, record = memory.reader, find_by_uri(memory.reader, bank, uri)
    name = str(getattr(record, "session", ""))
    session = reader.sessions.get(bank, name) if name else None
    if session is not None and session.host in question.gold_sessions:
        return True
    if isinstance(record, Memory):
        sources = [one for one in record.evidence_for if one != uri]
        return any(_is_evidence(memory, question, bank, one) for one in sources)
    turns: list[Turn] = []
    if isinstance(record, Turn):
        turns = [record]
    elif isinstance(record, Exchange):
        turns = reader.turns.of_session(bank, record.session, record.first_seq, record.last_seq)
    return any(turn.origin.ref in question.gold for turn in turns)


def lower_end(right: int, of: int, z: float = 1.28) -> float:
    """The lower end of the Wilson interval of a share."""
    share, spread = right / of, z * z / of
    middle = share + spread / 2
    return (middle - z * math.sqrt(share * (1 - share) / of + spread / of / 4)) / (1 + spread)


def _lines(label: str, asked: Sequence[Asked]) -> Iterator[str]:
    for level in (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW):
        right = [one.is_right for one in asked if one.confidence is level]
        share = "none"
        if right:
            share = f"{sum(right) / len(right):.2f} (from {lower_end(sum(right), len(right)):.2f})"
        wanted = f" (wanted {WANTED[level]:.2f})" if level in WANTED else ""
        yield f"confidence: {label}: {level.value}: {share} of {len(right)} contain it{wanted}"


if __name__ == "__main__":
    for line in run(*sys.argv[1:2]):
        print(line, flush=True)
