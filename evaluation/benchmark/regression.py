"""A run compared with a kept one: ratios that got worse by more than machines and their noise explain. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.benchmark.report import Check
from search_config.errors import InvalidDataset

# Ratios of one run hardly depend on the machine; repeated on a busy one they differ by up to a fifth.
TOLERANCE: Final = 0.25
_AT_MOST, _AT_LEAST, _EQUAL = "<=", ">=", "="


class KeptChecks(BaseModel):
    """What `--json` wrote."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One check of both runs.

    Attributes:
        worse: None where one of both has no figure.
    """

    name: str
    before: float | None
    now: float | None
    worse: bool | None


def load_kept(path: Path) -> tuple[Check, ...]:
    """Read a kept run.

    Raises:
        InvalidDataset: there is none, or it is none.
    """
    try:
        return KeptChecks.model_validate(json.loads(path.read_text(encoding="utf-8"))).checks
    except (OSError, ValueError, ValidationError) as error:
        raise InvalidDataset(
            "This is no kept run of a benchmark.",
            where=str(path),
            remedy="Write one with mafteach bench all --quick --json FILE.",
        ) from error


def compared(kept: Sequence[Check], now: Sequence[Check]) -> list[Comparison]:
    """Every check with a target that the kept run has. A figure on the right side of its target by both runs may get
    worse by `TOLERANCE`; one that leaves it, and a count that must be a number and is not, is worse at once."""
    found = {check.name: check for check in now}
    rows = []
    for old in kept:
        if not old.target:
            continue
        new = found.get(old.name)
        value = None if new is None else new.value
        worse = None if old.value is None or new is None or value is None else _worse(old, new)
        rows.append(Comparison(old.name, old.value, value, worse))
    return rows


def _worse(old: Check, new: Check) -> bool:
    if old.value is None or new.value is None:
        return False
    if new.target.startswith(_AT_MOST):
        return new.value > old.value + TOLERANCE * abs(old.value) or _lost(old, new)
    if new.target.startswith(_AT_LEAST):
        return new.value < old.value - TOLERANCE * abs(old.value) or _lost(old, new)
    return new.target.startswith(_EQUAL) and _lost(old, new)


def _lost(old: Check, new: Check) -> bool:
    """Whether a target that was met is not any more."""
    return old.holds is True and new.holds is False
