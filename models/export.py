"""Writes the embedded weights as a sentence-transformers folder: a start for training, and a real model for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from models.e5_layout import NAME
from models.e5_tokenizer import SPACE
from models.e5_unpack import source_file
from models.e5_weights import E5Weights, FloatArray, read_weights
from search_config.errors import MissingExtra

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_MODULES = "sentence_transformers.models"
_TOKEN_TYPES = 2  # the architecture keeps a second type, which is never used


def export_sentence_transformer(folder: Path) -> Path:
    """Write a folder that `SentenceTransformer(folder)` loads without network, in float32 (470 MB).

    Its tokenizer differs from the embedded one in two rare cases: it composes combining sequences as NFKC does, and
    joins neighbouring unknown characters.

    Args:
        folder: made where it is missing; files in it are overwritten.

    Returns:
        The folder.

    Raises:
        MissingExtra: safetensors, which comes with sentence-transformers, is not installed.
        ModelUnavailable: the embedded weights are missing or damaged.
    """
    try:
        from safetensors.numpy import save_file
    except ImportError as error:
        raise MissingExtra(
            "Writing a sentence-transformers folder needs an optional package.",
            where="safetensors",
            remedy="pip install 'mafteach[sentence-transformers]'",
        ) from error
    weights = read_weights(source_file())
    (folder / "1_Pooling").mkdir(parents=True, exist_ok=True)
    (folder / "2_Normalize").mkdir(exist_ok=True)
    tensors = folder / "model.safetensors"
    save_file(_tensors(weights), tensors, metadata={"format": "pt"})
    tensors.chmod(0o644)  # the writer closes it to others
    _tokenizer(weights).save(str(folder / "tokenizer.json"), pretty=False)
    for name, content in _configurations(weights).items():
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")
    return folder


def export_tokenizer(folder: Path) -> tuple[int, int]:
    """Write the tokenizer alone, as `export_sentence_transformer` does.

    Returns:
        Size of its vocabulary, and the id of its padding.

    Raises:
        ModelUnavailable: the embedded weights are missing or damaged.
    """
    weights = read_weights(source_file())
    _tokenizer(weights).save(str(folder / "tokenizer.json"), pretty=False)
    name = "tokenizer_config.json"
    (folder / name).write_text(json.dumps(_configurations(weights)[name], indent=2), encoding="utf-8")
    return len(weights.words.scales), weights.pad


def _tensors(weights: E5Weights) -> dict[str, FloatArray]:
    unused = np.zeros_like(weights.token_type)
    tensors: dict[str, FloatArray] = {
        "embeddings.word_embeddings.weight": weights.words.dequantised(),
        "embeddings.position_embeddings.weight": weights.positions,
        "embeddings.token_type_embeddings.weight": np.stack([weights.token_type, unused]),
        "embeddings.LayerNorm.weight": weights.embedding_norm[0],
        "embeddings.LayerNorm.bias": weights.embedding_norm[1],
    }
    for number, layer in enumerate(weights.layers):
        parts = {
            "attention.self.query": layer.query,
            "attention.self.key": layer.key,
            "attention.self.value": layer.value,
            "attention.output.dense": layer.attention_out,
            "attention.output.LayerNorm": layer.attention_norm,
            "intermediate.dense": layer.up,
            "output.dense": layer.down,
            "output.LayerNorm": layer.output_norm,
        }
        for name, (weight, bias) in parts.items():
            tensors[f"encoder.layer.{number}.{name}.weight"] = weight
            tensors[f"encoder.layer.{number}.{name}.bias"] = bias
    # The architecture has a pooler that mean pooling leaves unused; absent, loading would draw it at random and warn.
    tensors["pooler.dense.weight"] = np.zeros((weights.hidden, weights.hidden), dtype=np.float32)
    tensors["pooler.dense.bias"] = np.zeros(weights.hidden, dtype=np.float32)
    return {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}


def _tokenizer(weights: E5Weights) -> Tokenizer:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    def any_of(replacement: str) -> Regex:
        points = [f"\\x{{{point:x}}}" for point, text in sorted(weights.normal_form.items()) if text == replacement]
        return Regex(f"[{''.join(points)}]")

    vocabulary = list(zip(weights.pieces, map(float, weights.scores), strict=True))
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=weights.unk, byte_fallback=False))
    # The file's map is NFKC but for the characters that it drops and those that it reads as spaces.
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(any_of(""), ""),
            normalizers.Replace(any_of(" "), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", weights.bos), ("</s>", weights.eos)],
    )
    tokenizer.add_special_tokens(list(_SPECIALS))
    return tokenizer


def _configurations(weights: E5Weights) -> dict[str, object]:
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "vocab_size": len(weights.words.scales),
            "hidden_size": weights.hidden,
            "num_hidden_layers": len(weights.layers),
            "num_attention_heads": weights.heads,
            "intermediate_size": weights.feed_forward,
            "hidden_act": "gelu",
            "max_position_embeddings": weights.window,
            "type_vocab_size": _TOKEN_TYPES,
            "layer_norm_eps": weights.epsilon,
            "pad_token_id": weights.pad,
            "bos_token_id": weights.bos,
            "eos_token_id": weights.eos,
            "dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": weights.window,
            "bos_token": "<s>",
            "cls_token": "<s>",
            "eos_token": "</s>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{_MODULES}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{_MODULES}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{_MODULES}.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": weights.window, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": weights.hidden, "pooling_mode_mean_tokens": True},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "passage": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
            "model_name": NAME,
        },
    }
