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
# In place of the length of a row of zeros.
_TINY = np.float32(1e-12)
# How many multiplications make up one product of matrices. Larger ones OpenBLAS divides among
# threads that then spin for 27 ms: 13 tokens with 2,200 took 14.7 ms of processor, now 0.9.
_MULTIPLICATIONS = 2**18


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
        # For each row that was used, what divides its product with another vector by its length,
        # and what divides it by its length apart from the centre; 0 for others.
        self._scales = np.zeros((self.count, 2), np.float32)

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """One row for each id, in the order given."""
        if not ids:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(self._unit(np.asarray(ids, np.intp)) - self._centre)

    def similarities(self, ids: Sequence[int], others: npt.NDArray[np.intp]) -> Vectors:
        """The cosine of each vector of `ids`, a row, with each of the `others`, a column."""
        wanted = self.vectors(ids)
        products = np.empty((len(others), len(wanted)), np.float32)
        step = max(1, _MULTIPLICATIONS // max(1, wanted.size))
        for start in range(0, len(others), step):
            rows = self._rows[others[start : start + step]].astype(np.float32)
            np.matmul(rows, wanted.T, out=products[start : start + step])
        scales = self._scales_of(others)
        return ((products * scales[:, :1] - wanted @ self._centre) * scales[:, 1:]).T

    def _scales_of(self, ids: npt.NDArray[np.intp]) -> Vectors:
        unknown = ids[self._scales[ids, 1] == 0]
        if len(unknown):
            rows = self._rows[unknown].astype(np.float32)
            lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _TINY)
            apart = np.linalg.norm(rows / lengths - self._centre, axis=1, keepdims=True)
            self._scales[unknown] = np.hstack((1 / lengths, 1 / np.maximum(apart, _TINY)))
        return self._scales[ids]

    def _unit(self, ids: npt.NDArray[np.intp]) -> Vectors:
        # Each row has a scale of its own, which bringing it to length one takes out again.
        return unit_rows(self._rows[ids].astype(np.float32))
