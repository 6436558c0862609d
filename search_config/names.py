"""Names of indices, aliases, templates and pipelines: all begin with the prefix; installations can share a cluster."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

# Width of an index version in its name: sorts as text up to 999,999 versions.
VERSION_DIGITS = 6


class Names(BaseModel):
    """All names for one prefix."""

    model_config = ConfigDict(frozen=True)

    prefix: str

    @property
    def chunks(self) -> str:
        """Alias over the live version of the chunks: what is read from and written to."""
        return f"{self.prefix}-chunks"

    def chunks_version(self, version: int) -> str:
        """Name of one version's index."""
        return f"{self.chunks}-v{version:0{VERSION_DIGITS}d}"

    @property
    def documents(self) -> str:
        """The registry of documents."""
        return f"{self.prefix}-documents"

    @property
    def migrations(self) -> str:
        """The one row of the latest migration."""
        return f"{self.prefix}-migrations"

    def migrated(self, target: str) -> str:
        """Documents that a migration to the index `target` has done; there only while it is under way."""
        return f"{self.prefix}-migrated-{target.removeprefix(f'{self.chunks}-')}"

    @property
    def all_chunks(self) -> str:
        """Pattern of every version of the chunks."""
        return f"{self.chunks}-v*"

    @property
    def workers(self) -> str:
        """Processes that ingest, one row each while they do."""
        return f"{self.prefix}-workers"

    @property
    def keys(self) -> str:
        """Hashed API keys."""
        return f"{self.prefix}-keys"

    @property
    def queries(self) -> str:
        """The query log."""
        return f"{self.prefix}-queries"

    @property
    def evidence(self) -> str:
        """Data stream of evidence records: cases, claims, decisions, notes."""
        return f"{self.prefix}-evidence"

    @property
    def glossary(self) -> str:
        """Glossaries of the tenants."""
        return f"{self.prefix}-glossary"

    @property
    def feedback(self) -> str:
        """Data stream of what people marked right, wrong or picked."""
        return f"{self.prefix}-feedback"

    def component(self, name: str) -> str:
        """A component template."""
        return f"{self.prefix}-{name}"

    def template(self, name: str) -> str:
        """An index template."""
        return f"{self.prefix}-{name}"

    def search_pipeline(self, name: str) -> str:
        """A search pipeline."""
        return f"{self.prefix}-{name}"
