"""Logistic regression with a ridge, as the refusal learns with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

MAX_STEPS: Final = 500
_BOUNDS: Final = {0: (None, None), 1: (0.0, None), -1: (None, 0.0)}


def logistic(
    values: NDArray[np.float64],
    labels: NDArray[np.bool_],
    shares: NDArray[np.float64],
    ridge: float,
    signs: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Weights of the columns, and the intercept behind them.

    Args:
        values: `(n, f)`.
        labels: `(n,)`.
        shares: `(n,)`, what each row counts in the loss; they sum to 1.
        ridge: on the squared weights, against the mean loss of a row; the intercept has none.
        signs: 1 or -1 for a column whose weight may have no other sign, 0 for one that may have any; None: all may.
    """
    columns = np.hstack([values, np.ones((len(values), 1))])
    sides = np.where(labels, 1.0, -1.0)
    penalised = np.append(np.full(values.shape[1], ridge), 0.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = sides * (columns @ weights)
        value = shares @ np.logaddexp(0.0, -margins) + penalised @ weights**2
        slope = -columns.T @ (shares * sides * np.exp(-np.logaddexp(0.0, margins))) + 2 * penalised * weights
        return float(value), slope

    bounds = None if signs is None else [*map(_BOUNDS.__getitem__, signs), _BOUNDS[0]]
    found = minimize(
        loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS}
    )
    weights: NDArray[np.float64] = found.x
    return weights
