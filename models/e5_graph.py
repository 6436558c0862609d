"""Builds the ONNX graph of the embedded encoder from its weights, in 8-bit integers row by row.

Every product with a weight matrix is done in integers. An activation row (one token) is scaled by its own largest
absolute value, a weight column by its own, so that no token's rounding hangs on the texts beside it in the batch: a
text has one vector, whatever it is embedded with. `(x / a) W = (round(127 x / a) / 127) W`, zero at 128. The largest
value per tensor, which the runtime's own dynamic quantisation takes, is as fast and costs five times the error.

The scales of rows are found and used in operators of their own around the runtime's integer product, written so as to
pass over the activations as few times as possible. There is no mask: a batch holds texts of one length. With padding,
attention would take another kernel of the runtime, a slower one, whose last bits differ, and a rounding that falls to
the other side goes on through all layers.

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

from models.e5_layout import IDS, NAME, TOKEN_VECTORS, VECTORS
from models.e5_weights import NIBBLE_ZERO

if TYPE_CHECKING:
    from models.e5_weights import E5Weights, FloatArray

_CONTRIB = "com.microsoft"  # the runtime's own operators
_OPSET, _CONTRIB_OPSET, _IR_VERSION = 21, 1, 10  # 21 is the first with 4-bit tensors; read by onnxruntime 1.20 and up
_ACTIVATION_RANGE = 127  # 8 bits around the zero point
_ACTIVATION_ZERO = 128
_WEIGHT_RANGE = 63  # 7 bits: 2 * 255 * 63 < 2 ** 15
_GELU_FLOOR = 0.1701  # GELU gives nothing below its negative: the largest value, or this, bounds a row of its outputs
_SMALLEST = 1e-12  # keeps a row of zeros from being divided by zero
_INDICES = {"zero_index": [0], "first_axis": [1], "last_axis": [-1], "joined": [0, 0, -1]}
_FLOATS = {"one": 1, "activation_range": _ACTIVATION_RANGE, "smallest": _SMALLEST, "gelu_floor": _GELU_FLOOR}
_EXTERNAL_FROM = 1024  # bytes from which a tensor lies in the data file, mapped into memory rather than parsed


def write_graph(weights: E5Weights, path: Path, *, quantised: bool = True) -> list[Path]:
    """Write the graph, and its tensors beside it in `NAME.data`.

    Input: `input_ids` `(batch, length)` int64, sequences of one length without padding. Outputs: `vectors`
    `(batch, hidden)`, mean of the token vectors scaled to length 1, and `token_vectors` `(batch, length, hidden)`, the
    encoder's last states.

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
        for name, indices in _INDICES.items():
            self._tensor(name, np.array(indices))
        # Between attentions all texts' tokens are rows of one matrix, `(tokens, hidden)`.
        self._tensor("by_token", np.array([-1, weights.hidden]))
        self._node("Concat", [self._node("Shape", [IDS]), "last_axis"], output="by_text", axis=0)
        if self._quantised:
            for name, value in _FLOATS.items():
                self._tensor(name, np.float32(value))
            self._tensor("activation_zero", np.uint8(_ACTIVATION_ZERO))
            zero = helper.make_tensor("value", TensorProto.UINT8, [1], [_ACTIVATION_ZERO])
            # A zero point for each row.
            rows = self._node("ReduceProd", [self._node("Shape", [IDS])], keepdims=1)
            self._node("ConstantOfShape", [rows], output="row_zeros", value=zero)
        states = self._embeddings()
        for number in range(len(weights.layers)):
            states = self._layer(number, states)
        self._pool(self._node("Reshape", [states, "by_text"], output=TOKEN_VECTORS))
        return helper.make_graph(
            self._nodes,
            NAME,
            [helper.make_tensor_value_info(IDS, TensorProto.INT64, ["batch", "length"])],
            [
                helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["batch", weights.hidden]),
                helper.make_tensor_value_info(TOKEN_VECTORS, TensorProto.FLOAT, ["batch", "length", weights.hidden]),
            ],
            self._tensors,
        )

    def _embeddings(self) -> str:
        weights = self._weights
        # The file's own 4-bit blocks, unpacked after the look-up. The runtime's own operator for it is slower.
        self._tensor("word_nibbles", weights.words.nibbles)
        self._tensor("word_scales", weights.words.scales.astype(np.float16))  # as the file has them
        self._tensor("low_half", np.uint8(0x0F))
        self._tensor("half_a_byte", np.uint8(4))
        self._tensor("nibble_zero", np.float32(NIBBLE_ZERO))
        bytes_ = self._node("Gather", ["word_nibbles", IDS])
        halves = [
            self._node("BitwiseAnd", [bytes_, "low_half"]),
            self._node("BitShift", [bytes_, "half_a_byte"], direction="RIGHT"),
        ]
        nibbles = self._node("Cast", [self._node("Concat", halves, axis=-1)], to=TensorProto.FLOAT)
        scales = self._node("Cast", [self._node("Gather", ["word_scales", IDS])], to=TensorProto.FLOAT)
        blocks = self._node(
            "Mul",
            [self._node("Sub", [nibbles, "nibble_zero"]), self._node("Unsqueeze", [scales, "last_axis"])],
        )
        words = self._node("Reshape", [blocks, "joined"])
        self._tensor("positions", weights.positions + weights.token_type)  # there is one token type
        length = self._node("Shape", [IDS], start=1, end=2)
        positions = self._node("Slice", ["positions", "zero_index", length, "zero_index"])
        states = self._node("Reshape", [self._node("Add", [words, positions]), "by_token"])
        return self._norm("embedding_norm", states, weights.embedding_norm)

    def _layer(self, number: int, states: str) -> str:
        layer = self._weights.layers[number]
        rows = self._rows(states)
        projections = [
            self._node("Reshape", [self._product(f"{number}.{name}", rows, matrix), "by_text"])
            for name, (matrix, _) in (("query", layer.query), ("key", layer.key), ("value", layer.value))
        ]
        bias = self._tensor(f"{number}.qkv.bias", np.concatenate([layer.query[1], layer.key[1], layer.value[1]]))
        attended = self._node(
            "MultiHeadAttention", [*projections, bias], domain=_CONTRIB, num_heads=self._weights.heads
        )
        mixed = self._linear(
            f"{number}.attention_out", self._rows(self._node("Reshape", [attended, "by_token"])), layer.attention_out
        )
        # Addition and LayerNorm apart: the runtime's joint operator is not vectorised and takes a fifth of the time.
        states = self._norm(f"{number}.attention_norm", self._node("Add", [mixed, states]), layer.attention_norm)
        up = self._product(f"{number}.up", self._rows(states), layer.up[0])
        # By tanh: nearer to the exact curve than the 8-bit steps that follow, and a third less time.
        grown = self._node("FastGelu", [up, self._tensor(f"{number}.up.bias", layer.up[1])], domain=_CONTRIB)
        down = self._linear(f"{number}.down", self._rows(grown, floor="gelu_floor"), layer.down)
        return self._norm(f"{number}.output_norm", self._node("Add", [down, states]), layer.output_norm)

    def _pool(self, states: str) -> None:
        # The sum over tokens: its division by their number would be undone by the scaling to length 1.
        total = self._node("ReduceSum", [states, "first_axis"], keepdims=0)
        self._node("LpNormalization", [total], output=VECTORS, axis=-1, p=2)

    def _rows(self, states: str, floor: str | None = None) -> tuple[str, str]:
        """Split states into what a product takes: 8-bit rows, and the scale of each row, `(tokens, 1)`.

        Args:
            states: `(tokens, any)`.
            floor: a constant below whose negative no state lies: spares the pass for absolute values.
        """
        if not self._quantised:
            return states, ""
        sizes = states if floor else self._node("Abs", [states])
        largest = self._node("ReduceMax", [sizes, "last_axis"], keepdims=0)
        scale = self._node("Div", [self._node("Max", [largest, floor or "smallest"]), "activation_range"])
        integers = self._node("QuantizeLinear", [states, scale, "row_zeros"], axis=0)
        return integers, self._node("Unsqueeze", [scale, "last_axis"])

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

    def _norm(self, name: str, states: str, norm: tuple[FloatArray, FloatArray]) -> str:
        scale, shift = self._tensor(f"{name}.scale", norm[0]), self._tensor(f"{name}.shift", norm[1])
        return self._node("LayerNormalization", [states, scale, shift], axis=-1, epsilon=self._weights.epsilon)

    def _tensor(self, name: str, values: NDArray[np.generic] | np.generic) -> str:
        self._tensors.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _node(
        self, kind: str, inputs: list[str], *, domain: str = "", output: str | None = None, **attributes: Any
    ) -> str:
        name = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], domain=domain, name=name, **attributes))
        return name
