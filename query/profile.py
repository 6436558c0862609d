"""A profile: every number of retrieval that is tuned, with the model and analyzer it was tuned for."""

from __future__ import annotations

import json
import math
from importlib import resources
from pathlib import Path
from typing import Final, Literal, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from query.profile_parts import Blend, Boost, DataIdentity, Finite, FoldWeights, Part, RawC, RefusalSpec, Weight
from query.request import Language, Leg
from search_config import fields
from search_config.errors import InvalidProfile
from search_config.install import IndexInfo
from search_config.model_description import ModelDescription

RuleName = Literal["rrf", "minmax", "zscore", "dbsf", "raw"]
# Cormack, Clarke and Büttcher (SIGIR 2009) found 60 near the optimum on all of their collections.
RRF_K: Final = 60
# The best c of BM25 + c x cosine on the development questions before this project measured its own.
RAW_C: Final = 80.0
# What latent terms are worth beside BM25 for English questions is about as much (docs/evaluation.md).
RAW_S: Final = 1.0
# Legs that every profile weighs; the sparse one may be left out.
ALWAYS: Final[frozenset[Leg]] = frozenset({"bm25", "knn"})
# Weights are typed by people; their sum may miss 1 by the rounding of two decimals.
WEIGHT_SUM_TOLERANCE: Final = 1e-6

# Below this, P(a later passage is better than the first) is at most even: a cut of .5 leaves equals alone.
MOST_RELATIVE_CUT: Final = 0.5

# The feature that is the sparse leg's score.
SPARSE: Final = "sparse"
SEARCHED_FIELDS: Final = frozenset(
    name
    for text in (fields.TITLE, fields.SECTION, fields.CONTENT)
    for name in (text, *(fields.sub(text, kind) for kind in (fields.EXACT, fields.ENGLISH, fields.INFLECTED)))
)


# The name of what searches go on with where the shipped profile is for another model.
UNTUNED: Final = "untuned"


class FusionSpec(Part):
    """Which rule joins the legs, and its constants."""

    rule: RuleName = "rrf"
    rrf_k: int = Field(RRF_K, ge=1, le=1000, description="k of RRF: the smaller, the more the first ranks count.")
    raw_c: RawC = Field(RAW_C, description="c of BM25 + c x cosine + s x sparse score.")
    raw_s: RawC = Field(RAW_S, description="s of the same; the sparse leg is off unless it has a weight.")


class Profile(Part):
    """Tuned numbers. A profile belongs to a model: another one's is refused (`checked_for`), but for the shipped one,
    in whose place an untuned one stands (`profile_for`)."""

    name: str = Field(min_length=1, max_length=100)
    version: int = Field(ge=1)
    model: str | None = Field(None, description="ModelDescription.identity it was tuned for; null suits any.")
    analyzer: str | None = Field(None, description="Version of the analyzer it was tuned for; null suits any.")
    sparse_terms: str | None = Field(None, description="Form of the sparse terms it was tuned for; null suits any.")
    fusion: FusionSpec = FusionSpec()
    weights: dict[Language, dict[Leg, Weight]]
    bm25: dict[str, Boost] = Field(description="Boost of each searched field; 0 leaves it out.")
    identifier_boost: Boost = Field(description="Extra boost of the query's identifiers, found exactly.")
    blend: Blend | None = Field(
        None, description="Weights of the candidates' features, in log-odds; null leaves the fused order."
    )
    blends: dict[Language, Blend] = Field(
        default_factory=dict, description="Blends of single classes of queries, instead of `blend`; {} keeps the order."
    )
    mmr_lambda: float = Field(
        1.0, ge=0, le=1, allow_inf_nan=False, description="Lambda of MMR: 1 keeps the order, 0 seeks difference alone."
    )
    relative_cut: float = Field(
        0.0,
        ge=0,
        le=MOST_RELATIVE_CUT,
        allow_inf_nan=False,
        description="Passages after the first are left out where the blend gives them less than this probability of "
        "being better than it; 0 leaves out none.",
    )
    refusal: RefusalSpec | None = Field(None, description="When to refuse; null never refuses.")
    notes: str = ""
    figures: dict[str, Finite] = Field(default_factory=dict, description="What was measured when it was tuned.")
    trained_on: DataIdentity | None = None
    folds: tuple[FoldWeights, ...] = Field((), description="What was learnt without each fold, by its number.")

    @field_validator("weights")
    @classmethod
    def _whole(cls, weights: dict[Language, dict[Leg, float]]) -> dict[Language, dict[Leg, float]]:
        missing = set(get_args(Language)) - set(weights)
        if missing:
            raise ValueError(f"no weights for {', '.join(sorted(missing))}")
        for language, legs in weights.items():
            if not ALWAYS.issubset(legs):
                raise ValueError(f"{language}: needs a weight for each of {', '.join(sorted(ALWAYS))}")
            if not math.isclose(sum(legs.values()), 1.0, abs_tol=WEIGHT_SUM_TOLERANCE):
                raise ValueError(f"{language}: the weights sum to {sum(legs.values()):g}, not to 1")
        return weights

    @field_validator("bm25")
    @classmethod
    def _known_fields(cls, boosts: dict[str, float]) -> dict[str, float]:
        unknown = set(boosts) - SEARCHED_FIELDS
        if unknown:
            raise ValueError(f"no such searched field: {', '.join(sorted(unknown))}")
        return boosts

    @model_validator(mode="after")
    def _holds_together(self) -> Profile:
        problems = []
        if not any(self.bm25.values()):
            problems.append("bm25: no field has a boost above 0")
        if self.blend is not None and not any(self.blend.values()):
            problems.append("blend: no feature has a weight")
        if self.relative_cut and self.blend is None and not self.blends:
            problems.append("relative_cut: needs a blend, whose scores are log-odds")
        if self.folds and self.trained_on is None:
            problems.append("folds: need trained_on, which says who belongs to which")
        if self.trained_on is not None and self.folds:
            numbers = {*self.trained_on.documents.values(), *self.trained_on.queries.values()}
            if numbers and max(numbers) >= len(self.folds):
                problems.append(f"trained_on: fold {max(numbers)}, of {len(self.folds)}")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def blend_for(self, language: Language) -> dict[str, float] | None:
        """The weights that a class of queries is reranked with; None where it keeps the fused order."""
        return self.blends.get(language, self.blend) or None

    def of_fold(self, fold: int) -> Profile:
        """The profile as it was learnt without the documents of one fold: what they are measured with.

        What a fold does not say stays as it is. The folds themselves are left out of what is returned.

        Raises:
            IndexError: there is no such fold.
        """
        weights = self.folds[fold]
        changes: dict[str, object] = {
            name: value
            for name in ("bm25", "weights", "blend", "blends", "refusal")
            if (value := getattr(weights, name)) is not None and getattr(self, name) is not None
        }
        return self.model_copy(update={**changes, "folds": ()})

    def boosts(self) -> dict[str, float]:
        """The fields that are searched, with their boosts, all above 0."""
        return {field: boost for field, boost in self.bm25.items() if boost > 0}

    def uses_sparse(self) -> bool:
        """Whether the sparse leg counts in any class of queries, or its score in any blend."""
        blends = [*self.blends.values(), self.blend or {}]
        return any(legs.get("sparse", 0.0) > 0 for legs in self.weights.values()) or any(
            blend.get(SPARSE, 0.0) for blend in blends
        )

    @property
    def label(self) -> str:
        """`name/version`: how answers and reports call it."""
        return f"{self.name}/{self.version}"

    @property
    def warning(self) -> str | None:
        """What somebody should know who searches with it; None where it was tuned."""
        return self.notes if self.name == UNTUNED else None

    def checked_for(self, info: IndexInfo) -> Profile:
        """This profile, if it was tuned for the index's model and analyzer.

        Raises:
            InvalidProfile: naming both sides.
        """
        wrong = self.misfits(info.model, info.analyzer)
        if wrong:
            raise InvalidProfile(
                f"This profile does not suit the index: {'; '.join(wrong)}.",
                where=self.label,
                remedy="Tune one for this model: mafteach tune DIR --out PROFILE. Until then name none: without "
                "MAFTEACH_PROFILE or --profile searches go on untuned, and refuse nothing.",
            )
        return self

    def misfits(self, model: ModelDescription, analyzer: str) -> tuple[str, ...]:
        """Why it does not suit an index of a model and an analyzer; () where it does."""
        wrong = []
        if self.model is not None and self.model != model.identity:
            wrong.append(f"it was tuned for the model {self.model}, the index has {model.identity}")
        if self.analyzer is not None and self.analyzer != analyzer:
            wrong.append(f"it was tuned for the analyzer {self.analyzer}, the index has {analyzer}")
        terms = model.sparse_terms
        if self.uses_sparse() and (terms is None or self.sparse_terms not in (None, terms)):
            wrong.append(
                f"it weighs sparse terms ({self.sparse_terms or 'of any form'}), the index has {terms or 'none'}"
            )
        return tuple(wrong)


def profile_for(model: ModelDescription, analyzer: str, path: Path | None = None) -> Profile:
    """The profile of searches with a model: the named one, whatever it is for (`checked_for` refuses a wrong one);
    without a path the one that ships with the package, or where that is for another model an untuned one, so that
    searches go on after the model was changed.

    Raises:
        InvalidProfile: as `load_profile`.
    """
    profile = load_profile(path)
    if path is not None or not profile.misfits(model, analyzer):
        return profile
    return _untuned(profile, model, analyzer)


def _untuned(shipped: Profile, model: ModelDescription, analyzer: str) -> Profile:
    """What holds for any model: the boosts of the fields, which no vector has a part in, and the order of ranks (RRF)
    of both legs alike. Identifiers are looked for by words, as in every profile. No blend, no refusal: their weights
    are of one model's scores."""
    alike: dict[Leg, float] = dict.fromkeys(sorted(ALWAYS), 1 / len(ALWAYS))
    return Profile(
        name=UNTUNED,
        version=shipped.version,
        model=model.identity,
        analyzer=analyzer,
        fusion=FusionSpec(),
        weights={**dict.fromkeys(get_args(Language), alike), "identifier": shipped.weights["identifier"]},
        bm25=shipped.bm25,
        identifier_boost=shipped.identifier_boost,
        notes=f"No profile was tuned for the model {model.identity}: both legs count alike, by their ranks, and "
        "nothing is refused. Tune one on questions of your own: mafteach tune DIR --out PROFILE, then set "
        "MAFTEACH_PROFILE.",
    )


def load_profile(path: Path | None = None) -> Profile:
    """Read a profile; without a path, the one that ships with the package.

    Raises:
        InvalidProfile: a file that cannot be read, is no JSON, or has wrong fields: all of them at once.
    """
    where = str(path) if path else "query/profiles/default.json"
    try:
        source = path if path else resources.files("query.profiles") / "default.json"
        return Profile.model_validate(json.loads(source.read_text(encoding="utf-8")))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise InvalidProfile(
            f"{error.error_count()} problem(s): {problems}.",
            where=where,
            remedy="docs/query.md lists a profile's fields.",
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidProfile(
            f"The profile cannot be read: {error}.", where=where, remedy="Name a JSON file."
        ) from error
