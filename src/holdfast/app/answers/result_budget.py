"""How much text the tools return to a model: whole records, best first, as many as fit.

Claude Code saves a result of more than 50,000 characters to a file, and has its service count the
tokens of one that may exceed half of 25,000 tokens. Results stay below both: a record is returned
whole, up to `MAX_RECORD_CHARS`, or it is counted as left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from holdfast.app.answers.tool import Object

MAX_RESULT_CHARS = 30_000
# The text of one record is cut here: about a seventh of a result, so that several fit.
MAX_RECORD_CHARS = 4_000


def fit(items: Iterable[Object], max_chars: int = MAX_RESULT_CHARS) -> tuple[list[Object], int]:
    """The first items whose JSON fits, and how many are left out."""
    fitting: list[Object] = []
    left, room = 0, max_chars
    for item in items:
        if left:
            left += 1
            continue
        room -= len(json.dumps(item, ensure_ascii=False))
        if room < 0:
            left = 1
        else:
            fitting.append(item)
    return fitting, left
