"""An embedder that runs an ONNX model on this machine: the shipped one, or any local folder.

A vector depends on its text alone, whatever it was embedded with (see `onnx_session`). A model that
is not as expected is refused.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import Vectors, unit_rows
from holdfast.inference.onnx_session import OnnxSession, Output, TokenRow, read_verified
from holdfast.inference.tokenizer import Tokenizer, open_tokenizer, packaged_tokenizer

MAX_TEXT_TOKENS = 256
_MODEL_FILES = (
    "model.onnx",
    "model_quantized.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
)
_LIMIT_SETTINGS = (
    ("sentence_bert_config.json", "max_seq_length"),
    ("tokenizer_config.json", "model_max_length"),
    ("config.json", "max_position_embeddings"),
)


class OnnxEncoder:
    """An `Embedder` from a folder with an ONNX graph and its `tokenizer.json`.

    The graph gives either one vector per text, or one per token, which are averaged. `threads` is
    how many texts are embedded at the same time.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str | None = None,
        threads: int = 1,
        limit: int = MAX_TEXT_TOKENS,
        dimension: int | None = None,
        expected_sha256: str | None = None,
    ) -> None:
        model = _model_file(folder)
        vocabulary = folder / "tokenizer.json"
        is_ours = vocabulary == packaged.TOKENIZER
        self._tokenizer: Tokenizer = packaged_tokenizer() if is_ours else open_tokenizer(vocabulary)
        self._session = OnnxSession(model, expected_sha256)
        self._threads = threads
        self._limit = min([limit, *_declared_limits(folder)])
        if "input_ids" not in self._session.inputs:
            raise ModelError(
                f"{model} asks for {', '.join(self._session.inputs)}, not for input_ids.",
                "Choose a text embedding model exported for feature extraction.",
            )
        # The shape a graph declares is often symbolic; what it gives for no words is real.
        self.dimension: int = self.embed([""]).shape[1]
        if dimension is not None and dimension != self.dimension:
            raise ModelError(
                f"{model} gives vectors of {self.dimension} numbers, not of {dimension}.",
                "Choose a model of the expected dimension.",
            )
        self.name: str = name or _fingerprint(folder, model, self._limit)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [TokenRow(self._tokenizer.ids(text, self._limit)) for text in texts]
        found = self._session.run_all(rows, self._threads, late=lambda: False) or []
        vectors = [_pooled(output) for output in found]
        if not vectors:
            return np.zeros((0, self.dimension), np.float32)
        return unit_rows(np.array(vectors, np.float32))

    def with_threads(self, threads: int) -> OnnxEncoder:
        """The same opened model, which embeds so many texts at the same time."""
        other = copy.copy(self)
        other._threads = threads
        return other


def _pooled(output: Output) -> Vectors:
    """The vector of one text, from one vector or from the states of its tokens."""
    if output.ndim == 3:
        output = output.mean(axis=1)
    if output.ndim != 2 or output.shape[0] != 1 or not np.isfinite(output).all():
        raise ModelError(
            f"The model gives an output of shape {output.shape}, which is no text vector.",
            "Choose a text embedding model exported for feature extraction.",
        )
    return output[0]


def packaged_encoder(threads: int = 1, folder: Path = packaged.EMBEDDER.parent) -> OnnxEncoder:
    """The model that comes with Holdfast; its files are checked against their hashes. It is opened
    once in a process, which takes a fifth of a second and 40 MB: searching, embedding and curation
    share it. A process that was forked opens its own, because a thread of the first may have been
    using it just then."""
    return _opened_in(os.getpid(), folder).with_threads(threads)


@cache
def _opened_in(process: int, folder: Path) -> OnnxEncoder:
    read_verified(folder / packaged.TOKENIZER.name, packaged.TOKENIZER_SHA256)
    return OnnxEncoder(
        folder,
        name=packaged.EMBEDDER_NAME,
        dimension=packaged.EMBEDDER_DIMENSION,
        expected_sha256=packaged.EMBEDDER_SHA256,
    )


def _model_file(folder: Path) -> Path:
    for name in _MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    missing = "has no ONNX model" if folder.is_dir() else "is not a folder"
    raise ModelError(
        f"{folder} {missing}.",
        f"It needs tokenizer.json and one of {', '.join(_MODEL_FILES)}.",
    )


def _declared_limits(folder: Path) -> Iterator[int]:
    """How many tokens the model accepts, according to the files in its folder."""
    for file, key in _LIMIT_SETTINGS:
        try:
            values: object = json.loads((folder / file).read_text("utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{folder / file} cannot be read: {error}.", "Copy the model's folder again."
            ) from error
        value = cast(dict[str, Any], values).get(key) if isinstance(values, dict) else None
        if isinstance(value, int) and value > 2:
            yield value


def _fingerprint(folder: Path, model: Path, limit: int) -> str:
    """A name that changes with anything that the vectors depend on."""
    digest = hashlib.sha256(str(limit).encode())
    beside = [model.with_name(model.name + ending) for ending in ("_data", ".data")]
    for path in (model, *beside, folder / "tokenizer.json"):
        if path.is_file():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}-{digest.hexdigest()[:12]}"
