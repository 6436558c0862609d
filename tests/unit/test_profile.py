"""Profiles: the default holds, damaged ones are refused with all their problems, another model's is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.e5 import E5Embedder
from query.profile import SEARCHED_FIELDS, UNTUNED, Profile, load_profile, profile_for
from search_config.errors import InvalidProfile
from search_config.hebrew import ANALYZER_VERSION
from search_config.install import IndexInfo
from search_config.model_description import ModelDescription
from search_config.names import Names

_REFUSAL: dict[str, Any] = {
    "features": {"cosine": {"weight": 1.0, "mean": 0.8, "deviation": 0.1}},
    "intercept": 0.0,
    "threshold": 0.3,
    "languages": ["he"],
    "chosen_by": "--max-lost 0.05",
}
_DATA: dict[str, Any] = {"name": "d", "content_hash": "h", "date": "2026-01-01", "questions": 300, "passages": 9}


def _info(name: str = "m", analyzer: str = "he-1") -> IndexInfo:
    model = ModelDescription(name=name, revision="1", dim=3, window=512, licence="MIT")
    return IndexInfo(
        names=Names(prefix="p"),
        index="p-chunks-v000001",
        model=model,
        analyzer=analyzer,
        pipeline="1",
        engine_version="3",
    )


def _default() -> dict[str, Any]:
    return load_profile().model_dump(mode="json")


def test_the_default_loads_from_the_package_and_is_for_the_embedded_model(tmp_path: Path) -> None:
    profile = load_profile()
    assert profile.name == "default"
    assert profile.analyzer == ANALYZER_VERSION
    assert profile.model == E5Embedder(tmp_path).description.identity
    assert set(profile.bm25) <= SEARCHED_FIELDS
    # An identifier alone leans on the lexical leg, whatever else is tuned.
    assert profile.weights["identifier"]["bm25"] > max(profile.weights[name]["bm25"] for name in ("he", "en", "other"))
    with pytest.raises(InvalidProfile):
        profile.checked_for(_info())


def test_a_field_of_boost_zero_is_not_searched() -> None:
    profile = Profile.model_validate(_default() | {"bm25": {"content": 1, "title": 0}})
    assert profile.boosts() == {"content": 1.0}


@pytest.mark.parametrize(("field", "value", "names"), [("model", "other@2/3", "m@1/3"), ("analyzer", "he-0", "he-1")])
def test_another_model_or_analyzer_is_refused(field: str, value: str, names: str) -> None:
    with pytest.raises(InvalidProfile) as caught:
        Profile.model_validate(_default() | {field: value}).checked_for(_info())
    assert value in caught.value.what
    assert names in caught.value.what


def test_another_model_goes_on_untuned_where_no_profile_was_named(tmp_path: Path) -> None:
    info, shipped = _info(), load_profile()
    found = profile_for(info.model, info.analyzer)
    assert found.checked_for(info).name == UNTUNED
    assert (found.fusion.rule, found.refusal, found.blend, found.blends) == ("rrf", None, None, {})
    assert found.weights["he"] == {"bm25": 0.5, "knn": 0.5}
    assert found.boosts() == shipped.boosts()
    assert "mafteach tune" in (found.warning or "")
    assert info.model.identity in (found.warning or "")
    # What somebody named is not replaced in silence, and what suits is not replaced at all.
    named = tmp_path / "named.json"
    named.write_text(json.dumps(_default()), encoding="utf-8")
    with pytest.raises(InvalidProfile, match="go on untuned"):
        profile_for(info.model, info.analyzer, named).checked_for(info)
    own = E5Embedder(tmp_path).description
    assert profile_for(own, ANALYZER_VERSION) == shipped
    assert shipped.warning is None


def test_the_same_model_is_accepted() -> None:
    Profile.model_validate(_default() | {"model": "m@1/3", "analyzer": "he-1"}).checked_for(_info())


def test_what_a_fold_learnt_takes_the_place_of_the_whole(tmp_path: Path) -> None:
    change = {
        "blend": {"cosine": 2.0},
        "refusal": _REFUSAL,
        "trained_on": _DATA | {"documents": {"0123456789ab": 0}},
        "folds": [{"blend": {"cosine": 1.0}, "refusal": _REFUSAL | {"threshold": 0.2}}],
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(_default() | change), encoding="utf-8")
    profile = load_profile(path)
    own = profile.of_fold(0)
    assert own.blend == {"cosine": 1.0}
    assert own.refusal is not None
    assert own.refusal.threshold == 0.2
    assert own.bm25 == profile.bm25
    assert Profile.model_validate(profile.model_dump(mode="json")) == profile


def test_all_problems_at_once(tmp_path: Path) -> None:
    damaged = _default() | {
        "version": 0,
        "colour": "red",
        "fusion": {"rule": "best", "rrf_k": 0},
        "bm25": {"content": -1, "nowhere": 1},
        "identifier_boost": "much",
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(damaged), encoding="utf-8")
    with pytest.raises(InvalidProfile) as caught:
        load_profile(path)
    for name in ("version", "colour", "fusion.rule", "fusion.rrf_k", "bm25.content", "identifier_boost"):
        assert name in caught.value.what
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"weights": {"he": {"bm25": 1, "knn": 0}}}, "no weights for"),
        ({"weights": _default()["weights"] | {"he": {"bm25": 0.5, "knn": 0.6}}}, "sum to 1.1"),
        ({"weights": _default()["weights"] | {"he": {"bm25": 1.0}}}, "a weight for each"),
        ({"weights": _default()["weights"] | {"he": {"bm25": -0.5, "knn": 1.5}}}, "weights.he"),
        ({"weights": _default()["weights"] | {"en": {"bm25": 0.5, "knn": 0.5, "sparse": 0.1}}}, "sum to 1.1"),
        ({"weights": _default()["weights"] | {"en": {"bm25": 0.5, "sparse": 0.5}}}, "a weight for each"),
        ({"fusion": {"rule": "raw", "raw_s": -1}}, "raw_s"),
        ({"bm25": {"embedding": 1}}, "no such searched field: embedding"),
        ({"bm25": {"content": 0}}, "no field has a boost above 0"),
        ({"fusion": {"rule": "raw", "raw_c": float("nan")}}, "raw_c"),
        ({"blend": {"cosine": float("inf")}}, "blend.cosine"),
        ({"blend": {"cosine": 0.0}}, "no feature has a weight"),
        ({"mmr_lambda": 1.5}, "mmr_lambda"),
        ({"relative_cut": 0.2, "blend": None, "blends": {}}, "relative_cut: needs a blend"),
        ({"refusal": 0.5}, "refusal"),
        ({"refusal": _REFUSAL | {"threshold": 1.5}}, "refusal.threshold"),
        ({"refusal": _REFUSAL | {"features": {}}}, "refusal.features"),
        ({"refusal": _REFUSAL | {"features": {"cosine": {"weight": 1, "mean": 0, "deviation": 0}}}}, "deviation"),
        ({"refusal": _REFUSAL | {"languages": ["fr"]}}, "refusal.languages"),
        ({"refusal": _REFUSAL | {"colour": "red"}}, "refusal.colour"),
        ({"folds": [{"blend": {"cosine": 1.0}}], "trained_on": None}, "folds: need trained_on"),
        ({"folds": [{}], "trained_on": _DATA | {"documents": {"0123456789ab": 1}}}, "fold 1, of 1"),
        ({"trained_on": _DATA | {"documents": {"zz": 0}}}, "trained_on.documents"),
        ({"trained_on": _DATA | {"language_mix": {"he": 0.5}}}, "sums to 0.5"),
    ],
)
def test_damage(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(_default() | change), encoding="utf-8")
    with pytest.raises(InvalidProfile, match=reason):
        load_profile(path)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_no_profile_at_all(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(data)
    with pytest.raises(InvalidProfile):
        load_profile(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidProfile, match="cannot be read"):
        load_profile(tmp_path / "none.json")


def test_the_sparse_leg_is_used_where_it_weighs() -> None:
    default = _default()
    assert not Profile.model_validate(default).uses_sparse()
    weights = default["weights"] | {"en": {"bm25": 0.2, "knn": 0.6, "sparse": 0.2}}
    assert Profile.model_validate(default | {"weights": weights}).uses_sparse()
    assert Profile.model_validate(default | {"blends": {"en": {"sparse": 0.2}}}).uses_sparse()
    nothing = default["weights"] | {"en": {"bm25": 0.4, "knn": 0.6, "sparse": 0.0}}
    assert not Profile.model_validate(default | {"weights": nothing}).uses_sparse()
