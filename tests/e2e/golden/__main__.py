"""Record anew what every face answers: `python -m tests.e2e.golden`. The commit says why.

With a folder: write it there."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import tests.e2e.golden.fixed_clock  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.e2e.golden.faces import RECORDED, as_files, asked_of_all


def main(into: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = as_files(asked_of_all(Path(folder)))
    into.mkdir(exist_ok=True)
    for old in into.glob("*.txt"):
        if old.stem not in found:
            old.unlink()
    for name, text in found.items():
        (into / f"{name}.txt").write_text(text, "utf-8")
    sys.stdout.write(f"{len(found)} calls in {into}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else RECORDED)
