"""Ingest without a model, by its two parts: transcripts to exchanges that can be found, and what is
distilled of these (memories, facts, concepts, entities). The control parses the same lines.

Copies of the sample sessions, each with names of its own; processor time of one process.
"""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import orjson

from bench.corpus import copy_samples
from bench.figures import Figure, Subject, cpu_of_call, measure
from holdfast.app.memory import Holdfast
from holdfast.settings import Settings

ROUNDS = 7
COPIES = 5
# A quarter above what was measured first (2026-11-17).
INGEST_LIMIT = 135
DISTIL_LIMIT = 280


def _parse(files: list[Path]) -> None:
    for path in files:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)


class _Reading:
    """New homes that read the same files."""

    def __init__(self, folder: Path, files: list[Path]) -> None:
        self._folder = folder
        self._files = files
        self._numbers = itertools.count()
        self._home = folder

    def ingest(self) -> float:
        """Read all files into a new home."""
        self._home = self._folder / f"home-{next(self._numbers)}"
        with self._open() as memory:
            inputs = memory.ingestion.find(self._files)
            return cpu_of_call(lambda: memory.ingestion.ingest(inputs, then_know=False))

    def distil(self) -> float:
        """Derive what stands above the sessions in the home that was made last."""
        with self._open() as memory:
            return cpu_of_call(memory.ingestion.update)

    def _open(self) -> Holdfast:
        return Holdfast(Settings(home=self._home, claude_dir=self._folder, embed_model="none"))


def figures() -> list[Figure]:
    """Both parts."""
    with tempfile.TemporaryDirectory() as folder:
        files = copy_samples(Path(folder) / "projects", COPIES)
        reading = _Reading(Path(folder), files)
        return measure(
            "Ingest",
            "ingest",
            Subject(
                "`orjson.loads` over the same lines",
                lambda: cpu_of_call(lambda: _parse(files)),
            ),
            [
                Subject("transcripts to exchanges", reading.ingest, INGEST_LIMIT),
                Subject(
                    "memories, facts, concepts, entities", reading.distil, DISTIL_LIMIT, "Refine"
                ),
            ],
            ROUNDS,
        )


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    return [str(figure) for figure in figures()]


if __name__ == "__main__":
    print("\n".join(run()))
