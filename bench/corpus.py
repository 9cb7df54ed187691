"""What the benchmarks read: real transcripts where they are at hand, the samples otherwise."""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_ARCHIVES = (
    "eval/archaeology.tar.xz",
    "transcripts/claude-code-versions.tar.xz",
)
SAMPLES = Path(__file__).parents[1] / "examples" / "sessions"
_START_OF_ID = re.compile(r"\b[0-9a-f]{4}(?=[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)")
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path:
    """The folder of archives: $HOLDFAST_BENCH_DATA, or the one beside the checkout."""
    return Path(os.environ.get("HOLDFAST_BENCH_DATA") or _BESIDE)


@contextmanager
def real_transcripts(archive: str = _ARCHIVES[0]) -> Generator[list[Path] | None]:
    """Real transcripts, unpacked for the time of a benchmark; None where there are none."""
    with unpacked(archive) as folder:
        if folder is None:
            yield None
            return
        yield sorted(p for p in folder.rglob("*.jsonl") if p.name != "questions.jsonl")


@contextmanager
def unpacked(archive: str) -> Generator[Path | None]:
    """The one folder in an archive, for the time of a benchmark; None where it is not at hand."""
    packed = data_folder() / archive
    if not packed.is_file():
        yield None
        return
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(packed) as tar:
            tar.extractall(place, filter="data")
        inside = list(Path(place).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(place)


def copy_samples(projects: Path, copies: int) -> list[Path]:
    """Sessions like the samples, in which every session and record has another id."""
    made: list[Path] = []
    for number in range(copies):
        for sample in sorted(SAMPLES.glob("*/*.jsonl")):
            place = projects / sample.parent.name
            place.mkdir(parents=True, exist_ok=True)
            start = f"{number:04x}"
            path = place / f"{start}{sample.name[4:]}"
            path.write_text(_START_OF_ID.sub(start, sample.read_text("utf-8")), "utf-8")
            made.append(path)
    return made
