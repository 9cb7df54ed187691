"""Computes the vector of a text once, whatever numbers its symbols have: `bench.year` and
`bench.year_sizes` read the same sessions again and again, and vectors would take most of the time.
What is measured gets vectors of its own.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np

from holdfast.inference.embedder import Vectors
from holdfast.inference.encoder import OnnxEncoder

# What `year` puts after a symbol.
_NUMBERS = re.compile(r"(?<=\w)\d+\b")


@contextmanager
def reused_vectors(file: Path) -> Generator[None]:
    """Reuse vectors in this process, and those that the file has from earlier ones."""
    known: dict[str, Vectors] = {}
    if file.exists():
        with np.load(file) as kept:
            known.update(zip(kept["keys"].tolist(), kept["vectors"], strict=True))
    compute = OnnxEncoder.embed

    def embed(self: OnnxEncoder, texts: Sequence[str]) -> Vectors:
        keys = [sha256(_NUMBERS.sub("", text).encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = compute(self, list(missing.values()))
            known.update(zip(missing, made, strict=True))
        return np.stack([known[key] for key in keys])

    OnnxEncoder.embed = embed
    try:
        yield
    finally:
        OnnxEncoder.embed = compute
        if known:
            np.savez(file, keys=np.array(list(known)), vectors=np.stack(list(known.values())))
