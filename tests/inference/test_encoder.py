from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from onnx import TensorProto, helper

from holdfast.errors import HoldfastError, ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import Embedder
from holdfast.inference.encoder import OnnxEncoder, packaged_encoder
from holdfast.inference.tokenizer import open_tokenizer
from tests.support.onnx_graphs import INPUTS, save, table, token_states

RECORDED = Path(__file__).parents[1] / "recorded" / "embeddings"
TEXTS: list[str] = json.loads((RECORDED / "texts.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def shipped() -> Embedder:
    return packaged_encoder()


def test_the_packaged_model_agrees_with_the_float_weights(shipped: Embedder) -> None:
    with np.load(RECORDED / "reference.npz") as recorded:
        reference = recorded["vectors"].astype(np.float32)

    cosines = np.sum(reference * shipped.embed(TEXTS), axis=1)

    assert len(TEXTS) >= 60
    assert cosines.mean() >= 0.99 and cosines.min() >= 0.97


def test_vectors_have_the_documented_shape_and_length(shipped: Embedder) -> None:
    found = shipped.embed(TEXTS)

    assert shipped.name == "all-MiniLM-L6-v2-int8" and shipped.dimension == 384
    assert found.dtype == np.float32 and found.shape == (len(TEXTS), 384)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert shipped.embed([]).shape == (0, 384)


def test_similar_meaning_ranks_above_shared_words(shipped: Embedder) -> None:
    question, answer, decoy = shipped.embed(
        [
            "Which database stores login sessions?",
            "We keep user sign-ins in Postgres.",
            "Which sessions of the conference store are in the database hall?",
        ]
    )
    other = shipped.embed(["The cake needs two eggs and a cup of sugar."])[0]
    assert question @ answer > 0.4 > question @ other
    assert question @ decoy > question @ other


def test_a_vector_does_not_depend_on_the_batch_or_the_number_of_threads(
    shipped: Embedder,
) -> None:
    together = shipped.embed(TEXTS[:30])
    alone = np.concatenate([shipped.embed([text]) for text in reversed(TEXTS[:30])])[::-1]
    by_three = packaged_encoder(threads=3).embed(TEXTS[:30])

    assert np.array_equal(together, alone)
    assert np.array_equal(together, by_three)


def test_a_text_is_truncated_at_the_limit(shipped: Embedder) -> None:
    head = "cat " * 254
    assert np.array_equal(shipped.embed([head + "dog"]), shipped.embed([head + "fish " * 999]))
    assert not np.array_equal(shipped.embed([head]), shipped.embed([head[:-8] + "fish fish"]))


def test_the_worker_stays_below_300_megabytes() -> None:
    code = (
        "import psutil\n"
        "from holdfast.inference.encoder import packaged_encoder\n"
        "packaged_encoder(threads=2).embed(['many words ' * 300] * 8)\n"
        "print(psutil.Process().memory_info().rss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) < 300_000_000


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_packaged_file_with_another_hash_is_refused_before_it_is_used(
    tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "minilm"
    copytree(packaged.EMBEDDER.parent, folder)
    whole = bytearray((folder / file).read_bytes())
    whole[len(whole) // 2] ^= 1
    (folder / file).write_bytes(whole)

    with pytest.raises(ModelError, match="SHA-256") as caught:
        packaged_encoder(folder=folder)

    assert str(folder / file) in caught.value.message and "reinstall" in caught.value.remedy


def test_a_missing_packaged_file_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read") as caught:
        packaged_encoder(folder=tmp_path)
    assert caught.value.remedy


@pytest.mark.parametrize("inputs", [INPUTS[:1], INPUTS[:2], INPUTS])
def test_token_states_are_averaged_whatever_inputs_the_graph_has(
    tmp_path: Path, inputs: tuple[str, ...]
) -> None:
    encoder = OnnxEncoder(token_states(tmp_path / "mine", inputs=inputs))

    found = encoder.embed(["a cat sat", ""])

    ids = open_tokenizer(packaged.TOKENIZER).ids("a cat sat", 256)
    wanted = table(3)[ids].mean(axis=0)
    assert np.allclose(found[0], wanted / np.linalg.norm(wanted), atol=1e-5)
    assert encoder.dimension == 3 and found.shape == (2, 3)


def test_the_output_of_a_graph_that_pools_is_used_as_it_is(tmp_path: Path) -> None:
    folder = token_states(tmp_path / "mine")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"]),
        helper.make_node("ReduceMax", ["states"], ["out"], axes=[1], keepdims=0),
    ]
    (folder / "model.onnx").unlink()
    save(folder / "onnx" / "model.onnx", nodes, {"table": table(4)})

    found = OnnxEncoder(folder).embed(["a cat sat"])[0]

    ids = open_tokenizer(packaged.TOKENIZER).ids("a cat sat", 256)
    wanted = table(4)[ids].max(axis=0)
    assert np.allclose(found, wanted / np.linalg.norm(wanted), atol=1e-5)


def test_the_model_name_changes_with_weights_vocabulary_and_limit(tmp_path: Path) -> None:
    folder = token_states(tmp_path / "mine")
    names = [OnnxEncoder(folder).name, OnnxEncoder(folder).name]
    names.append(OnnxEncoder(folder, limit=100).name)
    token_states(folder, width=4)
    names.append(OnnxEncoder(folder).name)
    (folder / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes() + b"\n")
    names.append(OnnxEncoder(folder).name)

    assert names[0] == names[1] and len(set(names)) == 4
    assert all(name.startswith("mine-") for name in names)


def test_a_model_with_a_smaller_limit_gets_less_text(tmp_path: Path) -> None:
    folder = token_states(tmp_path / "mine")
    long = OnnxEncoder(folder).embed(["cat dog " * 50])
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 3}')

    short = OnnxEncoder(folder)

    assert np.array_equal(short.embed(["cat dog " * 50]), short.embed(["cat"]))
    assert not np.array_equal(short.embed(["cat dog " * 50]), long)


def test_an_unusable_folder_is_reported_with_a_remedy(tmp_path: Path) -> None:
    bare = token_states(tmp_path / "bare")
    (bare / "tokenizer.json").unlink()
    broken = token_states(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"\x08\x07 not a model")
    empty = tmp_path / "empty"
    empty.mkdir()
    garbled = token_states(tmp_path / "garbled")
    (garbled / "config.json").write_text("{")
    other = token_states(tmp_path / "other")
    cast_of_x = [helper.make_node("Cast", ["x"], ["out"], to=TensorProto.FLOAT)]
    save(other / "model.onnx", cast_of_x, {}, ("x",))
    flat = token_states(tmp_path / "flat")
    nodes = [helper.make_node("ReduceSum", ["table"], ["out"], keepdims=0)]
    save(flat / "model.onnx", nodes, {"table": table(1)})

    for folder, complaint in (
        (tmp_path / "absent", "is not a folder"),
        (empty, "has no ONNX model"),
        (bare, "There is no"),
        (broken, "cannot be opened as an ONNX model"),
        (garbled, "config.json cannot be read"),
        (other, "not for input_ids"),
        (flat, "no text vector"),
    ):
        with pytest.raises(HoldfastError, match=complaint) as caught:
            OnnxEncoder(folder)
        assert caught.value.remedy


def test_a_model_of_another_dimension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="3 numbers, not of 384"):
        OnnxEncoder(token_states(tmp_path / "mine"), dimension=384)


def test_a_graph_with_inputs_other_than_text_is_refused(tmp_path: Path) -> None:
    folder = token_states(tmp_path / "mine", inputs=(*INPUTS, "pixel_values"))
    with pytest.raises(ModelError, match="does not run") as caught:
        OnnxEncoder(folder)
    assert "pixel_values" in caught.value.remedy
