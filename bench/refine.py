"""Refining transcripts to turns, against `orjson.loads` over the same lines; size of L1.

Control and subject take turns file by file, so that a noisy machine slows both alike. CPU
time; the best of several rounds.
"""

from __future__ import annotations

import time
from pathlib import Path

import orjson

from bench.corpus import SAMPLES, real_transcripts
from bench.figures import Figure, Subject, measure
from holdfast.refine.ingest.turns import PrivacyRules, RefinedTurn, refine_lines
from holdfast.sources.claude_code.files import AGENT
from holdfast.sources.draft import FileInfo
from holdfast.sources.lines import read_lines, segments

ROUNDS = 7
# A quarter above what was measured first (2026-11-17). Real sessions, with their long results of
# tools, have a limit of 3.
SAMPLES_LIMIT = 10


def control(path: Path) -> float:
    """Only parse."""
    started = time.process_time()
    with path.open("rb") as file:
        for line in file:
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
    return time.process_time() - started


def subject(path: Path) -> tuple[float, int]:
    """Read, parse, refine and redact; the time, and the bytes of L1 that came of it."""
    info = FileInfo(str(path), AGENT, path.stem, "")
    size = 0
    spent = 0.0
    for segment in segments(path, 0, path.stat().st_size):
        started = time.process_time()
        refined = refine_lines(read_lines(path, segment), segment.start, info, PrivacyRules())
        spent += time.process_time() - started
        for event in refined.events:
            if isinstance(event, RefinedTurn):
                tool = event.tool
                whole = event.text
                if tool:
                    whole = tool.name + tool.target + tool.lines + tool.action
                size += len(whole.encode())
            else:
                size += len(event.result.encode())
    return spent, size


def figures() -> list[Figure]:
    """The sample sessions, which are small: each line costs more than one of real sessions."""
    files = sorted(SAMPLES.rglob("*.jsonl"))
    return measure(
        "Ingest",
        "refine",
        Subject("`orjson.loads` over the same lines", lambda: sum(control(path) for path in files)),
        [
            Subject(
                "lines to redacted turns",
                lambda: sum(subject(path)[0] for path in files),
                SAMPLES_LIMIT,
            )
        ],
        ROUNDS * 3,
    )


def run() -> list[str]:
    """Measure; returns the lines of a report."""
    report = [str(figure) for figure in figures()]
    for archive in ("eval/archaeology.tar.xz", "transcripts/claude-code-versions.tar.xz"):
        with real_transcripts(archive) as files:
            if files is None:
                report.append(f"refine: skipped, {archive} is not here")
                continue
            best = dict.fromkeys(files, (1000000000.0, 1000000000.0))
            l1 = 0
            for _ in range(ROUNDS):
                l1 = 0
                for path in files:
                    plain = control(path)
                    spent, size = subject(path)
                    l1 += size
                    best[path] = (min(best[path][0], plain), min(best[path][1], spent))
            raw = sum(path.stat().st_size for path in files)
            parse = sum(pair[0] for pair in best.values())
            whole = sum(pair[1] for pair in best.values())
            report.append(
                f"refine: {archive.split('/')[1]}: {raw / 1e6:.0f} MB, orjson {parse:.2f} s, "
                f"refine {whole:.2f} s: {whole / parse:.2f} x (limit 3); "
                f"L1 {l1 / raw:.2%} of raw (limit 5%)"
            )
    return report


if __name__ == "__main__":
    print("\n".join(run()))
