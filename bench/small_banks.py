"""Whether `ask` answers what a small bank knows and abstains from what it does not.

The questions of `bench/data/abstention` are put to small made-up banks and to the sample sessions:
paraphrases that share few words with their answer, questions on which a bank has nothing, and
questions that name another thing than the bank does. Thresholds are chosen on `tuning.json`;
`held_back.json` is only asked to report (`python -m bench.small_banks held_back`). With the
cross-encoder of the settings ($HOLDFAST_RERANKER) it is measured with and without it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.transcripts import Script

from holdfast.app.answers.ask import AskOptions, steps
from holdfast.app.memory import Holdfast
from holdfast.model.query import Answer
from holdfast.settings import NO_MODEL, Settings, load_settings

DATA = Path(__file__).parent / "data" / "abstention"
SAMPLES = Path(__file__).parents[1] / "examples" / "sessions"


class Asked(NamedTuple):
    """A question, a word of its answer ("" if there is none), its kind, and what came."""

    bank: str
    question: str
    expected: str
    kind: str
    came: Answer

    @property
    def contains_answer(self) -> bool:
        """Whether the expected word is in the answer."""
        return self.expected.lower() in self.came.answer.lower()


def make_banks(folder: Path, data: dict[str, Any], settings: Settings) -> Holdfast:
    """A memory with the banks of a file, embedded if a model is chosen."""
    at = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)
    number = 0
    for name, bank in data["banks"].items():
        for session in bank.get("sessions", ()):
            number += 1
            at += timedelta(days=1)
            id = f"{number:08x}-0000-4000-8000-000000000001"
            script = Script(id, cwd=f"/home/dev/{name}", start=at)
            for role, text in session:
                script.user(text) if role == "user" else script.assistant(text)
            script.write(folder / "projects")
    memory = Holdfast(replace(settings, home=folder / "home", claude_dir=folder))
    memory.ingest(memory.ingestion.find([folder / "projects", SAMPLES]))
    for name, bank in data["banks"].items():
        for text in bank.get("remembered", ()):
            memory.remember(text, name)
    if settings.embed_model != NO_MODEL:
        memory.ingestion.embed()
    return memory


def ask_all(name: str, settings: Settings) -> list[Asked]:
    """Every question of a file, with its answer."""
    data = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        make_banks(Path(folder), data, settings) as memory,
    ):
        return [
            Asked(q["bank"], q["question"], q["answer"] or "", q["kind"], _ask(memory, q))
            for q in data["questions"]
        ]


def _ask(memory: Holdfast, question: dict[str, str]) -> Answer:
    """The answer without a research session."""
    *_, last = steps(
        memory.context, memory.search, AskOptions(question["question"], question["bank"])
    )
    assert last.answer is not None
    return last.answer


def run(name: str = "tuning") -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    chosen = load_settings()
    without = replace(chosen, rerank_model=NO_MODEL)
    yield from _lines(
        f"{name}, by words alone", ask_all(name, replace(without, embed_model=NO_MODEL))
    )
    yield from _lines(name, ask_all(name, without))
    if chosen.rerank_model not in ("", NO_MODEL):
        yield from _lines(f"{name}, with the cross-encoder", ask_all(name, chosen))


def _lines(label: str, asked: Sequence[Asked]) -> Iterator[str]:
    known = [one for one in asked if one.expected]
    unknown = [one for one in asked if not one.expected]
    answered = [one for one in known if not one.came.abstained]
    right = sum(one.contains_answer for one in answered)
    yield (
        f"small banks: {label}: answered {len(answered)} of {len(known)} that the bank knows "
        f"({right} with the right words)"
    )
    for kind in sorted({one.kind for one in unknown}):
        of_kind = [one for one in unknown if one.kind == kind]
        abstained = sum(one.came.abstained for one in of_kind)
        yield f"small banks: {label}: abstained from {abstained} of {len(of_kind)} {kind} ones"


if __name__ == "__main__":
    for line in run(*sys.argv[1:2]):
        print(line, flush=True)
