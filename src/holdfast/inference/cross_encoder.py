"""A reranker: an ONNX model that reads question and text together and gives one score per pair.

A score depends on its pair alone (see `onnx_session`). The deadline is checked before each pair, so
a call exceeds it by the time of one pair at most. On a machine that would need most of the time
until then, fewer pairs are read, by the speed of the calls before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.onnx_session import OnnxSession, Output, TokenRow
from holdfast.inference.reranker import Reranker
from holdfast.inference.tokenizer import Tokenizer, packaged_tokenizer

MAX_TEXT_TOKENS = 320
# The share of the time until the deadline for which reading is planned; the rest is for a machine
# that others use. A recall has a second at budget mid, and is to take 300 ms in all, 60 to 120 of
# them before anything is read. One core reads 3,200 tokens a second (Neoverse-N1), so two can read
# the 1,300 of such a recall, and slower ones read fewer texts.
_PLANNED_SHARE = 0.22
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class CrossEncoder:
    """A `Reranker` from one ONNX file, which must have the given hash, if any."""

    def __init__(
        self,
        path: Path,
        tokenizer: Tokenizer,
        expected_sha256: str | None = None,
        *,
        threads: int = 2,
        clock: Callable[[], float] = time.monotonic,
        cpu_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._session = OnnxSession(path, expected_sha256, cpu_clock)
        self._threads = threads
        self._tokenizer = tokenizer
        self._clock = clock
        strange = set(self._session.inputs) - set(_INPUTS)
        if strange or "input_ids" not in self._session.inputs:
            raise ModelError(
                f"{path} asks for {', '.join(self._session.inputs)}.",
                f"A reranker takes {', '.join(_INPUTS)}; choose another in the settings.",
            )

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        rows = list(self._affordable(query, texts, self._readable_tokens(tokens, deadline)))
        found = self._session.run_all(
            rows, self._threads, late=lambda: deadline is not None and self._clock() >= deadline
        )
        return None if found is None else [_single_score(output) for output in found]

    def _readable_tokens(self, tokens: int | None, deadline: float | None) -> int | None:
        """So many tokens, or as many as can be read in the time planned, if that is fewer. The
        first call knows no speed."""
        each = self._session.cpu_s_per_token
        if tokens is None or deadline is None or not each:
            return tokens
        seconds = _PLANNED_SHARE * max(0.0, deadline - self._clock())
        return min(tokens, int(seconds * self._threads / each))

    def _affordable(
        self, query: str, texts: Iterable[str], tokens: int | None
    ) -> Iterator[TokenRow]:
        spent = 0
        for text in texts:
            row = TokenRow(*self._tokenizer.pair(query, text, MAX_TEXT_TOKENS))
            spent += len(row.ids)
            if tokens is not None and spent > tokens:
                return
            yield row


def _single_score(output: Output) -> float:
    if output.size != 1 or not np.isfinite(output).all():
        raise ModelError(
            f"The reranker gives an output of shape {output.shape} for a pair.",
            "It must give one number; choose another in the settings.",
        )
    return float(output.reshape(-1)[0])


def packaged_reranker(
    threads: int = 2,
    path: Path = packaged.RERANKER,
    expected_sha256: str = packaged.RERANKER_SHA256,
) -> Reranker | None:
    """The reranker that comes with Holdfast, if there is one."""
    if not path.is_file():
        return None
    return CrossEncoder(path, packaged_tokenizer(), expected_sha256, threads=threads)
