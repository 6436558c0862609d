"""Parts of a profile that are learnt: the refusal's weights, the weights of each fold, what it was all learnt from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from query.request import Language, Leg
from query.word_model import SeenWords, WordModel

Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
# Boosts of searched fields.
Boost = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
# Of one leg, beside the other's.
Weight = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
# c of BM25 + c x cosine + s x sparse score, and its s.
RawC = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)]
# Linear weights by feature name.
Blend = dict[str, Finite]
# The beginning of a SHA-256 that names a text: 48 bits, so that two of a million texts differ.
HASH_DIGITS: Final = 12
ContentHash = Annotated[str, Field(pattern=f"^[0-9a-f]{{{HASH_DIGITS}}}$")]
# A standardised feature counts up to this many standard deviations: what no training question showed decides no more
# than the most extreme that did.
MOST_DEVIATIONS: Final = 4.0
# The feature that does not add to the log-odds but lowers the probability itself: what is not said can't be answered,
# however well the passage suits the question otherwise.
UNSAID: Final = "unsaid"
# The feature that a model of words of the profile's own gives (`query.word_model`).
AS_EXPECTED: Final = "as_expected"


class Part(BaseModel):
    """Frozen and closed: a field that is not known is damage."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Interval(Part):
    """A share with its 95% interval."""

    value: Share
    low: Share
    high: Share


class RefusalFeature(Part):
    """One feature of the refusal: its weight per standard deviation, counted from the mean of the training questions.

    Weights are of one unit, so that they can be compared as they are printed.
    """

    weight: Finite
    mean: Finite
    deviation: float = Field(gt=0, allow_inf_nan=False)

    def part(self, value: float) -> float:
        """What a value adds to the log-odds."""
        return self.weight * max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, (value - self.mean) / self.deviation))


class CurvePoint(Part):
    """What a threshold does: the share of answerable questions refused, and of out-of-domain questions answered."""

    threshold: Share
    answerable_refused: Interval
    out_of_domain_answered: Interval


class RefusalModel(Part):
    """The probability that the top passages answer, logistic over features of the query and of what it found."""

    features: dict[str, RefusalFeature] = Field(min_length=1)
    intercept: Finite
    most_unsaid: float | None = Field(
        None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        description="Share of the question's words beside which nothing of the asked kind stands, that leaves no "
        "probability; null takes no account of it.",
    )
    words: WordModel | None = Field(
        None, description="How surely each word stands in a passage that answers: gives the feature `as_expected`."
    )

    @model_validator(mode="after")
    def _words_are_whole(self) -> RefusalModel:
        if (self.words is not None) != (AS_EXPECTED in self.features):
            raise ValueError(f"the feature {AS_EXPECTED} and the model of words need each other")
        return self

    def completed(self, values: Mapping[str, float], words: SeenWords | None) -> Mapping[str, float]:
        """The values with `as_expected` where this model has a part for words that suits them."""
        if self.words is None or words is None or not self.words.suits(words):
            return values
        return {**values, AS_EXPECTED: self.words.as_expected(words)}

    def probability(self, values: Mapping[str, float]) -> float:
        """That the top passages answer, in [0, 1].

        Args:
            values: of every feature in `features`; others are left aside.

        Raises:
            KeyError: a feature is missing.
        """
        log_odds = self.intercept + sum(feature.part(values[name]) for name, feature in self.features.items())
        # By its sign, so that exp never overflows.
        e = math.exp(-abs(log_odds))
        suits = 1.0 / (1.0 + e) if log_odds >= 0 else e / (1.0 + e)
        if self.most_unsaid is None:
            return suits
        return suits * max(0.0, 1.0 - values.get(UNSAID, 0.0) / self.most_unsaid)


class RefusalSpec(RefusalModel):
    """When to say that nothing here answers: below `threshold` of the probability that the top passages do."""

    threshold: Share
    languages: tuple[Language, ...] = Field(
        min_length=1, description="Classes of queries that it was learnt from; others are never refused."
    )
    by_class: dict[Language, RefusalModel] = Field(
        default_factory=dict, description="Weights of single classes of queries, instead of the spec's own."
    )
    chosen_by: str = Field(min_length=1, description="The option that picked the point, such as `--max-lost 0.05`.")
    chosen: CurvePoint | None = Field(None, description="The cross-validated figures of that point.")

    def model_for(self, language: Language) -> RefusalModel:
        """The weights of a class of queries: what tells an answer apart differs between languages."""
        return self.by_class.get(language, self)


class FoldWeights(Part):
    """What was learnt without one fold's documents: for measuring on these documents."""

    bm25: dict[str, Boost] | None = None
    weights: dict[Language, dict[Leg, Weight]] | None = None
    blend: Blend | None = None
    blends: dict[Language, Blend] | None = None
    refusal: RefusalSpec | None = None


class DataIdentity(Part):
    """The labelled questions that a profile was learnt from, and the fold of each document.

    `documents` are hashes of canonical texts, `questions` those of queries that have no document; each with its fold.
    """

    name: str = Field(min_length=1)
    content_hash: str = Field(min_length=1)
    date: date
    questions: int = Field(ge=0)
    out_of_domain: int = Field(0, ge=0)
    passages: int = Field(ge=0)
    language_mix: dict[Literal["he", "en", "other"], Share] = Field(
        default_factory=dict, description="Share of the documents by language."
    )
    documents: dict[ContentHash, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    queries: dict[ContentHash, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _mix_is_whole(self) -> DataIdentity:
        # Shares are rounded to three decimals.
        if self.language_mix and abs(sum(self.language_mix.values()) - 1) > 0.01:
            raise ValueError(f"the language mix sums to {sum(self.language_mix.values()):g}, not to 1")
        return self
