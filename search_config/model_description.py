"""Who a model is: needed by the index's `_meta` and by every model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ModelDescription(BaseModel):
    """Who a model is. Two embedders with equal `identity` give comparable vectors; no others do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    revision: str = Field(min_length=1, description="Changes with the weights: a hub revision, or a hash of the files.")
    dim: int = Field(ge=1)
    window: int = Field(ge=1, description="Tokens that the model reads, its own marks and prefix included.")
    licence: str
    token_codes: str | None = Field(None, description="Form of the token codes it writes; null where it writes none.")
    sparse_terms: str | None = Field(None, description="Form of the sparse terms it gives; null where it gives none.")

    @property
    def identity(self) -> str:
        """`name@revision/dim`: the one string that is compared."""
        return f"{self.name}@{self.revision}/{self.dim}"
