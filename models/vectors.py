"""The one check that every vector passes, when it is written and when it is asked with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.base import Vectors
from search_config.errors import InvalidVector

# Float32 rounding of a 4,096-dimensional sum of squares stays well below this; a vector that was not normalised
# does not.
UNIT_LENGTH_TOLERANCE = 1e-3


def normalised(vectors: NDArray[np.floating], *, dim: int, where: str) -> Vectors:
    """Scale every row to length 1 and check it.

    Args:
        vectors: `(n, dim)`.
        dim: the length that each vector must have.
        where: the model's name, for the error.

    Returns:
        `(n, dim)` float32 of unit length, contiguous.

    Raises:
        InvalidVector: another shape, a value that is not finite, or a vector of length zero.
    """
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    if rows.size == 0:
        return np.zeros((0, dim), dtype=np.float32)
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise InvalidVector(
            f"The model gave vectors of shape {rows.shape}, expected (n, {dim}).",
            where=where,
            remedy="Check the model's name and MAFTEACH_EMBEDDER_DIM.",
        )
    lengths = np.linalg.norm(rows, axis=1)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise InvalidVector(
            "The model gave a vector that is zero or not finite.", where=where, remedy="Check the model's files."
        )
    return np.ascontiguousarray(rows / lengths[:, None])


def checked(vectors: Vectors, *, dim: int, where: str) -> Vectors:
    """Check shape and unit length at a border, without changing anything.

    Raises:
        InvalidVector: a row that is not a unit vector of `dim` values.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dim:
        raise InvalidVector(f"Vectors have shape {vectors.shape}, the index takes (n, {dim}).", where=where)
    lengths = np.linalg.norm(vectors, axis=1)
    if not bool((np.abs(lengths - 1.0) <= UNIT_LENGTH_TOLERANCE).all()):
        raise InvalidVector("A vector is not of unit length.", where=where, remedy="Normalise the model's output.")
    return vectors


def cosine_distance(cosine: float) -> float:
    """`1 - cos`, in [0, 2], clipped against rounding; for unit vectors it is half the squared Euclidean distance."""
    return min(2.0, max(0.0, 1.0 - cosine))
