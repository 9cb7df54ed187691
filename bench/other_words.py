"""Questions in other words than the sessions use, put to recall as a caller sees it and to sixty
lines that do without its rules: the line that every change of the ranking has to beat.

Of each project its sessions are read in, and its questions asked. *Right* is the share of the
answerable ones with the session that answers among the first five hits of `memory.recall`, and
among the first five sessions of its ten hits; *silent* the share without any hit. The baseline cuts
the turns of a session into chunks of 600 characters, scores them by full text (SQLite's FTS5, bm25)
and by the embedder that ships, both scaled to the best, and adds the scores up by session.
*Perhaps* of `ask` does not claim to know; *claims* is the share that it answers without it.

Wants `readings/readings.tar.xz` in $HOLDFAST_BENCH_DATA. Of the projects with forty questions or
more, sorted by the checksum of their names, every second one is held back; without an argument
these are asked, `python -m bench.other_words tuning` asks the others, names ask these projects.
$HOLDFAST_BENCH_HOMES, a folder, keeps what was read in.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from bench.corpus import data_folder, unpacked
from holdfast.app.evaluation.sets import load_set, neutral_settings, read_set
from holdfast.app.memory import Holdfast, open_memory
from holdfast.inference.encoder import packaged_encoder
from holdfast.settings import load_settings

ARCHIVE = "readings/readings.tar.xz"
MIN_QUESTIONS = 40
FIRST = 5
CHUNK_CHARACTERS = 600
# Chunks found by either way, and those of a session that count.
_POOL, _COUNTED = 100, 5
_SPOKEN = ("user", "assistant")


class Question(NamedTuple):
    """A question, and the session that answers it; "" if none does."""

    text: str
    session: str


class Asked(NamedTuple):
    """What came of a question: whether it can be answered, whether anything was found, clearly or
    at all, and whether the right session was among the first five."""

    answerable: bool
    found: bool
    clear: bool
    in_hits: bool
    in_sessions: bool
    in_baseline: bool
    # "claims", "perhaps" or "not known".
    ask: str


class Baseline:
    """Full text and vectors over chunks, summed by session."""

    def __init__(self, sessions: Mapping[str, Sequence[str]]) -> None:
        self._encoder = packaged_encoder()
        chunks = [
            (name, text[start : start + CHUNK_CHARACTERS])
            for name, turns in sessions.items()
            for text in turns
            for start in range(0, len(text), CHUNK_CHARACTERS)
        ]
        self._sessions = [name for name, _ in chunks]
        self._vectors = self._encoder.embed([text for _, text in chunks])
        self._words = sqlite3.connect(":memory:")
        self._words.execute("CREATE VIRTUAL TABLE chunk USING fts5(text, tokenize='porter')")
        self._words.executemany("INSERT INTO chunk VALUES (?)", [(text,) for _, text in chunks])

    def sessions(self, question: str) -> list[str]:
        """The sessions for a question, best first."""
        scores: dict[int, float] = defaultdict(float)
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        rows = self._words.execute(
            "SELECT rowid - 1, -bm25(chunk) FROM chunk WHERE chunk MATCH ? ORDER BY 2 DESC LIMIT ?",
            (query, _POOL),
        ).fetchall()
        for number, score in rows:
            scores[number] += score / rows[0][1]
        cosines = self._vectors @ self._encoder.embed([question])[0]
        nearest = np.argsort(-cosines)[:_POOL]
        for number in nearest:
            scores[int(number)] += float(cosines[number] / cosines[nearest[0]])
        best: dict[str, list[float]] = defaultdict(list)
        for number, score in sorted(scores.items(), key=lambda one: -one[1]):
            best[self._sessions[number]].append(score)
        return sorted(best, key=lambda name: -sum(best[name][:_COUNTED]))


def run(chosen: Sequence[str] = ()) -> Iterator[str]:
    """Measure; gives the lines of a report as they are known."""
    with unpacked(ARCHIVE) as folder:
        if folder is None:
            yield f"other words: skipped, {ARCHIVE} is not in {data_folder()}"
            return
        every: list[Asked] = []
        for project in projects(folder, chosen):
            kept = os.environ.get("HOLDFAST_BENCH_HOMES")
            with TemporaryDirectory(prefix="holdfast-bench-") as temporary:
                asked = ask(project, Path(kept or temporary) / project.name)
            yield _line(project.name, asked)
            every += asked
        yield _line("all", every)


def projects(folder: Path, chosen: Sequence[str]) -> list[Path]:
    """The projects to ask: those named, or a half of the large ones."""
    if chosen and chosen[0] not in ("tuning", "held_back"):
        return [folder / name for name in chosen]
    large = [p for p in folder.iterdir() if p.is_dir() and len(questions(p)) >= MIN_QUESTIONS]
    ordered = sorted(large, key=lambda p: hashlib.sha256(p.name.encode()).hexdigest())
    return ordered[0 if chosen[:1] == ["tuning"] else 1 :: 2]


def questions(project: Path) -> list[Question]:
    """The questions of a project."""
    lines = _lines(project / "readings.jsonl")
    return [
        Question(one["question"], "" if one.get("answer") is None else _host(one["session"]))
        for one in lines
        if "question" in one
    ]


def ask(project: Path, home: Path) -> list[Asked]:
    """Put the questions of a project to its memory and to the baseline."""
    sessions = {
        _host(one["session"]): [e["text"] for e in one["events"] if e["role"] in _SPOKEN]
        for one in _lines(project / "sessions.jsonl")
    }
    baseline = Baseline(sessions)
    is_new = not home.is_dir()
    with open_memory(neutral_settings(load_settings(), home)) as memory:
        if is_new:
            load_set(memory, read_set(project), with_vectors=True)
        return [_ask(memory, baseline, question) for question in questions(project)]


def _ask(memory: Holdfast, baseline: Baseline, question: Question) -> Asked:
    hits = memory.recall(question.text, "all").hits
    first = [hit.session for hit in hits[:FIRST]]
    ranked = list(dict.fromkeys(hit.session for hit in hits if hit.session))
    answer = memory.ask(question.text, "all")
    claim = "not known" if answer.abstained else "perhaps" if answer.weak else "claims"
    return Asked(
        bool(question.session),
        bool(hits),
        any(not hit.weak for hit in hits),
        question.session in first,
        question.session in ranked[:FIRST],
        question.session in baseline.sessions(question.text)[:FIRST],
        claim,
    )


def _line(name: str, asked: Sequence[Asked]) -> str:
    known = [one for one in asked if one.answerable]
    unknown = [one for one in asked if not one.answerable]
    claims = Counter((one.answerable, one.ask) for one in asked)
    of_ask = "; ".join(
        f"ask {what} {_share(claims[True, what], len(known))}"
        f" and {_share(claims[False, what], len(unknown))}"
        for what in ("claims", "perhaps", "not known")
    )
    return (
        f"other words: {name}: {len(known)} questions: right in the first {FIRST} hits "
        f"{_share(sum(one.in_hits for one in known), len(known))}, sessions "
        f"{_share(sum(one.in_sessions for one in known), len(known))}; baseline "
        f"{_share(sum(one.in_baseline for one in known), len(known))}; silent "
        f"{_share(sum(not one.found for one in known), len(known))}, no clear hit "
        f"{_share(sum(not one.clear for one in known), len(known))}; "
        f"{len(unknown)} without an answer: no clear hit "
        f"{_share(sum(not one.clear for one in unknown), len(unknown))}; {of_ask}"
    )


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "none"


def _host(session: str) -> str:
    """The agent's own id of a session, which the readers put after the project's name."""
    return session.rpartition("__")[2]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


if __name__ == "__main__":
    for line in run(sys.argv[1:]):
        print(line, flush=True)
