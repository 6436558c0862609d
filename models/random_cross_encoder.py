"""A cross-encoder of the usual small size with weights that were drawn at random: as fast as a trained one, and useless
for anything but measuring that."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from models.export import export_tokenizer
from search_config.errors import MissingExtra

# The widespread MiniLM rerankers: 6 layers of 384.
LAYERS: Final = 6
HIDDEN: Final = 384
HEADS: Final = 12
FEED_FORWARD: Final = 1_536
WINDOW: Final = 512
_SEED: Final = 1


def write_random_cross_encoder(folder: Path) -> Path:
    """Write a folder that `CrossEncoder(folder)` loads without network (410 MB, most of it the embedded tokenizer's
    vocabulary, whose size costs no time).

    Args:
        folder: made where it is missing; files in it are overwritten.

    Returns:
        The folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ModelUnavailable: the embedded tokenizer is missing or damaged.
    """
    try:
        import torch
        from transformers import BertConfig, BertForSequenceClassification
    except ImportError as error:
        raise MissingExtra(
            "A cross-encoder needs an optional package.",
            where="sentence-transformers",
            remedy="pip install 'mafteach[sentence-transformers]'",
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary, padding = export_tokenizer(folder)
    torch.manual_seed(_SEED)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=FEED_FORWARD,
        max_position_embeddings=WINDOW,
        pad_token_id=padding,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
