"""Late interaction on few bits: a passage keeps a code for each of its tokens, a query is compared with all of them.

    MaxSim(q, d) = sum over query tokens i of max over passage tokens j of q_i . d_j

(Khattab and Zaharia, "ColBERT", SIGIR 2020). Here the token vectors are the embedder's own last states, of the same
forward pass as the passage's vector. They share a large common part, which says nothing: it is subtracted (`centres`).
Then a fixed orthogonal transform spreads each vector evenly over its dimensions, so that every dimension is near a
normal distribution and can be kept by the levels of Max ("Quantizing for minimum distortion", IRE Trans. Information
Theory 6, 1960). Passage tokens are scaled to length 1 before. Query tokens are not, and stay floats: a token far from
the common part is a distinctive word, and its length is its weight.

A code is `HEADER` (version, bits, number of tokens) and then the tokens, `dim * bits / 8` bytes each, the first
dimension in the highest bits.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.base import MaxSims, Vectors
from search_config.errors import IndexMismatch

# Changes with anything that makes old codes wrong: layout, levels, transform.
CODE_VERSION: Final = 2
# Six bytes: base64, in which codes travel, is whole every three.
HEADER: Final = struct.Struct("<BBI")
CENTRES_FILE: Final = "e5_token_centres.npy"
# Seeds the signs of the transform; any text would do.
TRANSFORM_SEED: Final = "mafteach token codes 1"
# Rounds of signs and mixing. One leaves structure of single dimensions in place; after two a unit vector along any one
# axis is spread over all.
TRANSFORM_ROUNDS: Final = 2
BITS: Final = (1, 2, 4)
# Tokens of a window, half of it shared with the next one: a sentence or two. 16 and 64 do as well (docs/reranking.md).
NEAR: Final = 32
# Positive reproduction levels for a normal variable of variance 1 (Max 1960, table I, N = 2, 4, 16).
_LEVELS: Final[dict[int, tuple[float, ...]]] = {
    1: (0.7980,),
    2: (0.4528, 1.510),
    4: (0.1284, 0.3881, 0.6568, 0.9424, 1.256, 1.618, 2.069, 2.733),
}
# Widest types under which the levels of one byte are copied as one value: what makes decoding a plain look-up.
_AS_ONE: Final = {2: np.complex128, 4: np.complex64}
# Products of matrices are fastest in columns by eights (15 take half as long again as 16), and tokens that are decoded
# and multiplied while they are in the core's cache take a third less than all of them: 128 are 200 kB, written again
# and again into the same memory.
_COLUMNS: Final = 8
_AT_ONCE: Final = 128
_SMALLEST: Final = 1e-12  # keeps a token that is the centre itself from being divided by zero
_BYTE: Final = 8

Codes = NDArray[np.uint8]


class TokenCoding:
    """Writes and reads codes of `bits` bits a dimension. Pure; safe for use by several threads."""

    def __init__(self, centre: Vectors, bits: int) -> None:
        """Args:
            centre: `(dim,)`, what all tokens have in common.
            bits: 1, 2 or 4.

        Raises:
            ValueError: another number of bits, or a dimension that they do not fill into whole bytes.
        """
        if bits not in BITS or len(centre) * bits % _BYTE:
            raise ValueError(f"{bits} bits of {len(centre)} dimensions cannot be packed")
        self.bits = bits
        self.dim = len(centre)
        self._centre = centre.astype(np.float32)
        self._transform = orthogonal(self.dim).astype(np.float32)
        positive = np.array(_LEVELS[bits], dtype=np.float32)
        levels = np.concatenate([-positive[::-1], positive])
        self._thresholds = (levels[1:] + levels[:-1]) / 2
        per_byte = _BYTE // bits
        # Place of each of a byte's values, highest bits first, and the levels that each byte stands for.
        self._shifts = np.arange(per_byte - 1, -1, -1, dtype=np.uint8) * bits
        numbers = np.arange(256, dtype=np.uint8)[:, None] >> self._shifts & (len(levels) - 1)
        # Divided once here, so that decoded tokens are about of length 1.
        table = np.ascontiguousarray(levels[numbers] / np.float32(np.sqrt(self.dim)))
        self._table = table.view(_AS_ONE[bits]).ravel() if bits in _AS_ONE else table

    @property
    def identity(self) -> str:
        """What codes must have in common to be comparable, beside the model."""
        centre = hashlib.sha256(self._centre.astype("<f4").tobytes()).hexdigest()[:8]
        return f"maxsim-{CODE_VERSION}/{self.bits}bit/{centre}"

    @property
    def token_bytes(self) -> int:
        """Bytes of one token's code."""
        return self.dim * self.bits // _BYTE

    def encode(self, states: Vectors) -> bytes:
        """The code of a passage.

        Args:
            states: `(tokens, dim)`, the model's states of any length.
        """
        turned = self._turned(states)
        lengths = np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), _SMALLEST)
        numbers = np.searchsorted(self._thresholds, turned * (np.sqrt(self.dim) / lengths)).astype(np.uint8)
        packed = np.bitwise_or.reduce(
            numbers.reshape(len(states), self.token_bytes, len(self._shifts)) << self._shifts, axis=2
        )
        tokens: bytes = packed.tobytes()
        return HEADER.pack(CODE_VERSION, self.bits, len(states)) + tokens

    def query(self, states: Vectors) -> Vectors:
        """A query's tokens as `maxsim` takes them, `(tokens, dim)`."""
        return self._turned(states)

    def maxsim(self, query: Vectors, codes: Sequence[bytes | None]) -> MaxSims:
        """MaxSim of a query with each passage; NaN for one without a code or without tokens.

        Args:
            query: `(tokens, dim)`, from `query`; one without tokens is 0 from every passage.
            codes: of passages, from `encode`.

        Raises:
            IndexMismatch: a code was written otherwise.
        """
        whole, near = np.full(len(codes), np.nan), np.full(len(codes), np.nan)
        by_token = np.full((len(codes), len(query)), np.nan, dtype=np.float32)
        known = [(place, self._tokens(code)) for place, code in enumerate(codes) if code]
        known = [(place, tokens) for place, tokens in known if len(tokens)]
        if known:
            places = [place for place, _ in known]
            products = self._products(np.concatenate([tokens for _, tokens in known]), query)
            best, near[places] = _best(products, np.array([len(tokens) for _, tokens in known]))
            whole[places] = best.sum(axis=1)
            by_token[places] = best[:, : len(query)]
        return MaxSims(whole, near, by_token)

    def _products(self, tokens: Codes, query: Vectors) -> Vectors:
        """`(tokens, query tokens, and up to 7 columns of zeros)`: a column of zeros adds nothing to any MaxSim."""
        columns = np.zeros((self.dim, -(-len(query) // _COLUMNS) * _COLUMNS), dtype=np.float32)
        columns[:, : len(query)] = query.T
        products = np.empty((len(tokens), columns.shape[1]), dtype=np.float32)
        places = np.empty((_AT_ONCE, self.token_bytes), dtype=np.intp)
        values = np.empty((*places.shape, *self._table.shape[1:]), dtype=self._table.dtype)
        for start in range(0, len(tokens), _AT_ONCE):
            part = tokens[start : start + _AT_ONCE]
            count = len(part)
            places[:count] = part
            np.take(self._table, places[:count], axis=0, out=values[:count], mode="clip")
            decoded = values[:count].view(np.float32).reshape(count, self.dim)
            np.matmul(decoded, columns, out=products[start : start + count])
        return products

    def decode(self, code: bytes) -> Vectors:
        """The passage's tokens as they are compared, `(tokens, dim)`, of length about 1.

        Raises:
            IndexMismatch
        """
        return self._decoded(self._tokens(code))

    def _turned(self, states: Vectors) -> Vectors:
        """Each token by its direction, without the common part, spread over the dimensions."""
        units = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), _SMALLEST)
        turned: Vectors = (units - self._centre).astype(np.float32, copy=False) @ self._transform
        return turned

    def _tokens(self, code: bytes) -> Codes:
        if len(code) >= HEADER.size:
            version, bits, tokens = HEADER.unpack_from(code)
            if (version, bits) == (CODE_VERSION, self.bits) and len(code) == HEADER.size + tokens * self.token_bytes:
                return np.frombuffer(code, dtype=np.uint8, offset=HEADER.size).reshape(tokens, self.token_bytes)
        raise IndexMismatch(
            "A token code in the index is not of the form that is configured.",
            where=f"{len(code)} bytes, beginning with {code[: HEADER.size].hex()}",
            remedy="Ingest into a new index: choose another MAFTEACH_INDEX_PREFIX.",
        )

    def _decoded(self, tokens: Codes) -> Vectors:
        # `mode` spares the check of bounds: a byte has 256 values, and so has the table.
        values = np.take(self._table, tokens, axis=0, mode="clip")
        return values.view(np.float32).reshape(len(tokens), self.dim)


def _best(products: Vectors, lengths: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The best match of each query token in whole passages, and MaxSim of the best `NEAR` tokens of each.

    Args:
        products: `(tokens of all passages, query tokens)`.
        lengths: tokens of each passage, at least one.
    """
    step = NEAR // 2
    blocks = -(-lengths // step)
    last = np.cumsum(blocks) - 1
    first = last - blocks + 1
    # Where each block begins: its passage's beginning, and the blocks before it.
    begins = np.repeat(np.cumsum(lengths) - lengths, blocks) + step * (
        np.arange(last[-1] + 1) - np.repeat(first, blocks)
    )
    best = np.maximum.reduceat(products, begins, axis=0)
    whole = np.maximum.reduceat(best, first, axis=0)
    # A window is a block with the next one of the same passage.
    follower = np.arange(1, len(best) + 1)
    follower[last] = last
    return whole, np.maximum.reduceat(np.maximum(best, best[follower]).sum(axis=1), first)


@cache
def orthogonal(dim: int) -> NDArray[np.float64]:
    """A fixed orthogonal matrix `(dim, dim)` that mixes all dimensions, equal on every machine.

    Each round flips signs (a hash of the seed) and mixes by a Kronecker product: Sylvester's Hadamard matrix of the
    largest power of two in `dim`, and Householder's reflection of the vector of ones for the odd rest.
    """
    power = dim & -dim
    rest = dim // power
    hadamard = np.ones((1, 1))
    while len(hadamard) < power:
        hadamard = np.kron([[1.0, 1.0], [1.0, -1.0]], hadamard) / np.sqrt(2.0)
    mixing = np.kron(np.eye(rest) - 2.0 / rest, hadamard)
    hashed = hashlib.shake_256(f"{TRANSFORM_SEED}/{dim}".encode()).digest(TRANSFORM_ROUNDS * dim)
    matrix = np.eye(dim)
    for number in range(TRANSFORM_ROUNDS):
        signs = np.frombuffer(hashed, dtype=np.uint8)[number * dim : (number + 1) * dim] % 2 * 2.0 - 1.0
        matrix = matrix * signs @ mixing
    return matrix


@cache
def e5_coding(bits: int) -> TokenCoding:
    """The coding of the embedded model's tokens."""
    centre: Vectors = np.load(BytesIO(files(__package__).joinpath(CENTRES_FILE).read_bytes()))
    return TokenCoding(centre, bits)
