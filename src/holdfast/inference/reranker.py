"""What judges how well texts answer a question, as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Reranker(Protocol):
    """Reads question and text together: slower than comparing vectors, and surer."""

    @property
    def name(self) -> str: ...

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        """One score per text, higher is better, comparable within this call only.

        With `tokens`, only of the first texts, as many as are no more in all. None when
        `deadline`, a value of `time.monotonic()`, passed before all those were scored.
        """
        ...
