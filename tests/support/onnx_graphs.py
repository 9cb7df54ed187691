"""Tiny ONNX models of our own, so that every class is tested without anybody's weights."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from holdfast.inference import packaged

VOCABULARY = 30_522
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def table(width: int) -> npt.NDArray[np.float32]:
    """A vector for each id, without anything random."""
    numbers = np.arange(VOCABULARY * width, dtype=np.float32).reshape(VOCABULARY, width)
    return np.sin(numbers).astype(np.float32)


def save(
    path: Path,
    nodes: list[onnx.NodeProto],
    constants: dict[str, npt.NDArray[np.float32] | npt.NDArray[np.int64]],
    inputs: tuple[str, ...] = INPUTS[:2],
) -> Path:
    """A graph from those inputs to `out`."""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "s"]) for name in inputs],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tests"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def token_states(folder: Path, width: int = 3, inputs: tuple[str, ...] = INPUTS[:2]) -> Path:
    """A folder whose model gives one vector per token: the one of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["out"])]
    save(folder / "model.onnx", nodes, {"table": table(width)}, inputs)
    copyfile(packaged.TOKENIZER, folder / "tokenizer.json")
    return folder


def count_of_second(path: Path) -> Path:
    """A model of pairs whose score is how many tokens belong to the second text."""
    nodes = [
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["types", "axes"], ["out"], keepdims=1),
    ]
    return save(path, nodes, {"axes": np.array([1], np.int64)}, INPUTS)
