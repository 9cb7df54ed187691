"""The interface to rerankers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Reranker(Protocol):
    """Scores how well texts answer a question by reading both together: slower than comparing
    vectors, and more accurate."""

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        """One score per text, higher is better, comparable within this call only.

        With `tokens`, only the first texts are scored, as many as have no more tokens in all. None
        if `deadline`, a value of `time.monotonic()`, passed before these were scored.
        """
        ...
