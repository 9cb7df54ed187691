"""A BERT encoder as an ONNX graph, from its weights, without PyTorch: with mean pooling for
embeddings, or with a head that scores a pair of texts.

The quantised graph keeps the integers that ONNX Runtime computes with: activations are quantised
as they come, linear layers per output channel, word vectors per row. Layer weights use 7 bits:
processors without VNNI add two products of 8 bits in 16, which overflows with full 8-bit weights
and would give other vectors there than elsewhere. Channels that a normalisation makes large are
divided before, and their weights multiplied, so that they do not cost the small ones their bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]

OPSET = 20
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
IR_VERSION = 10
WEIGHT_LEVELS = 64
WORD_LEVELS = 127
# How much of the difference between channels goes to the weights. Mean cosine against the float
# network with 0, 0.3, 0.5, 0.7: .9903, .9904, .9911, .9917.
EVENING = 0.7


class Bert:
    """Weights and shape of a network, and the graphs made of them."""

    def __init__(self, weights: Mapping[str, Array], config: Mapping[str, Any]) -> None:
        self._weights = {name: value.astype(np.float32) for name, value in weights.items()}
        self._layers: int = config["num_hidden_layers"]
        self._width: int = config["hidden_size"]
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._quantised = False
        self._begin()

    def model(self, quantised: bool) -> onnx.ModelProto:
        """From `input_ids` and `attention_mask` to one `embedding` of length one per text."""
        state, mask = self._encoded(quantised, is_pair=False)
        mean = self._mean(state, mask)
        self._nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))
        return self._finished("minilm", _INPUTS[:2], "embedding", ["texts", self._width])

    def pair_model(self, quantised: bool) -> onnx.ModelProto:
        """From a pair of texts, told apart by `token_type_ids`, to one `score`: a linear head over
        the first vector and the mean."""
        state, mask = self._encoded(quantised, is_pair=True)
        first = self._node("Gather", state, self._ints(0), axis=1)
        first = self._node("Squeeze", first, self._ints(1))
        both = self._node("Concat", first, self._mean(state, mask), axis=-1)
        weight = self._constant("head.weight", self._weights["head.weight"].T)
        score = self._node("MatMul", both, weight)
        score = self._node("Add", score, self._constant("head.bias", self._weights["head.bias"]))
        self._nodes.append(helper.make_node("Squeeze", [score, self._ints(1)], ["score"]))
        return self._finished("reranker", _INPUTS, "score", ["texts"])

    def _encoded(self, quantised: bool, is_pair: bool) -> tuple[str, str]:
        """The state after the last layer, and the mask as numbers."""
        self._quantised = quantised
        self._begin()
        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        state, bias = self._embeddings(is_pair), self._bias(mask)
        for layer in range(self._layers):
            state = self._layer(state, f"encoder.layer.{layer}.", bias)
        return state, mask

    def _finished(
        self, name: str, inputs: Sequence[str], output: str, shape: Sequence[str | int]
    ) -> onnx.ModelProto:
        given = [
            helper.make_tensor_value_info(one, TensorProto.INT64, ["texts", "tokens"])
            for one in inputs
        ]
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))
        graph = helper.make_graph(self._nodes, name, given, [result], self._constants)
        versions = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)

    def _begin(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._named: set[str] = set()
        self._norms: dict[str, str] = {}

    def _constant(self, name: str, value: Array) -> str:
        if name not in self._named:
            self._named.add(name)
            self._constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _ints(self, *values: int) -> str:
        name = "ints_" + "_".join(str(value) for value in values)
        return self._constant(name, np.array(values, np.int64))

    def _number(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, np.float32))

    def _node(self, operation: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operation}_{len(self._nodes)}"
        node = helper.make_node(operation, list(inputs), [name], name=name, **attributes)
        self._nodes.append(node)
        return name

    def _embeddings(self, is_pair: bool) -> str:
        words, positions, types = (
            self._weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        length = self._node("Shape", "input_ids", start=1, end=2)
        table = self._constant("positions", positions)
        place = self._node("Slice", table, self._ints(0), length, self._ints(0))
        kind = self._constant("type", types if is_pair else types[0])
        if is_pair:
            kind = self._node("Gather", kind, "token_type_ids")
        word = self._node("Add", self._words(words), kind)
        return self._normalised(self._node("Add", word, place), "embeddings.LayerNorm")

    def _words(self, table: Array) -> str:
        if not self._quantised:
            return self._node("Gather", self._constant("words", table), "input_ids")
        scales = np.abs(table).max(axis=1, keepdims=True) / np.float32(WORD_LEVELS)
        scales = np.maximum(scales, np.float32(1e-12))
        rounded = _integers(table / scales)
        row = self._node("Gather", self._constant("words", rounded), "input_ids")
        scale = self._node("Gather", self._constant("word_scales", scales), "input_ids")
        return self._node("Mul", self._node("Cast", row, to=TensorProto.FLOAT), scale)

    def _bias(self, mask: str) -> str:
        padding = self._node("Sub", self._number("one", 1), mask)
        padding = self._node("Unsqueeze", padding, self._ints(1, 2))
        return self._node("Mul", padding, self._number("far", -10_000))

    def _layer(self, state: str, name: str, bias: str) -> str:
        mixed = self._attention(state, name + "attention.", bias)
        (wide,) = self._linears(mixed, [name + "intermediate.dense"])
        hidden = self._node("Gelu", wide)
        back = self._linear(hidden, name + "output.dense")
        return self._normalised(self._node("Add", back, mixed), name + "output.LayerNorm")

    def _attention(self, state: str, name: str, bias: str) -> str:
        depth = self._width // self._heads
        split = self._ints(0, 0, self._heads, depth)
        names = [f"{name}self.{part}" for part in ("query", "key", "value")]
        query, key, value = (
            self._node("Reshape", product, split) for product in self._linears(state, names)
        )
        query = self._node("Transpose", query, perm=[0, 2, 1, 3])
        key = self._node("Transpose", key, perm=[0, 2, 3, 1])
        value = self._node("Transpose", value, perm=[0, 2, 1, 3])
        scores = self._node("MatMul", query, key)
        scores = self._node("Mul", scores, self._number("shrink", depth**-0.5))
        shares = self._node("Softmax", self._node("Add", scores, bias), axis=-1)
        mixed = self._node("Transpose", self._node("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = self._node("Reshape", mixed, self._ints(0, 0, self._width))
        out = self._linear(mixed, name + "output.dense")
        return self._normalised(self._node("Add", out, state), name + "output.LayerNorm")

    def _linears(self, state: str, names: list[str]) -> list[str]:
        """Linear layers over what a normalisation gave, its channels evened out if quantised."""
        if not self._quantised:
            return [self._linear(state, name) for name in names]
        gain, shift = (self._weights[f"{self._norms[state]}.{part}"] for part in ("weight", "bias"))
        reach = 4 * np.abs(gain) + np.abs(shift)  # four standard deviations and the mean
        weights = [np.abs(self._weights[name + ".weight"]).max(axis=0) for name in names]
        factors = reach**EVENING / np.max(weights, axis=0) ** (1 - EVENING)
        factors = (factors / np.exp(np.log(factors).mean())).astype(np.float32)
        even = self._node("Mul", state, self._constant(names[0] + ".even", 1 / factors))
        return [self._linear(even, name, factors) for name in names]

    def _linear(self, state: str, name: str, factors: Array | None = None) -> str:
        weight = np.ascontiguousarray(self._weights[name + ".weight"].T)
        if factors is not None:
            weight = weight * factors[:, None]
        bias = self._constant(name + ".bias", self._weights[name + ".bias"])
        if not self._quantised:
            product = self._node("MatMul", state, self._constant(name + ".weight", weight))
            return self._node("Add", product, bias)
        scales = np.abs(weight).max(axis=0) / np.float32(WEIGHT_LEVELS)
        rounded = _integers(weight / scales)
        return self._node("Add", self._integer_product(state, name, rounded, scales), bias)

    def _integer_product(self, state: str, name: str, weight: Array, scales: Array) -> str:
        """Quantise the activations, multiply integers, scale back: the pattern that ONNX Runtime
        runs as one operation."""
        small = f"{state}_small"
        scale, zero = f"{small}_scale", f"{small}_zero"
        if small not in self._named:  # query, key and value share theirs
            self._named.add(small)
            outputs = [small, scale, zero]
            self._nodes.append(
                helper.make_node("DynamicQuantizeLinear", [state], outputs, name=small)
            )
        level = self._constant(name + ".zero", np.zeros(scales.shape, np.int8))
        integers = self._constant(name + ".weight", weight)
        product = self._node("MatMulInteger", small, integers, zero, level)
        product = self._node("Cast", product, to=TensorProto.FLOAT)
        both = self._node("Mul", scale, self._constant(name + ".scale", scales))
        return self._node("Mul", product, both)

    def _normalised(self, state: str, name: str) -> str:
        gain = self._constant(name + ".weight", self._weights[name + ".weight"])
        shift = self._constant(name + ".bias", self._weights[name + ".bias"])
        normal = self._node(
            "LayerNormalization", state, gain, shift, axis=-1, epsilon=self._epsilon
        )
        self._norms[normal] = name
        return normal

    def _mean(self, state: str, mask: str) -> str:
        """The mean over real tokens."""
        kept = self._node("Mul", state, self._node("Unsqueeze", mask, self._ints(2)))
        total = self._node("ReduceSum", kept, self._ints(1), keepdims=0)
        count = self._node("ReduceSum", mask, self._ints(1), keepdims=1)
        return self._node("Div", total, count)


def _integers(values: Array) -> npt.NDArray[np.int8]:
    return np.asarray(np.rint(values), dtype=np.int8)
