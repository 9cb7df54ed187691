"""Vectors of single tokens, independent of context, for fuzzy matching of words.

The table is the first layer of the shipped model, read by page from the model's file; no model
runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from holdfast.errors import ModelError
from holdfast.inference.embedder import Vectors, unit_rows
from holdfast.inference.onnx_file import INT8, find_tensor

_TENSOR_NAME = "words"
_SAMPLE_STEP = 16


class TokenVectors:
    """One vector of length one for each id of the tokenizer."""

    def __init__(self, model: Path) -> None:
        table = find_tensor(model, _TENSOR_NAME)
        whole = len(table.shape) == 2 and table.shape[0] * table.shape[1] == table.size
        if table.kind != INT8 or not whole:
            raise ModelError(
                f"The table {_TENSOR_NAME!r} of {model} is not one of 8-bit vectors.",
                "Install Holdfast again: pip install --force-reinstall holdfast-memory.",
            )
        self.count, self.dimension = table.shape
        self._rows = np.memmap(
            model, dtype=np.int8, mode="r", offset=table.offset, shape=table.shape
        )
        # All of them lean the same way, which makes any two look alike; a sample tells which way.
        sample = np.arange(0, self.count, _SAMPLE_STEP)
        self._centre = self._unit(sample).mean(axis=0)

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """One row for each id, in the order given."""
        if not ids:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(self._unit(np.asarray(ids, np.intp)) - self._centre)

    def _unit(self, ids: npt.NDArray[np.intp]) -> Vectors:
        # Each row has a scale of its own, which bringing it to length one takes out again.
        return unit_rows(self._rows[ids].astype(np.float32))
