from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from holdfast.errors import ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import unit_rows
from holdfast.inference.onnx_file import find_tensor
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from tests.support.onnx_graphs import save, table


def test_the_table_is_found_inside_the_model_file() -> None:
    model = onnx.ModelProto.FromString(packaged.EMBEDDER.read_bytes())
    stored = next(each for each in model.graph.initializer if each.name == "words")
    wanted = numpy_helper.to_array(stored)[[0, 101, 2158, 30_521]].astype(np.float32)

    found = TokenVectors(packaged.EMBEDDER)

    assert (found.count, found.dimension) == (30_522, 384)
    got = found.vectors([0, 101, 2158, 30_521])
    lengths = np.linalg.norm(wanted, axis=1, keepdims=True)
    centre = unit_rows(numpy_helper.to_array(stored)[::16].astype(np.float32)).mean(axis=0)
    assert np.allclose(got, unit_rows(wanted / lengths - centre), atol=1e-5)
    assert found.vectors([]).shape == (0, 384)


def test_words_of_similar_meaning_are_closer_than_others() -> None:
    tokenizer, found = open_tokenizer(packaged.TOKENIZER), TokenVectors(packaged.EMBEDDER)
    man, woman, window = found.vectors(
        [tokenizer.pieces(word)[0] for word in ("man", "woman", "window")]
    )
    assert man @ woman > man @ window + 0.2


def test_similarities_are_the_products_of_vectors() -> None:
    found = TokenVectors(packaged.EMBEDDER)
    others = np.array([7, 101, 2158, 5, 30_521, *range(4000, 6000)])
    expected = found.vectors([2158, 2450]) @ found.vectors(others.tolist()).T
    for _ in range(2):  # the second time, what was computed of each token is known
        assert np.allclose(found.similarities([2158, 2450], others), expected, atol=1e-5)
    assert found.similarities([2158], others[:0]).shape == (1, 0)


def test_comparing_tokens_and_vectors_keeps_to_one_thread() -> None:
    code = (
        "import time, numpy as np\n"
        "from holdfast.inference import packaged\n"
        "from holdfast.inference.token_vectors import TokenVectors\n"
        "from holdfast.recall.retrievers.vector_matrix import row_products\n"
        "found, others = TokenVectors(packaged.EMBEDDER), np.arange(4000)\n"
        "rows = np.ones((20_000, 384), np.float32)\n"
        "whole, own = time.process_time(), time.thread_time()\n"
        "for _ in range(5):\n"
        "    found.similarities(list(range(16)), others)\n"
        "    row_products(rows, rows[0])\n"
        "print((time.process_time() - whole) / (time.thread_time() - own))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(done.stdout) < 1.2


def test_word_vectors_and_choosing_a_model_need_no_onnx_runtime() -> None:
    code = (
        "import sys\n"
        "import holdfast.inference.model_choice, holdfast.inference.embedder\n"
        "from holdfast.inference import packaged\n"
        "from holdfast.inference.token_vectors import TokenVectors\n"
        "TokenVectors(packaged.EMBEDDER).vectors([1, 2])\n"
        "print('onnxruntime' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("content", [b"", b"\xff" * 40, b"\x3a\xff\x7f", b"\x08\x07"])
def test_a_file_without_the_table_is_an_error_with_a_remedy(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    for attempt in (path, tmp_path / "absent.onnx"):
        with pytest.raises(ModelError, match="not an ONNX file") as caught:
            TokenVectors(attempt)
        assert caught.value.remedy


def test_a_truncated_packaged_model_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(packaged.EMBEDDER.read_bytes()[:-1000])
    with pytest.raises(ModelError):
        TokenVectors(path)


def test_a_table_of_floats_is_found_but_not_used_as_word_vectors(tmp_path: Path) -> None:
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["out"])]
    path = save(tmp_path / "model.onnx", nodes, {"other": table(2), "words": table(3)})

    found = find_tensor(path, "words")

    stored = np.fromfile(path, np.float32, count=30_522 * 3, offset=found.offset)
    assert np.array_equal(stored.reshape(found.shape), table(3))
    with pytest.raises(ModelError, match="8-bit"):
        TokenVectors(path)
