"""All settings, read once from MAFTEACH_* variables and `.env`, then passed in.

Nothing else in the project reads the environment. Invalid values stop the start-up, all at once, each by its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import BeforeValidator, Field, HttpUrl, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from search_config.errors import InvalidSettings

ENV_PREFIX = "MAFTEACH_"
APP = "mafteach"

EmbedderKind = Literal["e5", "sentence-transformers", "openai"]
ChunkingStrategy = Literal["A", "B", "C", "D", "E", "F"]
# Variables are text: "2" is turned into a number before it is compared.
TokenBits = Annotated[Literal[0, 1, 2, 4], BeforeValidator(lambda value: int(value) if str(value).isdigit() else value)]


class Settings(BaseSettings):
    """Every setting with its default; the variable is the field's name in capitals behind MAFTEACH_."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_file=".env", extra="ignore", frozen=True)

    # Where the engine is
    opensearch_url: HttpUrl | None = Field(
        None, description="URL of a running OpenSearch cluster; unset, the embedded node is used."
    )
    index_prefix: str = Field(
        "mafteach",
        pattern=r"^[a-z][a-z0-9-]{0,40}$",
        description="Prefix of every index, alias, template and pipeline.",
    )
    request_timeout_s: float = Field(30.0, gt=0, le=600, description="Seconds that one request to the engine may take.")
    knn_engine: Literal["lucene", "faiss"] = Field("lucene", description="Engine of the vector field in new indices.")
    shards: int = Field(1, ge=1, le=1024, description="Primary shards of new chunk indices.")
    replicas: int = Field(0, ge=0, le=10, description="Replicas of new indices.")

    # The embedded node
    node_port: int = Field(9267, ge=1024, le=65000, description="HTTP port of the embedded node.")
    node_heap_mb: int = Field(1024, ge=256, le=31_000, description="Java heap of the embedded node, in MiB.")
    cache_dir: Path = Field(
        Path(platformdirs.user_cache_dir(APP)), description="Downloaded and unpacked parts: engine, model."
    )
    data_dir: Path = Field(Path(platformdirs.user_data_dir(APP)), description="The embedded node's data and logs.")

    # The embedder
    embedder: EmbedderKind = Field(
        "e5", description="e5 (embedded), sentence-transformers, or openai (compatible endpoint)."
    )
    embedder_model: str | None = Field(
        None, description="Name or folder of the sentence-transformers model, or the endpoint's model name."
    )
    embedder_revision: str | None = Field(None, description="Revision of a hub's model.")
    embedder_url: HttpUrl | None = Field(None, description="Base URL of an OpenAI-compatible endpoint, ending in /v1.")
    embedder_api_key: SecretStr | None = Field(None, description="Key for that endpoint.")
    embedder_dim: int | None = Field(None, ge=1, le=16_000, description="Vector length of the endpoint's model.")
    embedder_window: int | None = Field(None, ge=16, description="Tokens that the endpoint's model reads.")
    embedder_threads: int = Field(2, ge=1, le=64, description="Threads of the embedded model.")
    token_bits: TokenBits = Field(
        2, description="Bits a dimension of the token codes for reranking (docs/reranking.md); 0 writes none."
    )

    # The reranker
    reranker_model: str | None = Field(
        None, description="Cross-encoder that reranks instead of the profile's blend: a hub's name or a folder."
    )
    reranker_revision: str | None = Field(None, description="Revision of a hub's cross-encoder.")

    # Ingest
    chunk_strategy: ChunkingStrategy = Field("E", description="Chunking strategy, A to F (docs/chunking.md).")
    chunk_target: int = Field(1200, ge=64, le=20_000, description="Target length of a chunk, in characters.")
    max_file_bytes: int = Field(20_000_000, ge=1, description="Largest file that is ingested, in bytes.")
    bulk_max_items: int = Field(500, ge=1, le=10_000, description="Most items of one bulk request.")
    bulk_max_bytes: int = Field(5_000_000, ge=10_000, description="Most bytes of one bulk request.")

    # Query
    max_query_chars: int = Field(2_000, ge=1, description="Longest query, in characters.")
    profile: Path | None = Field(
        None, description="Profile of searches (docs/tuning.md); unset, the one that ships with the package."
    )

    # Service
    host: str = Field("127.0.0.1", description="Address that `mafteach serve` listens on.")
    port: int = Field(8080, ge=1, le=65535, description="Port that `mafteach serve` listens on.")


def load_settings(**overrides: object) -> Settings:
    """Read the settings from the environment and `.env`.

    Raises:
        InvalidSettings: naming every invalid variable at once.
    """
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        problems = "; ".join(
            f"{ENV_PREFIX}{'_'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
            for item in error.errors()
        )
        raise InvalidSettings(
            f"{error.error_count()} invalid setting(s): {problems}.",
            where="environment or .env",
            remedy="Correct them; docs/settings.md lists every setting with its limits.",
        ) from error
