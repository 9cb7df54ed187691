"""The tools that train and write the reranker: what they prepare, and the graph they write."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from bert_graph import Bert
from train_reranker import prepare

SIZE, LAYERS, WORDS = 32, 2, 50


def test_questions_are_prepared_with_wrong_passages_that_share_their_words(tmp_path: Path) -> None:
    passages = [
        "user: why did we drop Redis", "assistant: Redis lost counts", "assistant: lunch is at one",
    ]  # fmt: skip
    asked: list[list[object]] = [["Why was Redis dropped?", [1], "a", "written", []],
             ["Where is the harbour?", [], "a", "chat", []]]  # fmt: skip
    (tmp_path / "data.json").write_text(json.dumps({"talk": {"P": passages, "Q": asked}}))
    prepare(
        argparse.Namespace(
            data=[tmp_path / "data.json"], out=tmp_path / "pairs.npz", leave_out="", most=10
        )
    )
    found = np.load(tmp_path / "pairs.npz")
    assert found["positives"][:, 0].tolist() == [1, -1]
    assert found["pool"][0][:2].tolist() == [0, -1], "the right one is not among the wrong ones"
    assert len(found["passage_ends"]) == 3 and found["bounds"].tolist() == [[0, 3], [0, 3]]
    assert found["weights"].sum() == np.float32(1)


def tiny_weights() -> dict[str, np.ndarray]:
    chance = np.random.default_rng(1)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, SIZE),
        "embeddings.position_embeddings.weight": (16, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "head.weight": (1, 2 * SIZE),
    }
    for layer in range(LAYERS):
        part = f"encoder.layer.{layer}."
        for kind in ("query", "key", "value"):
            shapes[f"{part}attention.self.{kind}.weight"] = (SIZE, SIZE)
        shapes[f"{part}attention.output.dense.weight"] = (SIZE, SIZE)
        shapes[f"{part}intermediate.dense.weight"] = (4 * SIZE, SIZE)
        shapes[f"{part}output.dense.weight"] = (SIZE, 4 * SIZE)
    weights = {name: chance.normal(0, 0.3, shape) for name, shape in shapes.items()}
    for name in list(weights):
        if name.endswith(("dense.weight", "query.weight", "key.weight", "value.weight")):
            weights[name.replace("weight", "bias")] = np.zeros(weights[name].shape[0])
    weights["head.bias"] = np.zeros(1)
    norms = ["embeddings", *(f"encoder.layer.{n}.{p}" for n in range(LAYERS)
                             for p in ("attention.output", "output"))]  # fmt: skip
    for name in norms:
        weights[f"{name}.LayerNorm.weight"] = np.ones(SIZE)
        weights[f"{name}.LayerNorm.bias"] = np.zeros(SIZE)
    return weights


@pytest.mark.slow
def test_the_graph_of_integers_scores_pairs_nearly_like_the_one_of_floats() -> None:
    config = {
        "num_hidden_layers": LAYERS, "hidden_size": SIZE, "num_attention_heads": 4,
        "layer_norm_eps": 1e-12,
    }  # fmt: skip
    bert = Bert(tiny_weights(), config)
    ids = np.random.default_rng(2).integers(0, WORDS, (8, 12))
    mask = np.ones_like(ids)
    mask[0, 8:] = 0
    second = (np.arange(12) >= 5).astype(np.int64)[None].repeat(8, 0)

    def scores(quantised: bool, types: np.ndarray) -> np.ndarray:
        model = bert.pair_model(quantised).SerializeToString()
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        return np.asarray(session.run(["score"], given)[0])

    exact = scores(False, second)
    assert exact.shape == (8,) and np.corrcoef(exact, scores(True, second))[0, 1] > 0.99
    assert np.abs(exact - scores(False, 1 - second)).max() > 0.1, "which text is which counts"
