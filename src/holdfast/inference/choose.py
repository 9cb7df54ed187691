"""Which models the settings ask for.

ONNX Runtime and the network modules take long to import, so what needs them is imported when a
model is opened and not before.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import cast

from holdfast.errors import SettingsError
from holdfast.inference import packaged
from holdfast.inference.embedder import Embedder
from holdfast.inference.reranking import Reranker
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.settings import NO_MODEL, Settings

_ENCODER = "holdfast.inference.encoder"
_CROSS_ENCODER = "holdfast.inference.cross_encoder"
_ENDPOINT = "holdfast.inference.endpoint"


def choose_embedder(settings: Settings, threads: int = 1) -> Embedder | None:
    """The model for vectors, opened; None if the settings want none."""
    if settings.embed_model == NO_MODEL:
        return None
    if settings.embed_endpoint:
        return _endpoint(settings)
    module = importlib.import_module(_ENCODER)
    if not settings.embed_model:
        return cast(Embedder, module.packaged_encoder(threads=threads))
    folder = Path(settings.embed_model).expanduser()
    return cast(Embedder, module.OnnxEncoder(folder, threads=threads))


def choose_reranker(settings: Settings, threads: int = 2) -> Reranker | None:
    """The model that weighs pairs, opened; None if the settings want none or none is there."""
    if settings.rerank_model == NO_MODEL:
        return None
    if not settings.rerank_model and not packaged.RERANKER.is_file():
        return None
    module = importlib.import_module(_CROSS_ENCODER)
    if not settings.rerank_model:
        return cast("Reranker | None", module.packaged_reranker(threads=threads))
    model = Path(settings.rerank_model).expanduser()
    own = model.with_name("tokenizer.json")
    tokenizer = open_tokenizer(own if own.is_file() else packaged.TOKENIZER)
    return cast(Reranker, module.CrossEncoder(model, tokenizer, threads=threads))


def _endpoint(settings: Settings) -> Embedder:
    if settings.embed_model:
        raise SettingsError(
            "embed.model and embed.endpoint are both set.", "Keep the one that is to be used."
        )
    if not settings.embed_endpoint_model:
        raise SettingsError(
            "embed.endpoint is set, but not which model to ask it for.",
            "Set embed.endpoint_model, e.g. to nomic-embed-text.",
        )
    if settings.embed_api_key_env and not settings.embed_api_key:
        raise SettingsError(
            f"The variable {settings.embed_api_key_env}, named by embed.api_key_env, is not set.",
            "Set it to the key of the embeddings service, or remove embed.api_key_env.",
        )
    module = importlib.import_module(_ENDPOINT)
    opened = module.EndpointEmbedder(
        settings.embed_endpoint, settings.embed_endpoint_model, api_key=settings.embed_api_key
    )
    return cast(Embedder, opened)
