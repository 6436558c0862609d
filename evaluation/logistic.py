"""Logistic regression with a ridge, as the refusal learns with it. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

MAX_STEPS: Final = 500


def logistic(
    values: NDArray[np.float64], labels: NDArray[np.bool_], shares: NDArray[np.float64], ridge: float
) -> NDArray[np.float64]:
    """Weights of the columns, and the intercept behind them.

    Args:
        values: `(n, f)`.
        labels: `(n,)`.
        shares: `(n,)`, what each row counts in the loss; they sum to 1.
        ridge: on the squared weights, against the mean loss of a row; the intercept has none.
    """
    columns = np.hstack([values, np.ones((len(values), 1))])
    signs = np.where(labels, 1.0, -1.0)
    penalised = np.append(np.full(values.shape[1], ridge), 0.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = signs * (columns @ weights)
        value = shares @ np.logaddexp(0.0, -margins) + penalised @ weights**2
        slope = -columns.T @ (shares * signs * np.exp(-np.logaddexp(0.0, margins))) + 2 * penalised * weights
        return float(value), slope

    found = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    weights: NDArray[np.float64] = found.x
    return weights
