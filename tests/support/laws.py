"""How many examples a law is tried with that takes long to try."""

from __future__ import annotations

from hypothesis import settings

_LEAST = 3


def costly(examples: int) -> settings:
    """For a law of which one example takes a tenth of a second of processor time or more. Ordinary
    runs try the same examples each time, so that they need fewer: a third as many as are given.
    `--hypothesis-profile=search`, which looks for new ones, tries all."""
    is_search = not (settings.default or settings()).derandomize
    return settings(max_examples=examples if is_search else max(_LEAST, examples // 3))
