"""`make bench`: the figures of speed, and what changed since the last release; with `--all` every
measurement, one after the other.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bench import (
    abstention,
    amendments,
    answers,
    archaeology,
    hooks,
    identifiers,
    ingest,
    knowledge_by_model,
    languages,
    memory,
    other_words,
    pages,
    postgres,
    recaps,
    redaction,
    refine,
    reranker,
    retain,
    scale,
    secrets,
    serve_workers,
    servers,
    small_banks,
    speed,
    start_brief,
    startup,
    storm,
)
from bench.figures import Figure

_EVERY = (
    startup,
    servers,
    refine,
    ingest,
    retain,
    redaction,
    secrets,
    memory,
    scale,
    postgres,
    reranker,
    abstention,
    small_banks,
    other_words,
    identifiers,
    languages,
    amendments,
    recaps,
    archaeology,
    knowledge_by_model,
    start_brief,
    hooks,
    storm,
    answers,
    pages,
    serve_workers,
)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE",
        help=f"only these, and record nothing: {', '.join(speed.MEASURED)}",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="every measurement: hours")
    parser.add_argument("--to", type=Path, help="record into this file")
    told = parser.parse_args()
    if unknown := set(told.modules) - set(speed.MEASURED):
        parser.error(f"not a measurement of speed: {', '.join(sorted(unknown))}")
    if told.all:
        _measure_all()
    else:
        _measure_speed(told.modules or list(speed.MEASURED), told.to or _usual_file(told.modules))


def _measure_all() -> None:
    for module in _EVERY:
        for line in module.run():
            print(line, flush=True)


def _usual_file(modules: list[str]) -> Path | None:
    """Where figures are recorded: nowhere if they are not all, or not of the usual sizes."""
    unusual = any(name.startswith("HOLDFAST_BENCH_") for name in os.environ)
    return None if modules or unusual else speed.RECORDED


def _measure_speed(modules: list[str], into: Path | None) -> None:
    load, (release, before) = os.getloadavg()[0], speed.last_release()
    found: list[Figure] = []
    for name in modules:
        for figure in speed.MEASURED[name]():
            print(figure, flush=True)
            found.append(figure)
    print(f"Above their limit: {sum(figure.missed for figure in found)} of {len(found)}.")
    told = speed.changes(found, before.figures)
    since = f"{release} ({before.commit}, {before.date}, load {before.machine.load:g})"
    print(f"Changed since {since} by more than the noise: {len(told)}.", *told, sep="\n  ")
    if into is None:
        print("Not recorded: these are not all figures, or of other sizes than usual (--to FILE).")
        return
    speed.write(speed.describe_run(found, load), into)
    print(f"Recorded in {into}. `make docs` brings them into docs/speed.md.")


if __name__ == "__main__":
    main()
