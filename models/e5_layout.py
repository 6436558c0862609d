"""Names that the unpacking and the running of the embedded model share; imports nothing heavy."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

NAME = "multilingual-e5-small"
GRAPH = "model.onnx"
IDS = "input_ids"
VECTORS, TOKEN_VECTORS = "vectors", "token_vectors"


class UnpackedModel(BaseModel):
    """A whole, checked folder.

    Attributes:
        folder: with the graph and the tokenizer.
        query_prompt, passage_prompt: token ids of `query:` and `passage:`.
        window: tokens of a sequence, special tokens included.
        bos, eos, pad: ids of the special tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path
    query_prompt: list[int]
    passage_prompt: list[int]
    window: int
    bos: int
    eos: int
    pad: int
