"""The embedder and the reranker that the settings select.

ONNX Runtime and the network modules take long to import, so modules that need them are imported
when a model is opened.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import SettingsError
from holdfast.inference import packaged
from holdfast.inference.embedder import Embedder
from holdfast.inference.reranker import Reranker
from holdfast.inference.tokenizer import open_tokenizer, packaged_tokenizer
from holdfast.settings import NO_MODEL, SHIPPED, Settings


def choose_embedder(settings: Settings, threads: int = 1) -> Embedder | None:
    """The embedding model, opened; None if the settings disable it."""
    if settings.embed_model == NO_MODEL:
        return None
    if settings.embed_endpoint:
        return _endpoint(settings)
    from holdfast.inference.encoder import OnnxEncoder, packaged_encoder

    if not settings.embed_model:
        return packaged_encoder(threads=threads)
    return OnnxEncoder(Path(settings.embed_model).expanduser(), threads=threads)


def has_reranker(settings: Settings) -> bool:
    """Whether the settings allow a reranker: one that they name, or the one that ships."""
    if settings.rerank_model in ("", SHIPPED):
        return packaged.RERANKER.is_file()
    return settings.rerank_model != NO_MODEL


def choose_reranker(settings: Settings, threads: int = 2) -> Reranker | None:
    """The reranker, opened; None if the settings disable it or none is installed."""
    if not has_reranker(settings):
        return None
    from holdfast.inference.cross_encoder import CrossEncoder, packaged_reranker

    if settings.rerank_model in ("", SHIPPED):
        return packaged_reranker(threads=threads)
    model = Path(settings.rerank_model).expanduser()
    own = model.with_name("tokenizer.json")
    tokenizer = open_tokenizer(own) if own.is_file() else packaged_tokenizer()
    return CrossEncoder(model, tokenizer, threads=threads)


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
    from holdfast.inference.endpoint import EndpointEmbedder

    return EndpointEmbedder(
        settings.embed_endpoint, settings.embed_endpoint_model, api_key=settings.embed_api_key
    )
