"""Says how many branches the tests took, of each package and in all: `make coverage` runs it.

    coverage_summary.py REPORT [FLOOR]

REPORT is what `coverage json` wrote. With a floor, fewer branches in all than FLOOR percent are a
failure.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

_ROOT_PACKAGE = "holdfast"


def packages(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """By package or module directly below the root package: branches taken, and all of them. The
    package with most branches comes first."""
    taken, known = Counter[str](), Counter[str]()
    for file, measured in report["files"].items():
        parts = PurePath(file).parts
        name = parts[parts.index(_ROOT_PACKAGE) + 1]
        taken[name] += measured["summary"]["covered_branches"]
        known[name] += measured["summary"]["num_branches"]
    return {name: (taken[name], count) for name, count in known.most_common() if count}


def main(arguments: list[str]) -> int:
    """Print the summary; returns 1 if it is below the floor."""
    path, *floors = arguments
    found = packages(json.loads(Path(path).read_text("utf-8")))
    taken, known = (sum(column) for column in zip(*found.values(), strict=True))
    for name, (one, all_of_it) in {**found, "in all": (taken, known)}.items():
        sys.stdout.write(f"{100 * one / all_of_it:5.1f} % of {all_of_it:5} branches  {name}\n")
    if floors and 100 * taken / known < float(floors[0]):
        sys.stdout.write(f"Too few: {floors[0]} % are needed. Test what was added.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
