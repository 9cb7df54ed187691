"""What single pieces of words mean, whatever stands around them: for matching words softly.

The table is the first layer of the shipped model, read from the model's own file by page; nothing
is loaded that is not asked for, and no model runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from holdfast.errors import ModelError
from holdfast.inference.embedder import Vectors, unit_rows
from holdfast.inference.onnx_file import INT8, find_tensor

_TABLE = "words"


class TokenVectors:
    """One vector of length one for each id of the tokenizer."""

    def __init__(self, model: Path) -> None:
        table = find_tensor(model, _TABLE)
        whole = len(table.shape) == 2 and table.shape[0] * table.shape[1] == table.size
        if table.kind != INT8 or not whole:
            raise ModelError(
                f"The table {_TABLE!r} of {model} is not one of 8-bit vectors.",
                "Install Holdfast again: pip install --force-reinstall holdfast.",
            )
        self.count, self.dimension = table.shape
        self._rows = np.memmap(
            model, dtype=np.int8, mode="r", offset=table.offset, shape=table.shape
        )

    def vectors(self, ids: Sequence[int]) -> Vectors:
        """One row for each id, in the order given."""
        if not ids:
            return np.zeros((0, self.dimension), np.float32)
        # Each row has a scale of its own, which bringing it to length one takes out again.
        return unit_rows(self._rows[np.asarray(ids, np.intp)].astype(np.float32))
