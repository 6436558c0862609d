"""The models that the settings name: embedder, cross-encoder, language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.base import Embedder
from search_config.errors import InvalidSettings
from search_config.settings import ENV_PREFIX, Settings

if TYPE_CHECKING:
    from models.cross_encoder import CrossEncoderScorer
    from models.language_model import OpenAICompatibleLanguageModel
    from models.with_terms import TermSource


def load_embedder(settings: Settings) -> Embedder:
    """Make the embedder that `MAFTEACH_EMBEDDER` names, with the sparse encoder of `MAFTEACH_SPARSE`. The embedded one
    loads its model at the first text.

    Raises:
        InvalidSettings: settings that this kind needs are missing, all at once.
        MissingExtra: the optional package of this kind is not installed.
        ModelUnavailable: the model can't be loaded.
    """
    embedder = _embedder(settings)
    if settings.sparse == "off" or embedder.description.sparse_terms is not None:
        return embedder
    from models.with_terms import WithTerms

    return WithTerms(embedder, _term_source(settings))


def _term_source(settings: Settings) -> TermSource:
    if settings.sparse == "sentence-transformers":
        from models.sparse_encoder import SentenceTransformerTerms

        if settings.sparse_model is None:
            raise InvalidSettings(
                "The sparse encoder has no name.",
                where=f"{ENV_PREFIX}SPARSE",
                remedy=f"Set {ENV_PREFIX}SPARSE_MODEL to a hub's name or a folder, or leave the sparse leg off.",
            )
        return SentenceTransformerTerms(settings.sparse_model, settings.sparse_revision, settings.embedder_threads)
    from models.e5 import E5Embedder

    return E5Embedder(settings.cache_dir, threads=settings.embedder_threads)


def _embedder(settings: Settings) -> Embedder:
    # Each kind is imported when it is chosen: they bring large packages.
    if settings.embedder == "sentence-transformers":
        from models.sentence_transformer import SentenceTransformerEmbedder

        _require(settings, "embedder_model")
        return SentenceTransformerEmbedder(
            str(settings.embedder_model), settings.embedder_revision, settings.embedder_threads
        )
    if settings.embedder == "openai":
        from models.openai_compatible import OpenAICompatibleEmbedder

        _require(settings, "embedder_url", "embedder_model", "embedder_dim", "embedder_window")
        return OpenAICompatibleEmbedder(
            str(settings.embedder_url),
            str(settings.embedder_model),
            settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else None,
            dim=settings.embedder_dim or 0,
            window=settings.embedder_window or 0,
            revision=settings.embedder_revision,
        )
    from models.e5 import E5Embedder

    return E5Embedder(
        settings.cache_dir,
        threads=settings.embedder_threads,
        token_bits=settings.token_bits,
        sparse=settings.sparse == "latent-terms",
    )


def load_cross_encoder(settings: Settings) -> CrossEncoderScorer | None:
    """The cross-encoder that `MAFTEACH_RERANKER_MODEL` names; None where it names none.

    Raises:
        MissingExtra, ModelUnavailable
    """
    if settings.reranker_model is None:
        return None
    from models.cross_encoder import CrossEncoderScorer

    return CrossEncoderScorer(settings.reranker_model, settings.reranker_revision, settings.embedder_threads)


def load_language_model(settings: Settings) -> OpenAICompatibleLanguageModel | None:
    """The language model that `MAFTEACH_LLM_URL` and `MAFTEACH_LLM_MODEL` name; None where neither is set.

    Raises:
        InvalidSettings: one of both is set, or an answer leaves no room in the window.
        ModelUnavailable: the tokenizer's file can't be read.
    """
    if settings.llm_url is None and settings.llm_model is None:
        return None
    if settings.llm_url is None or settings.llm_model is None:
        raise InvalidSettings(
            "A language model needs its endpoint and its name.",
            where=f"{ENV_PREFIX}LLM_URL, {ENV_PREFIX}LLM_MODEL",
            remedy="Set both, or neither for extractive answers.",
        )
    if settings.llm_max_tokens * 2 > settings.llm_window:
        raise InvalidSettings(
            f"Answers of {settings.llm_max_tokens} tokens leave the sources less than half of a window of "
            f"{settings.llm_window}.",
            where=f"{ENV_PREFIX}LLM_MAX_TOKENS",
            remedy=f"Lower it, or set {ENV_PREFIX}LLM_WINDOW to what the model reads.",
        )
    from models.language_model import OpenAICompatibleLanguageModel

    return OpenAICompatibleLanguageModel(
        str(settings.llm_url),
        settings.llm_model,
        settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        window=settings.llm_window,
        timeout_s=settings.llm_timeout_s,
        attempts=settings.llm_attempts,
        tokenizer=settings.llm_tokenizer,
    )


def _require(settings: Settings, *names: str) -> None:
    missing = [f"{ENV_PREFIX}{name.upper()}" for name in names if getattr(settings, name) is None]
    if missing:
        raise InvalidSettings(
            f"The embedder {settings.embedder!r} also needs {', '.join(missing)}.",
            where=f"{ENV_PREFIX}EMBEDDER",
            remedy="Set them in the environment or in .env, or leave the embedder at e5.",
        )
