from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.cross_encoder import CrossEncoder, packaged_reranker
from holdfast.inference.tokenizer import open_tokenizer
from tests.support.onnx_graphs import INPUTS, count_of_second, save

TOKENIZER = open_tokenizer(packaged.TOKENIZER)
TEXTS = ["cat " * count for count in (7, 1, 40, 3, 2, 900, 0)]


def test_scores_are_in_the_order_of_the_texts_and_long_texts_are_truncated(tmp_path: Path) -> None:
    reranker = CrossEncoder(count_of_second(tmp_path / "pairs.onnx"), TOKENIZER)

    assert reranker.score("who?", TEXTS) == [8, 2, 41, 4, 3, 321, 1]
    assert reranker.score("who?", []) == []


def test_only_as_many_texts_are_scored_as_the_token_limit_allows(tmp_path: Path) -> None:
    reranker = CrossEncoder(count_of_second(tmp_path / "pairs.onnx"), TOKENIZER)
    scores = reranker.score("who?", TEXTS)
    assert scores is not None
    assert reranker.score("who?", iter(TEXTS), tokens=10_000) == scores
    spent = reranker.score("who?", TEXTS, tokens=40)
    assert spent is not None and 0 < len(spent) < len(TEXTS) and spent == scores[: len(spent)]
    assert reranker.score("who?", TEXTS, tokens=1) == []


def test_the_number_of_threads_does_not_change_the_scores(tmp_path: Path) -> None:
    path = count_of_second(tmp_path / "pairs.onnx")
    one, three = (CrossEncoder(path, TOKENIZER, threads=count) for count in (1, 3))
    assert one.score("who?", TEXTS) == three.score("who?", TEXTS)


def test_a_passed_deadline_gives_no_scores_and_a_future_one_all(
    tmp_path: Path,
) -> None:
    reranker = CrossEncoder(count_of_second(tmp_path / "pairs.onnx"), TOKENIZER)

    assert reranker.score("who?", TEXTS, deadline=time.monotonic() - 1) is None
    assert reranker.score("who?", TEXTS, deadline=time.monotonic() + 3600) is not None


@pytest.mark.parametrize("threads", [1, 2])
def test_a_deadline_that_passes_midway_gives_no_scores(tmp_path: Path, threads: int) -> None:
    ticks: Iterator[int] = iter(range(100))
    reranker = CrossEncoder(
        count_of_second(tmp_path / "pairs.onnx"),
        TOKENIZER,
        threads=threads,
        clock=lambda: next(ticks),
    )
    assert reranker.score("who?", TEXTS, deadline=len(TEXTS) - 2) is None
    assert next(ticks) == len(TEXTS)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_slow_machine_reads_as_many_texts_as_fit_the_time(tmp_path: Path, threads: int) -> None:
    own = threading.local()

    def count_seconds() -> float:
        own.seconds = getattr(own, "seconds", 0.0) + 1
        return own.seconds

    # Every pair takes a second of its thread; the deadline is given on a clock that stands still.
    slow = CrossEncoder(
        count_of_second(tmp_path / "pairs.onnx"),
        TOKENIZER,
        threads=threads,
        clock=lambda: 0.0,
        cpu_clock=count_seconds,
    )
    texts = ["cat cat cat"] * 24
    first = slow.score("who?", texts, deadline=20.0, tokens=10_000)
    assert first == [4] * 24  # it did not know how slow it is
    fewer = slow.score("who?", texts, deadline=20.0, tokens=10_000)
    assert fewer is not None and len(fewer) == 4 * threads
    more = slow.score("who?", texts, deadline=28.0, tokens=10_000)
    assert more is not None and len(more) == 6 * threads
    assert slow.score("who?", texts) == first  # nobody waits for it


def test_a_fast_machine_reads_all_that_the_token_limit_allows(tmp_path: Path) -> None:
    fast = CrossEncoder(count_of_second(tmp_path / "pairs.onnx"), TOKENIZER, clock=lambda: 0.0)
    for _ in range(3):
        assert fast.score("who?", TEXTS[:5], deadline=1e6, tokens=10_000) == [8, 2, 41, 4, 3]


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    path = count_of_second(tmp_path / "pairs.onnx")
    right = hashlib.sha256(path.read_bytes()).hexdigest()

    assert CrossEncoder(path, TOKENIZER, right).score("a", ["b"]) == [2]
    with pytest.raises(ModelError, match="SHA-256"):
        CrossEncoder(path, TOKENIZER, "0" * 64)


def test_a_model_that_is_not_a_reranker_is_refused_with_a_remedy(tmp_path: Path) -> None:
    identity = [helper.make_node("Cast", ["input_ids"], ["out"], to=TensorProto.FLOAT)]
    cast_of_x = [helper.make_node("Cast", ["x"], ["out"], to=TensorProto.FLOAT)]
    save(tmp_path / "many.onnx", identity, {}, INPUTS)
    save(tmp_path / "other.onnx", cast_of_x, {}, ("x",))
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07 not a model")

    with pytest.raises(ModelError, match="for a pair"):
        CrossEncoder(tmp_path / "many.onnx", TOKENIZER).score("a", ["b"])
    for name, complaint in (
        ("other.onnx", "asks for x"),
        ("broken.onnx", "cannot be opened"),
        ("absent.onnx", "There is no"),
    ):
        with pytest.raises(ModelError, match=complaint) as caught:
            CrossEncoder(tmp_path / name, TOKENIZER)
        assert caught.value.remedy


def test_a_packaged_reranker_is_opened_only_if_its_hash_is_the_known_one(tmp_path: Path) -> None:
    path = tmp_path / "reranker" / "model.onnx"
    assert packaged_reranker(path=path) is None

    count_of_second(path)
    for wrong in ("", "0" * 64):
        with pytest.raises(ModelError, match="SHA-256"):
            packaged_reranker(path=path, expected_sha256=wrong)

    right = hashlib.sha256(path.read_bytes()).hexdigest()
    opened = packaged_reranker(path=path, expected_sha256=right)
    assert opened is not None and opened.score("a", ["b c"]) == [3]


@pytest.mark.model
def test_the_packaged_reranker_ranks_the_answer_first() -> None:
    reranker = packaged_reranker()
    assert reranker is not None
    texts = [
        "The cake needs two eggs and a cup of sugar.",
        "Redis is an in-memory store.",
        "We dropped Redis because it lost counts whenever it failed over.",
        "The limiter counts requests per minute.",
    ]

    scores = reranker.score("Why did we drop Redis?", texts)

    assert scores is not None and int(np.argmax(scores)) == 2
    assert reranker.score("Why did we drop Redis?", texts[2:3]) == scores[2:3]
