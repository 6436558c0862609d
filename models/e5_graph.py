"""Builds the ONNX graph of the embedded encoder from its weights, in 8-bit integers row by row.

Every product with a weight matrix is done in integers. An activation row (one token) is scaled by its own largest
absolute value, a weight column by its own, so that no token's rounding hangs on the texts beside it in the batch: a
text has one vector, whatever it is embedded with. `(x / a) W = (round(127 x / a) / 127) W`, zero at 128. The largest
value per tensor, which the runtime's own dynamic quantisation takes, is as fast and costs five times the error.

Weights keep 7 of the 8 bits: on processors without 8-bit dot products (AVX2), two products of full range overflow the
16-bit sum that they are added in, and the vectors would differ by machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from models.e5_layout import IDS, MASK, NAME, TOKEN_VECTORS, VECTORS

if TYPE_CHECKING:
    from models.e5_weights import E5Weights, FloatArray

_CONTRIB = "com.microsoft"  # the runtime's own operators
_OPSET, _CONTRIB_OPSET, _IR_VERSION = 21, 1, 10  # 21 is the first with 4-bit tensors; read by onnxruntime 1.20 and up
_ACTIVATION_RANGE = 127  # 8 bits around the zero point
_ACTIVATION_ZERO = 128
_WEIGHT_RANGE = 63  # 7 bits: 2 * 255 * 63 < 2 ** 15
_BLOCK = 32  # weights of the word embeddings that share a scale
_SMALLEST = 1e-12  # keeps a row of zeros from being divided by zero
_EXTERNAL_FROM = 1024  # bytes from which a tensor lies in the data file, mapped into memory rather than parsed


def write_graph(weights: E5Weights, path: Path, *, quantised: bool = True) -> list[Path]:
    """Write the graph, and its tensors beside it in `NAME.data`.

    Inputs: `input_ids` `(batch, length)` int64 and `attention_mask` `(batch, length)` int32 (1 for a token, 0 for
    padding, which stands at the end). Outputs: `vectors` `(batch, hidden)`, mean of the token vectors scaled to
    length 1, and `token_vectors` `(batch, length, hidden)`, the encoder's last states. Which are computed is the
    caller's choice when it runs the session.

    Args:
        weights: as read from the package.
        path: where the graph goes.
        quantised: False keeps float32, the reference that the quantised graph is measured against.

    Returns:
        The files written.
    """
    graph = _Graph(weights, quantised=quantised).build()
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, _CONTRIB_OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="mafteach")
    data = path.with_name(path.name + ".data")
    onnx.save_model(model, str(path), save_as_external_data=True, location=data.name, size_threshold=_EXTERNAL_FROM)
    return [path, data]


class _Graph:
    """Collects nodes and tensors. Every method that adds a node returns the name of its output."""

    def __init__(self, weights: E5Weights, *, quantised: bool) -> None:
        self._weights = weights
        self._quantised = quantised
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []

    def build(self) -> onnx.GraphProto:
        weights = self._weights
        self._tensor("first_axis", np.array([1]))
        self._tensor("zero_index", np.array([0]))
        if self._quantised:
            self._tensor("last_axis", np.array([-1]))
            self._tensor("one", np.float32(1))
            self._tensor("smallest", np.float32(_SMALLEST))
            self._tensor("activation_range", np.float32(_ACTIVATION_RANGE))
            self._tensor("activation_zero", np.uint8(_ACTIVATION_ZERO))
        states = self._embeddings()
        for number in range(len(weights.layers)):
            states = self._layer(number, states, last=number == len(weights.layers) - 1)
        self._pool(states)
        return helper.make_graph(
            self._nodes,
            NAME,
            [
                helper.make_tensor_value_info(IDS, TensorProto.INT64, ["batch", "length"]),
                helper.make_tensor_value_info(MASK, TensorProto.INT32, ["batch", "length"]),
            ],
            [
                helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["batch", weights.hidden]),
                helper.make_tensor_value_info(TOKEN_VECTORS, TensorProto.FLOAT, ["batch", "length", weights.hidden]),
            ],
            self._tensors,
        )

    def _embeddings(self) -> str:
        weights = self._weights
        centred = weights.words.centred()
        packed = (centred[:, 0::2] & 0x0F) | ((centred[:, 1::2] & 0x0F) << 4)  # two neighbours a byte, the first low
        self._tensors.append(
            helper.make_tensor("words", TensorProto.INT4, centred.shape, packed.astype(np.uint8).tobytes(), raw=True)
        )
        words = self._node(
            "GatherBlockQuantized",
            ["words", IDS, self._tensor("word_scales", weights.words.scales)],
            domain=_CONTRIB,
            block_size=_BLOCK,
            gather_axis=0,
            quantize_axis=1,
        )
        self._tensor("positions", weights.positions + weights.token_type)  # there is one token type
        length = self._node("Shape", [IDS], start=1, end=2)
        positions = self._node("Slice", ["positions", "zero_index", length, "zero_index"])
        return self._norm("embedding_norm", self._node("Add", [words, positions]), weights.embedding_norm)

    def _layer(self, number: int, states: str, *, last: bool) -> str:
        layer = self._weights.layers[number]
        rows = self._rows(states)
        projections = [
            self._product(f"{number}.{name}", rows, matrix)
            for name, (matrix, _) in (("query", layer.query), ("key", layer.key), ("value", layer.value))
        ]
        bias = self._tensor(f"{number}.qkv.bias", np.concatenate([layer.query[1], layer.key[1], layer.value[1]]))
        attended = self._node(
            "MultiHeadAttention", [*projections, bias, MASK], domain=_CONTRIB, num_heads=self._weights.heads
        )
        mixed = self._linear(f"{number}.attention_out", self._rows(attended), layer.attention_out)
        # Addition and LayerNorm apart: the runtime's joint operator is not vectorised and takes a fifth of the time.
        states = self._norm(f"{number}.attention_norm", self._node("Add", [mixed, states]), layer.attention_norm)
        up = self._product(f"{number}.up", self._rows(states), layer.up[0])
        grown = self._node("BiasGelu", [up, self._tensor(f"{number}.up.bias", layer.up[1])], domain=_CONTRIB)
        down = self._linear(f"{number}.down", self._rows(grown), layer.down)
        output = TOKEN_VECTORS if last else None
        return self._norm(f"{number}.output_norm", self._node("Add", [down, states]), layer.output_norm, output)

    def _pool(self, states: str) -> None:
        weights = self._node("Cast", [MASK], to=TensorProto.FLOAT)
        # The sum over tokens: its division by their number would be undone by the scaling to length 1.
        total = self._node("MatMul", [self._node("Unsqueeze", [weights, "first_axis"]), states])
        self._node("LpNormalization", [self._node("Squeeze", [total, "first_axis"])], output=VECTORS, axis=-1, p=2)

    def _rows(self, states: str) -> tuple[str, str]:
        """Split states into what a product takes: 8-bit rows, and the scale of each row, `(batch, length, 1)`."""
        if not self._quantised:
            return states, ""
        largest = self._node("ReduceMax", [self._node("Abs", [states]), "last_axis"], keepdims=1)
        scale = self._node("Div", [self._node("Max", [largest, "smallest"]), "activation_range"])
        spread = self._node("Mul", [states, self._node("Reciprocal", [scale])])
        return self._node("QuantizeLinear", [spread, "one", "activation_zero"]), scale

    def _product(self, name: str, rows: tuple[str, str], matrix: FloatArray) -> str:
        """Rows times a linear layer's `(outputs, inputs)` matrix, in float32."""
        states, scale = rows
        columns = np.ascontiguousarray(matrix.T)
        if not self._quantised:
            return self._node("MatMul", [states, self._tensor(name, columns)])
        column_scales = np.abs(columns).max(axis=0) / _WEIGHT_RANGE
        column_scales[column_scales == 0] = 1.0
        integers = np.rint(columns / column_scales).astype(np.int8)
        product = self._node(
            "MatMulIntegerToFloat",
            [
                states,
                self._tensor(name, integers),
                "one",
                self._tensor(f"{name}.scales", column_scales.astype(np.float32)),
                "activation_zero",
                self._tensor(f"{name}.zeros", np.zeros(len(column_scales), dtype=np.int8)),
            ],
            domain=_CONTRIB,
        )
        return self._node("Mul", [product, scale])

    def _linear(self, name: str, rows: tuple[str, str], layer: tuple[FloatArray, FloatArray]) -> str:
        return self._node("Add", [self._product(name, rows, layer[0]), self._tensor(f"{name}.bias", layer[1])])

    def _norm(self, name: str, states: str, norm: tuple[FloatArray, FloatArray], output: str | None = None) -> str:
        scale, shift = self._tensor(f"{name}.scale", norm[0]), self._tensor(f"{name}.shift", norm[1])
        return self._node(
            "LayerNormalization", [states, scale, shift], output=output, axis=-1, epsilon=self._weights.epsilon
        )

    def _tensor(self, name: str, values: NDArray[np.generic] | np.generic) -> str:
        self._tensors.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _node(
        self, kind: str, inputs: list[str], *, domain: str = "", output: str | None = None, **attributes: Any
    ) -> str:
        name = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], domain=domain, name=name, **attributes))
        return name
