"""Whether what was said is found in ten languages, and whether `ask` abstains from the rest.

`bench/data/languages` has a file for each language, written for it: thirty statements as developers
make them, each with a question that shares words with it and one in other words, and ten questions
that no statement answers. All thirty statements of a language are remembered in a bank of its own.
Whatever is chosen is chosen on the half marked `tuning`; `held_back` is only asked to report
(`python -m bench.languages held_back`).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from holdfast.app.memory import Holdfast
from holdfast.settings import NO_MODEL, Settings, load_settings

DATA = Path(__file__).parent / "data" / "languages"
LANGUAGES = ("ja", "ko", "zh", "ru", "de", "fr", "es", "pt", "it", "pl")
HALVES = ("tuning", "held_back")
# How many hits are looked at.
DEPTH = 5


class Question(NamedTuple):
    """A question of one half, its kind (sharing, paraphrased, unanswerable), and the statement that
    answers it; "" if none does."""

    half: str
    kind: str
    text: str
    statement: str = ""


class LanguageSet(NamedTuple):
    """What one file holds."""

    language: str
    statements: tuple[str, ...]
    questions: tuple[Question, ...]


class Asked(NamedTuple):
    """A question, whether its statement is among the first hits, and whether `ask` abstained."""

    question: Question
    found: bool
    abstained: bool


def read_language(language: str) -> LanguageSet:
    """The statements and questions of one language."""
    lines = (DATA / f"{language}.jsonl").read_text("utf-8").splitlines()
    rows: list[dict[str, str]] = [json.loads(line) for line in lines]
    statements = tuple(row["statement"] for row in rows if "statement" in row)
    questions = tuple(
        Question(row["half"], kind, row[kind], row.get("statement", ""))
        for row in rows
        for kind in ("sharing", "paraphrased", "unanswerable")
        if kind in row
    )
    return LanguageSet(language, statements, questions)


def ask_language(memory: Holdfast, wanted: LanguageSet, half: str) -> list[Asked]:
    """Every question of a half, put to the bank of its language."""
    found: list[Asked] = []
    for question in wanted.questions:
        if question.half == half:
            hits = memory.recall(question.text, wanted.language, limit=DEPTH).hits
            answer = memory.ask(question.text, wanted.language)
            found.append(
                Asked(
                    question,
                    bool(question.statement) and any(question.statement in h.text for h in hits),
                    answer.abstained,
                )
            )
    return found


def remember_all(memory: Holdfast, sets: Sequence[LanguageSet]) -> None:
    """Remember the statements of each language in a bank of that name."""
    for wanted in sets:
        for statement in wanted.statements:
            memory.remember(statement, wanted.language)


def run(half: str = "tuning", languages: Sequence[str] = LANGUAGES) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    chosen = replace(load_settings(), rerank_model=NO_MODEL)
    yield from _report(
        f"{half}, by words alone", half, replace(chosen, embed_model=NO_MODEL), languages
    )
    yield from _report(half, half, chosen, languages)


def _report(label: str, half: str, settings: Settings, languages: Sequence[str]) -> Iterator[str]:
    sets = [read_language(language) for language in languages]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Holdfast(replace(settings, home=home / "home", claude_dir=home)) as memory:
            remember_all(memory, sets)
            if settings.embed_model != NO_MODEL:
                memory.ingestion.embed()
            everything: list[Asked] = []
            for wanted in sets:
                asked = ask_language(memory, wanted, half)
                everything += asked
                yield f"languages: {label}: {wanted.language}: {_summary(asked)}"
            yield f"languages: {label}: all: {_summary(everything)}"


def _summary(asked: Sequence[Asked]) -> str:
    by_kind = {
        kind: [one for one in asked if one.question.kind == kind]
        for kind in ("sharing", "paraphrased", "unanswerable")
    }
    answerable = by_kind["sharing"] + by_kind["paraphrased"]
    unanswerable = by_kind["unanswerable"]
    return (
        f"recall@{DEPTH} {_share([one.found for one in answerable])} "
        f"(sharing {_share([one.found for one in by_kind['sharing']])}, "
        f"paraphrased {_share([one.found for one in by_kind['paraphrased']])}); "
        f"abstained from {_share([one.abstained for one in unanswerable])} of the unanswerable, "
        f"{_share([one.abstained for one in answerable])} of the others"
    )


def _share(flags: Sequence[bool]) -> str:
    return f"{sum(flags) / len(flags):.2f}" if flags else "none"


if __name__ == "__main__":
    for line in run(*sys.argv[1:2]):
        print(line, flush=True)
