"""The settings choose the embedder; what is missing is said by its variable."""

from __future__ import annotations

import sys

import pytest

from models.e5 import E5Embedder
from models.factory import load_embedder
from models.openai_compatible import OpenAICompatibleEmbedder
from search_config.errors import InvalidSettings, MissingExtra
from search_config.settings import Settings, load_settings


def settings(**values: object) -> Settings:
    return load_settings(_env_file=None, **values)


def test_the_embedded_model_is_the_default() -> None:
    assert isinstance(load_embedder(settings()), E5Embedder)


def test_an_endpoint_takes_its_settings() -> None:
    embedder = load_embedder(
        settings(
            embedder="openai",
            embedder_url="http://127.0.0.1:9/v1",
            embedder_model="bge-m3",
            embedder_dim=1024,
            embedder_window=8192,
            embedder_revision="r1",
        )
    )
    assert isinstance(embedder, OpenAICompatibleEmbedder)
    assert embedder.description.identity == "bge-m3@r1/1024"
    assert embedder.description.window == 8192
    embedder.close()


def test_all_missing_settings_are_named_at_once() -> None:
    with pytest.raises(InvalidSettings) as raised:
        load_embedder(settings(embedder="openai", embedder_model="bge-m3"))
    for name in ("URL", "DIM", "WINDOW"):
        assert f"MAFTEACH_EMBEDDER_{name}" in raised.value.what
    assert "MODEL" not in raised.value.what


def test_sentence_transformers_needs_a_model() -> None:
    with pytest.raises(InvalidSettings, match="MAFTEACH_EMBEDDER_MODEL"):
        load_embedder(settings(embedder="sentence-transformers"))


def test_a_missing_extra_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in `sys.modules` is how Python says that a module can't be imported; so this holds with the extra, too.
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'mafteach\[sentence-transformers\]'"):
        load_embedder(settings(embedder="sentence-transformers", embedder_model="some/model"))
