"""What a profile's refusal does to a data set: the part of the report, and its making. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from evaluation.refusal import Asked, curve, groups, point_of
from query.profile_parts import CurvePoint, Interval, RefusalSpec

PROBABILITY_DECIMALS: Final = 4


class JudgedQuestion(BaseModel):
    """A question with its probability."""

    model_config = ConfigDict(frozen=True)

    query: str
    probability: float


class RefusalReport(BaseModel):
    """At the threshold, and over all of them; every question by the weights and threshold that never saw it.

    `curve`, the two questions and the probabilities are of the classes of queries that the threshold is for.
    """

    model_config = ConfigDict(frozen=True)

    threshold: float
    chosen_by: str
    answerable_refused: Interval
    out_of_domain_answered: Interval
    curve: tuple[CurvePoint, ...] = ()
    by_group: dict[str, CurvePoint] = {}
    worst_answerable: JudgedQuestion | None = None
    best_out_of_domain: JudgedQuestion | None = None
    answerable: tuple[float, ...] = ()
    out_of_domain: tuple[float, ...] = ()


def refusal_report(judged: Sequence[tuple[Asked, RefusalSpec | None]], spec: RefusalSpec) -> RefusalReport:
    """Judge every question by its own spec.

    Args:
        judged: questions with the spec that each may be measured with.
        spec: the one that ships: its threshold and its classes of queries are told.
    """
    asked = [one for one, _ in judged]
    probabilities, refused = dict[str, float](), dict[str, bool]()
    for one, own in judged:
        if own is None or one.language not in own.languages:
            refused[one.id] = False
        else:
            probabilities[one.id] = one.probability(own)
            refused[one.id] = probabilities[one.id] < own.threshold
    known = [one for one in asked if one.id in probabilities]
    answerable = sorted((one for one in known if one.answerable), key=lambda one: probabilities[one.id])
    others = sorted((one for one in known if not one.answerable), key=lambda one: -probabilities[one.id])
    point = point_of(asked, refused, spec.threshold)
    return RefusalReport(
        threshold=spec.threshold,
        chosen_by=spec.chosen_by,
        answerable_refused=point.answerable_refused,
        out_of_domain_answered=point.out_of_domain_answered,
        curve=curve(known, probabilities) if answerable and others else (),
        by_group={name: point_of(group, refused, spec.threshold) for name, group in groups(asked).items() if group},
        worst_answerable=_judged(answerable, probabilities),
        best_out_of_domain=_judged(others, probabilities),
        answerable=tuple(round(probabilities[one.id], PROBABILITY_DECIMALS) for one in answerable),
        out_of_domain=tuple(round(probabilities[one.id], PROBABILITY_DECIMALS) for one in others),
    )


def _judged(asked: Sequence[Asked], probabilities: dict[str, float]) -> JudgedQuestion | None:
    if not asked:
        return None
    return JudgedQuestion(query=asked[0].query, probability=round(probabilities[asked[0].id], PROBABILITY_DECIMALS))
