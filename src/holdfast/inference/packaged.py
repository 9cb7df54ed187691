"""Paths and hashes of the models that come with Holdfast.

A new model is a new file and its hash here; the hash is checked before the file is used.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent

EMBEDDER = _HERE / "minilm" / "model.onnx"
EMBEDDER_NAME = "all-MiniLM-L6-v2-int8"
EMBEDDER_SHA256 = "d66e871818fd8ecaa4ccdb9729f9e67bd111ff1243dcc5e9a3322f4c1d61ef14"
EMBEDDER_DIMENSION = 384
TOKENIZER = _HERE / "minilm" / "tokenizer.json"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

RERANKER = _HERE / "reranker" / "model.onnx"
RERANKER_NAME = "holdfast-reranker-2-int8"
RERANKER_SHA256 = "65d1dafe3964f65944f8dd39ffbbf54afabc5546d54362f1d2cf10574f80016f"
