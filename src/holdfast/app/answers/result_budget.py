"""Results for a model to read: whole records, best first, as many as its host takes.

Claude Code saves what is longer than 50,000 characters to a file, and asks its service to count
what may be over half of 25,000 tokens. What is said stays below both by selection: a record is
there whole, up to a length at which nobody reads on, or it is counted as left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from holdfast.app.answers.tool import Object

MAX_RESULT_CHARS = 30_000
MAX_RECORD_CHARS = 4_000


def fit(items: Iterable[Object], most: int = MAX_RESULT_CHARS) -> tuple[list[Object], int]:
    """The first that fit, and how many more there are."""
    kept: list[Object] = []
    left, room = 0, most
    for item in items:
        if left:
            left += 1
            continue
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0:
            left = 1
        else:
            kept.append(item)
    return kept, left
