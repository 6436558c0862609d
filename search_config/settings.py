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
SparseKind = Literal["off", "latent-terms", "sentence-transformers"]
ChunkingStrategy = Literal["A", "B", "C", "D", "E", "F"]
JwtAlgorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS384", "HS512"
]
# Variables are text: "2" is turned into a number before it is compared.
TokenBits = Annotated[Literal[0, 1, 2, 4], BeforeValidator(lambda value: int(value) if str(value).isdigit() else value)]


class Settings(BaseSettings):
    """Every setting with its default; the variable is the field's name in capitals behind MAFTEACH_."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_file=".env", extra="ignore", frozen=True)

    # Where the engine is
    opensearch_url: HttpUrl | None = Field(
        None, description="URL of a running OpenSearch cluster; unset, the embedded node is used."
    )
    opensearch_ca_file: Path | None = Field(
        None,
        description="Certificate authorities (PEM) that the engine's certificate is checked with; unset, the system's.",
    )
    opensearch_verify_certs: bool = Field(
        True, description="Whether the engine's certificate and name are checked; false is for experiments alone."
    )
    opensearch_username: str | None = Field(None, description="User for basic authentication at the engine.")
    opensearch_password: SecretStr | None = Field(None, description="Password of that user.")
    opensearch_aws_region: str | None = Field(
        None,
        description="Region of an Amazon OpenSearch domain: requests are signed (SigV4) with the credentials that AWS "
        "tools find; needs the extra `aws`.",
    )
    opensearch_aws_service: Literal["es", "aoss"] = Field(
        "es", description="Service that requests are signed for: es (domains) or aoss (serverless)."
    )
    dashboards_url: HttpUrl | None = Field(
        None,
        description="URL of OpenSearch Dashboards, for `mafteach setup --dashboards`; asked with the engine's user and "
        "certificate authorities.",
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

    # The sparse leg
    sparse: SparseKind = Field(
        "off",
        description="Learned sparse terms, a third leg (docs/query.md): off, latent-terms (of the embedded model), or "
        "sentence-transformers.",
    )
    sparse_model: str | None = Field(
        None, description="Sparse encoder of sentence-transformers: a hub's name or a folder."
    )
    sparse_revision: str | None = Field(None, description="Revision of a hub's sparse encoder.")

    # The reranker
    reranker_model: str | None = Field(
        None, description="Cross-encoder that reranks instead of the profile's blend: a hub's name or a folder."
    )
    reranker_revision: str | None = Field(None, description="Revision of a hub's cross-encoder.")

    # The language model that writes answers
    llm_url: HttpUrl | None = Field(
        None,
        description="Base URL of an OpenAI-compatible chat endpoint, ending in /v1; unset, answers are extractive.",
    )
    llm_model: str | None = Field(None, description="The endpoint's name of the model that writes answers.")
    llm_api_key: SecretStr | None = Field(None, description="Key for that endpoint.")
    llm_window: int = Field(32_768, ge=2_048, description="Tokens that the model reads and writes together.")
    llm_max_tokens: int = Field(800, ge=16, le=16_000, description="Most tokens of one answer.")
    llm_timeout_s: float = Field(
        40.0,
        gt=0,
        le=600,
        description="Seconds that one answer of the model may take, or the next piece of a stream; below "
        "REQUEST_LIMIT_S, so that an answer without the model is still in time.",
    )
    llm_attempts: int = Field(3, ge=1, le=10, description="Attempts at a call that fails for a moment.")
    llm_tokenizer: Path | None = Field(
        None, description="The model's tokenizer.json, to count tokens by; unset, a byte counts as one."
    )
    llm_order: Literal["best_first", "best_last", "best_outside"] = Field(
        "best_first", description="Where the best passages stand in the prompt."
    )
    answer_sentences: int = Field(3, ge=1, le=5, description="Most sentences of an extractive answer.")

    # Ingest
    chunk_strategy: ChunkingStrategy = Field("E", description="Chunking strategy, A to F (docs/chunking.md).")
    chunk_target: int = Field(1200, ge=64, le=20_000, description="Target length of a chunk, in characters.")
    max_file_bytes: int = Field(20_000_000, ge=1, description="Largest file that is ingested, in bytes.")
    extract_timeout_s: float = Field(
        180.0, gt=0, le=3600, description="Seconds that reading one document may take, in its own process."
    )
    extract_memory_mb: int = Field(
        2048, ge=0, le=1_000_000, description="MiB that the process which reads documents may take; 0 sets no limit."
    )
    expanded_max_bytes: int = Field(
        500_000_000,
        ge=1,
        description="Largest size, in bytes, of all that a packed document (DOCX, XLSX, ODT) unpacks to.",
    )
    expansion_ratio_max: int = Field(
        200, ge=2, le=100_000, description="How many times its own size a packed document may unpack to."
    )
    archive_entries_max: int = Field(10_000, ge=1, description="Most parts of a packed document.")
    sheet_cells_max: int = Field(
        2_000_000, ge=1, description="Most cells of a spreadsheet that are looked at, empty ones included."
    )
    pdf_pages_max: int = Field(2_000, ge=1, le=100_000, description="Most pages of a PDF.")
    drop_references: bool = Field(False, description="Whether lists of references are left out of documents.")
    ocr: bool = Field(True, description="Whether pages that are pictures are recognised, where Tesseract is installed.")
    attachments_max: int = Field(100, ge=0, description="Most attachments of a mail, those of mails in it included.")
    attachment_depth_max: int = Field(5, ge=0, le=20, description="How deep mails may lie in each other.")
    lease_s: float = Field(
        30.0,
        ge=0.2,
        le=3600,
        description="Seconds without a sign of life after which a worker's documents are taken over.",
    )
    max_attempts: int = Field(
        5, ge=1, le=100, description="Workers that one document may end before it is given up as failed."
    )
    spool_dir: Path | None = Field(
        None,
        description="Folder of uploaded files; all machines that serve or work must see the same one. Unset, `spool` "
        "in the data folder.",
    )
    fields_model: bool = Field(
        False,
        description="Whether the language model of LLM_URL reads the fields of documents (parties, dates, amounts); "
        "else rules do (docs/fields.md).",
    )
    bulk_max_items: int = Field(500, ge=1, le=10_000, description="Most items of one bulk request.")
    bulk_max_bytes: int = Field(5_000_000, ge=10_000, description="Most bytes of one bulk request.")

    # Query
    max_query_chars: int = Field(2_000, ge=1, description="Longest query, in characters.")
    profile: Path | None = Field(
        None, description="Profile of searches (docs/tuning.md); unset, the one that ships with the package."
    )

    # The router
    router_examples: Path | None = Field(
        None, description="Labelled questions of your own (JSON lines) beside the shipped ones (docs/routing.md)."
    )
    router_model: bool = Field(
        False,
        description="Whether the language model of LLM_URL routes the questions that the rules leave open; else the "
        "nearest labelled examples do.",
    )

    # Service
    host: str = Field("127.0.0.1", description="Address that `mafteach serve` listens on.")
    port: int = Field(8080, ge=1, le=65535, description="Port that `mafteach serve` listens on.")
    rate_limit_per_minute: int = Field(
        600, ge=0, le=1_000_000, description="Requests a minute that one key may send; 0 sets no limit."
    )
    key_cache_s: float = Field(
        5.0,
        ge=0,
        le=300,
        description="Seconds that a key counts as checked; one that is revoked elsewhere is refused after them. 0 "
        "looks every key up at each request.",
    )
    waiting_requests: int = Field(
        32,
        ge=1,
        le=10_000,
        description="Requests of one tenant that may wait for their turn; more are answered 429 (docs/operation.md).",
    )
    request_limit_s: float = Field(
        60.0, gt=0, le=3600, description="Seconds that a request may take before its answer begins."
    )
    upload_max_bytes: int = Field(
        25_000_000,
        ge=1_000,
        description="Largest body of an upload, in bytes; a file is limited by MAX_FILE_BYTES too.",
    )
    metrics_token: SecretStr | None = Field(
        None,
        description="Bearer token for /metrics, whose counts are of all tenants; unset, only this machine itself is "
        "answered.",
    )
    otel_endpoint: HttpUrl | None = Field(
        None, description="OTLP/HTTP collector for traces, such as http://localhost:4318; needs the extra `otel`."
    )

    # JSON Web Tokens, beside API keys
    jwt_issuer: str | None = Field(
        None, min_length=1, description="Issuer (`iss`) of tokens; set, tokens are accepted."
    )
    jwt_audience: str | None = Field(None, min_length=1, description="Audience (`aud`) that a token must be made for.")
    jwt_algorithm: JwtAlgorithm = Field("RS256", description="The one signature algorithm that is accepted.")
    jwt_jwks_url: HttpUrl | None = Field(None, description="Where the issuer publishes its keys (JWKS).")
    jwt_jwks_file: Path | None = Field(None, description="The same as a file.")
    jwt_secret: SecretStr | None = Field(
        None, description="Secret shared with the issuer, for the algorithms HS256, HS384 and HS512."
    )
    jwt_tenant_claim: str = Field("tenant", min_length=1, description="Claim that names the tenant.")
    jwt_groups_claim: str = Field("groups", min_length=1, description="Claim that lists the groups.")
    jwt_permissions_claim: str = Field(
        "permissions",
        min_length=1,
        description="Claim that lists the permissions (read, write, review); a token without it may read.",
    )
    jwt_leeway_s: int = Field(30, ge=0, le=300, description="Seconds by which clocks may differ.")

    # The query log
    query_log: bool = Field(True, description="Whether requests are logged in the engine (docs/operation.md).")
    query_log_text: bool = Field(
        False, description="Whether the log keeps the words of a query; they may be personal data."
    )
    query_log_days: int = Field(90, ge=1, le=3650, description="Days after which rows of the log are deleted.")


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
