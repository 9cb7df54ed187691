from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from holdfast.errors import ModelError
from holdfast.inference.endpoint import EndpointEmbedder
from tests.support.model_service import Answered, Json, Service, running


def vectors(body: dict[str, Any]) -> dict[str, Any]:
    """Length and first letter of each text, backwards, as the protocol allows."""
    data = [
        {"index": place, "embedding": [float(len(text)), float(ord(text[0])), 0.5]}
        for place, text in enumerate(body["input"])
    ]
    return {"data": data[::-1]}


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as made:
        made.answer = lambda body: (200, {}, vectors(body))
        yield made


def address(service: Service) -> str:
    return f"{service.url}/v1"


def paths(service: Service) -> list[str]:
    return [path for path, _, _ in service.asked]


def bodies(service: Service) -> list[Json]:
    return [body for _, _, body in service.asked]


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(service: Service) -> None:
    embedder = EndpointEmbedder(address(service), "small", api_key="k-1")
    texts = ["x" * count for count in range(130)]

    found = embedder.embed(texts)

    wanted = np.array([[max(n, 1), ord("x") if n else ord(" "), 0.5] for n in range(130)])
    assert np.allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert embedder.dimension == 3 and embedder.name == f"small@{address(service)}/embeddings:3"
    assert [len(body["input"]) for body in bodies(service)] == [64, 64, 2]
    assert set(paths(service)) == {"/v1/embeddings"}
    assert {body["model"] for body in bodies(service)} == {"small"}
    assert service.asked[0][1]["authorization"] == "Bearer k-1"
    assert embedder.embed([]).shape == (0, 3)


def test_no_request_is_made_before_a_vector_is_needed(service: Service) -> None:
    embedder = EndpointEmbedder(address(service), "small")
    assert service.asked == []
    assert embedder.dimension == 3 and embedder.embed([]).shape == (0, 3)
    assert len(service.asked) == 1


def test_another_dimension_is_another_model_name(service: Service) -> None:
    names = [EndpointEmbedder(address(service), "small", dimension=n).name for n in (3, 4)]
    assert names[0] != names[1]


def test_a_configured_dimension_is_not_requested_and_no_empty_key_is_sent(
    service: Service,
) -> None:
    embedder = EndpointEmbedder(address(service) + "/embeddings", "small", dimension=3)
    assert service.asked == []
    embedder.embed(["a"])
    assert "authorization" not in service.asked[0][1]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_service_is_tried_three_times_at_most(service: Service, status: int) -> None:
    waits: list[float] = []
    service.answer = lambda body: (
        (status, {}, b"") if len(service.asked) < 3 else (200, {}, vectors(body))
    )
    embedder = EndpointEmbedder(address(service), "small", dimension=3, wait=waits.append)

    assert embedder.embed(["a"]).shape == (1, 3)
    assert waits == [0.5, 1.0]

    service.answer = lambda body: (status, {}, b"")
    with pytest.raises(ModelError, match=str(status)):
        embedder.embed(["a"])
    assert len(service.asked) == 6 and len(waits) == 4


def test_a_retry_after_header_is_followed_within_limits(service: Service) -> None:
    waits: list[float] = []
    asked = iter(["3", "86400", ""])
    service.answer = lambda body: (429, {"Retry-After": next(asked)}, b"")
    embedder = EndpointEmbedder(address(service), "small", dimension=3, wait=waits.append)

    with pytest.raises(ModelError):
        embedder.embed(["a"])

    assert waits == [3.0, 10.0]


def test_a_refused_request_is_not_repeated(service: Service) -> None:
    service.answer = lambda body: (401, {}, {"error": "bad key"})
    embedder = EndpointEmbedder(address(service), "small", dimension=3)

    with pytest.raises(ModelError, match="401") as caught:
        embedder.embed(["a"])

    assert len(service.asked) == 1 and caught.value.remedy


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        [],
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 1, "embedding": [1.0, 2.0, 3.0]}]},
        {"data": [{"index": 0, "embedding": "text"}]},
        {"data": [{"index": 0, "embedding": [1.0, 2.0, float("nan")]}]},
        {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}] * 2},
    ],
)
def test_an_answer_of_the_wrong_shape_is_an_error(service: Service, answer: Any) -> None:
    service.answer = lambda body: (200, {}, answer)
    embedder = EndpointEmbedder(address(service), "small", dimension=3)

    with pytest.raises(ModelError, match="gave") as caught:
        embedder.embed(["a"])

    assert caught.value.remedy


def test_an_unreachable_or_slow_service_is_an_error(service: Service) -> None:
    held = threading.Event()

    def hold(body: dict[str, Any]) -> Answered:
        held.wait(60)
        return 200, {}, vectors(body)

    service.answer = hold
    slow = EndpointEmbedder(address(service), "small", dimension=3, timeout_s=0.05)
    try:
        with pytest.raises(ModelError, match="timed out"):
            slow.embed(["a"])
    finally:
        held.set()

    with pytest.raises(ModelError, match="failed"):
        EndpointEmbedder("http://127.0.0.1:1/v1", "small").embed(["a"])
    with pytest.raises(ModelError, match="not the address"):
        EndpointEmbedder("file:///etc/passwd", "small")


def test_redirects_are_not_followed(service: Service) -> None:
    elsewhere = {"Location": address(service) + "/elsewhere"}
    service.answer = lambda body: (307, elsewhere, b"")
    embedder = EndpointEmbedder(address(service), "small", dimension=3, api_key="k-1")

    with pytest.raises(ModelError, match="307"):
        embedder.embed(["a"])

    assert paths(service) == ["/v1/embeddings"]


def test_query_parameters_of_the_url_are_sent_but_neither_stored_nor_shown(
    service: Service,
) -> None:
    embedder = EndpointEmbedder(address(service) + "?key=s3cret", "small", dimension=3)
    service.answer = lambda body: (400, {}, b"")

    with pytest.raises(ModelError) as caught:
        embedder.embed(["a"])

    assert paths(service) == ["/v1/embeddings?key=s3cret"]
    assert "s3cret" not in embedder.name + caught.value.message


def test_a_text_with_invalid_unicode_is_sent_anyway(service: Service) -> None:
    EndpointEmbedder(address(service), "small", dimension=3).embed(["a\ud800"])
    assert bodies(service)[0]["input"] == ["a?"]
