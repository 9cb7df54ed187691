"""Whether asking on finds what one recall misses, and whether it makes anything up.

A bank is made in which every answer lies in two records that share nothing but a name: who wrote
what, and where that runs. Each question is asked with and without rounds after the first, and so
are questions like them that nothing answers: of another person's work, of a thing that person did
not make, of a property that nobody told. Then the questions of the sets in $HOLDFAST_BENCH_DATA are
put to their own bank and to another, as in `abstention`.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tests.support.transcripts import Script

from bench.corpus import data_folder, unpacked
from bench.reranker import QUESTIONS, SETS
from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.evaluation.sets import load_set, open_home, read_set, sample_evenly
from holdfast.app.memory import Holdfast
from holdfast.model.query import Answer
from holdfast.settings import Settings, load_settings

PEOPLE = "Maria Ben Olga Tariq Ines Jonas Priya Felix Anouk Mateo Saskia Ravi".split()
THINGS = "mailer importer scheduler exporter indexer renderer uploader watcher".split()
NAMES = (
    "tidegauge lampwick drydock spindrift halyard capstan bowsprit gunwale bilgepump keelson "
    "mizzenmast forecastle topgallant windlass binnacle taffrail scupper bulkhead fairlead thwart"
).split()
HOSTS = "heron osprey curlew plover dunlin redshank avocet whimbrel turnstone sanderling".split()
COUNT = 20


class Fact(NamedTuple):
    """Who wrote what under which name, and where it runs."""

    person: str
    thing: str
    name: str
    host: str


class Outcome(NamedTuple):
    """A question, whether it can be answered, and what came with one round and with more."""

    answer: str
    first: Answer
    whole: Answer
    seconds: tuple[float, float]


def facts() -> list[Fact]:
    """Each person has written each kind of thing at most once."""
    draw = random.Random(7)
    pairs = draw.sample([(p, t) for p in PEOPLE for t in THINGS], COUNT)
    return [
        Fact(*pair, name, f"{draw.choice(HOSTS)}-{n:02d}")
        for n, (pair, name) in enumerate(zip(pairs, NAMES, strict=True))
    ]


def make_bank(folder: Path, known: Sequence[Fact]) -> Holdfast:
    """Two sessions a fact, weeks apart, among others that speak of the same kinds of things."""
    start = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
    said: list[tuple[str, str]] = []
    for fact in known:
        said.append((
            f"Who takes the {fact.thing}?",
            f"{fact.person} wrote the {fact.thing}; it is called {fact.name} in the tree.",
        ))  # fmt: skip
        said.append((
            f"Move {fact.name} off the old machine.",
            f"Done: {fact.name} runs on host {fact.host} from today on.",
        ))  # fmt: skip
        said.append((
            f"Please tidy up the {fact.thing} tests.",
            f"The {fact.thing} tests run on the build host without warnings now.",
        ))  # fmt: skip
    random.Random(11).shuffle(said)
    for number, (asked, told) in enumerate(said):
        at = start + timedelta(days=3 * number)
        script = Script(f"{number:08x}-0000-4000-8000-000000000001", start=at)
        script.user(asked)
        script.assistant(told)
        script.write(folder / "p")
    memory = Holdfast(Settings(home=folder / "home", claude_dir=folder, embed_model="none"))
    memory.ingest(memory.ingestion.find([folder / "p"]))
    return memory


def questions(known: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    """Questions, each with a word of its answer, or "" where there is none."""
    made = {(fact.person, fact.thing) for fact in known}
    for fact in known:
        yield f"On which host does the {fact.thing} that {fact.person} wrote run?", fact.host
        other = next(t for t in THINGS if (fact.person, t) not in made)
        yield f"On which host does the {other} that {fact.person} wrote run?", ""
        yield f"Which licence does the {fact.thing} that {fact.person} wrote have?", ""
        yield f"On which host does the {fact.thing} that Wilhelmina wrote run?", ""


def constructed() -> list[Outcome]:
    """Ask the bank that was made."""
    known = facts()
    with tempfile.TemporaryDirectory() as folder, make_bank(Path(folder), known) as memory:
        return [_asked(memory, question, answer) for question, answer in questions(known)]


def _answer(memory: Holdfast, options: AskOptions) -> Answer:
    """The answer without a research session."""
    *_, last = steps(memory.context, memory.search, options)
    assert last.answer is not None
    return last.answer


def _asked(memory: Holdfast, question: str, answer: str, bank: str = "all") -> Outcome:
    began = time.perf_counter()
    first = _answer(memory, AskOptions(question, bank, rounds=1))
    between = time.perf_counter()
    whole = _answer(memory, AskOptions(question, bank))
    return Outcome(answer, first, whole, (between - began, time.perf_counter() - between))


def run() -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    found = constructed()
    good = [one for one in found if one.answer]
    none = [one for one in found if not one.answer]
    by_one = sum(one.answer in one.first.answer for one in good)
    by_more = sum(one.answer in one.whole.answer for one in good)
    made_up = sum(_gained(one) for one in none)
    seconds = sorted(one.seconds[1] for one in found)
    yield f"research: two records: one recall finds {by_one} of {len(good)}, more find {by_more}"
    yield (
        f"research: of {len(none)} questions without an answer {made_up} gained one or trust by "
        f"asking on; {seconds[len(seconds) // 2] * 1000:.0f} ms a question (median), "
        f"{seconds[-1] * 1000:.0f} at most"
    )
    for name in SETS:
        archive = f"eval/{name}.tar.xz"
        with unpacked(archive) as folder:
            if folder is None:
                yield f"research: {name}: skipped, {archive} is not in {data_folder()}"
                continue
            yield _line(name, folder)


def _gained(one: Outcome) -> bool:
    """Whether rounds after the first gave an answer, or made one look surer."""
    return one.whole.confidence is not one.first.confidence


def _line(name: str, folder: Path) -> str:
    wanted = read_set(folder)
    banks = wanted.banks
    count = int(os.environ.get("HOLDFAST_BENCH_QUESTIONS", QUESTIONS)) or None
    own: list[Outcome] = []
    foreign: list[Outcome] = []
    with open_home(load_settings()) as memory:
        load_set(memory, wanted, with_vectors=True)
        for question in sample_evenly(wanted.questions, count):
            other = banks[(banks.index(question.bank) + 1) % len(banks)]
            own.append(_asked(memory, question.text, "", question.bank))
            foreign.append(_asked(memory, question.text, "", other))
    return (
        f"research: {name}: {len(own)} questions; in their own bank {_sum(own)}; "
        f"in another {_sum(foreign)}"
    )


def _sum(outcomes: Sequence[Outcome]) -> str:
    surer = sum(_gained(one) and not one.first.abstained for one in outcomes)
    answered = sum(one.first.abstained and not one.whole.abstained for one in outcomes)
    abstained = sum(one.whole.abstained for one in outcomes)
    return f"{abstained} abstained, {answered} answered only by asking on, {surer} made surer"


if __name__ == "__main__":
    for line in run():
        print(line, flush=True)
