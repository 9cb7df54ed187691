"""Whether recall knows when it has nothing to say: the precision and recall of abstaining.

Every question of a set is put to the bank that it belongs to, where abstaining is wrong, and to
another bank of the set, where it is right. What a set itself marks as unanswerable is told apart:
there the bank does speak of the matter. Wants the sets in $HOLDFAST_BENCH_DATA; of each,
$HOLDFAST_BENCH_QUESTIONS questions are asked (100 unless told; 0 for all), evenly over the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.corpus import data_folder, unpacked
from bench.reranker import QUESTIONS, SETS
from holdfast.app.evaluation.sets import load_set, open_home, read_set, sample_evenly
from holdfast.recall.core.plan import RecallPlan
from holdfast.settings import load_settings


class Asked(NamedTuple):
    """A question put to a bank, whether that bank can answer it, and whether recall abstained."""

    own: bool
    answerable: bool
    abstained: bool


def run() -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    for name in SETS:
        archive = f"eval/{name}.tar.xz"
        with unpacked(archive) as folder:
            if folder is None:
                yield f"abstention: {name}: skipped, {archive} is not in {data_folder()}"
                continue
            yield from _lines(name, ask(folder))


def ask(folder: Path) -> list[Asked]:
    """Ask one set, each question twice."""
    wanted = read_set(folder)
    banks = wanted.banks
    count = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", QUESTIONS)) or None
    found: list[Asked] = []
    with open_home(load_settings()) as memory:
        load_set(memory, wanted, with_vectors=True)
        for question in sample_evenly(wanted.questions, count):
            # The next one round: as often as not it is about the same kind of thing.
            other = banks[(banks.index(question.bank) + 1) % len(banks)]
            for bank in (question.bank, other):
                own = bank == question.bank
                abstained = memory.search.rank(question.text, bank, RecallPlan()).abstains
                found.append(Asked(own, own and not question.unanswerable, abstained))
    return found


def _lines(name: str, asked: Sequence[Asked]) -> Iterator[str]:
    told_apart = [one for one in asked if one.answerable or not one.own]
    abstained = [one for one in told_apart if one.abstained]
    foreign = [one for one in told_apart if not one.answerable]
    answered = [one for one in told_apart if one.answerable and not one.abstained]
    right = sum(not one.answerable for one in abstained)
    yield (
        f"abstention: {name}: precision {_share(right, len(abstained))}, "
        f"recall {_share(right, len(foreign))}; answered where an answer is: "
        f"{_share(len(answered), len(told_apart) - len(foreign))}"
    )
    near = [one for one in asked if one.own and not one.answerable]
    if near:
        refused = sum(one.abstained for one in near)
        yield f"abstention: {name}: of {len(near)} it marks as unanswerable, {refused} refused"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} of {whole}" if whole else "none"


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
