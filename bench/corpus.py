"""What the benchmarks read: real transcripts where they are at hand, the samples otherwise."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_ARCHIVES = (
    "eval/archaeology.tar.xz",
    "transcripts/claude-code-versions.tar.xz",
)
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path:
    """The folder of archives: $HOLDFAST_BENCH_DATA, or the one beside the checkout."""
    return Path(os.environ.get("HOLDFAST_BENCH_DATA") or _BESIDE)


@contextmanager
def real_transcripts(archive: str = _ARCHIVES[0]) -> Generator[list[Path] | None]:
    """Real transcripts, unpacked for the time of a benchmark; None where there are none."""
    packed = data_folder() / archive
    if not packed.is_file():
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(packed) as tar:
            tar.extractall(folder, filter="data")
        found = sorted(p for p in Path(folder).rglob("*.jsonl") if p.name != "questions.jsonl")
        yield found
