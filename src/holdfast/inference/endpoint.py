"""Texts to vectors by a service that speaks the OpenAI embeddings protocol, if the user names one.

The one place in this package that talks to a network. Texts leave the machine; the settings page
says so. An answer that does not fit the question is an error, never a guess.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import urlsplit

import numpy as np

from holdfast.errors import ModelError
from holdfast.http_client import HttpError, Limits, Reply, Request, send
from holdfast.inference.embedder import Vectors, unit_rows

# Texts of one request. Larger batches save round trips; services refuse those that are too large.
_BATCH_TEXTS = 64
# A busy service is asked so often at most, after pauses of 0.5 and 1 second, or as long as it asks
# for, but no longer than a person waits for an answer.
_MAX_TRIES = 3
_FIRST_PAUSE_S = 0.5
_MAX_PAUSE_S = 10.0
# One batch of vectors with 4,096 numbers each takes about 5 MB.
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
# A service may use its time for waiting once and still send its answer slowly.
_TOTAL_TIMEOUTS = 10
_TOO_MANY_REQUESTS = 429


class EndpointEmbedder:
    """An `Embedder` behind `POST <url>/embeddings`; `url` ends in `/v1` as a rule.

    It asks when something is wanted of it, not when it is opened: whoever opens it may have more
    to do than wait. Its name has its dimension, for a service may put another model in the place.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimension: int | None = None,
        api_key: str = "",
        timeout_s: float = 30.0,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ModelError(
                f"{url!r} is not the address of an embeddings service.",
                "Set embed.endpoint to something like http://localhost:11434/v1.",
            )
        parts = urlsplit(url)
        path = parts.path.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._address = parts._replace(path=path).geturl()
        # Passwords and parameters stay out of what is stored and shown.
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
        self._model = model
        self._api_key = api_key
        self._timeout_s = timeout_s
        self._wait = wait
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """How many numbers a vector has: as told, or as the first answer has it."""
        if self._dimension is None:
            self._dimension = int(self._ask(["dimension"]).shape[1])
        return self._dimension

    @property
    def name(self) -> str:
        """The model, where it is, and its dimension."""
        return f"{self._model}@{self._shown}:{self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        parts = [
            self._ask(texts[start : start + _BATCH_TEXTS])
            for start in range(0, len(texts), _BATCH_TEXTS)
        ]
        if parts and self._dimension is None:
            self._dimension = int(parts[0].shape[1])
        for part in parts:
            if part.shape[1] != self.dimension:
                raise self._strange(f"{part.shape[1]} numbers a text, not {self.dimension}")
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *parts])

    def _ask(self, texts: Sequence[str]) -> Vectors:
        asked = {"model": self._model, "input": [_acceptable(text) for text in texts]}
        answer = self._post(json.dumps(asked).encode())
        try:
            items = cast(list[dict[str, Any]], json.loads(answer)["data"])
            rows = {int(item["index"]): item["embedding"] for item in items}
            ordered = [rows[place] for place in range(len(texts))]
            vectors = np.array(ordered, np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise self._strange("an answer of another form") from error
        if len(items) != len(texts) or vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise self._strange(f"{len(items)} vectors for {len(texts)} texts")
        return unit_rows(vectors)

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "holdfast"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        request = Request("POST", self._address, headers, body)
        limits = Limits(self._timeout_s, _TOTAL_TIMEOUTS * self._timeout_s, _MAX_ANSWER_BYTES)
        failures = 0
        while True:
            try:
                reply = send(request, limits, use_proxy=True)
            except HttpError as error:
                raise self._failed(error.detail) from error
            if 200 <= reply.status < 300:
                return reply.body
            failures += 1
            is_busy = reply.status == _TOO_MANY_REQUESTS or reply.status >= 500
            if failures == _MAX_TRIES or not is_busy:
                raise self._failed(f"{reply.status} {reply.reason}")
            self._wait(_pause_s(reply, failures))

    def _failed(self, what: str) -> ModelError:
        return ModelError(
            f"The embeddings service at {self._shown} failed: {what}.",
            "Check embed.endpoint, embed.endpoint_model and the key, or whether it runs.",
        )

    def _strange(self, what: str) -> ModelError:
        return ModelError(
            f"The embeddings service at {self._shown} gave {what}.",
            "Check embed.endpoint_model: it must name an embedding model.",
        )


def _acceptable(text: str) -> str:
    """The text as services take it: several refuse an empty one, and a lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def _pause_s(reply: Reply, failures: int) -> float:
    """How long to wait: as long as the service asks for, but at most `_MAX_PAUSE_S`, and twice as
    long after each failure."""
    own_s = _FIRST_PAUSE_S * 2 ** (failures - 1)
    return min(max(reply.retry_after_s or 0.0, own_s), _MAX_PAUSE_S)
