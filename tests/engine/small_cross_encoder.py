"""A cross-encoder that is small enough to be trained within a test: two layers of 64 over the pieces of the embedded
model's tokenizer.

Attention that was drawn at random needs far more than a minute to find out that equal words in question and passage
matter. So training starts where that is known, written into the weights, and learns the rest: which words of a question
count, which pieces stand for each other, how much of a passage's length is noise. At its start
- a piece is its vector in the embedded model, reduced to its main components, and the rarity of the piece;
- in the first layer a token looks for its like in the other text, or else at the first token: what it finds is one
  channel, 1 for its like, 0 for nothing;
- in the second layer the first token takes the mean of that channel over the question, the rare pieces first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.e5_unpack import source_file
from models.e5_weights import read_weights
from models.export import export_tokenizer

WIDTH: Final = 64
WINDOW: Final = 512
_BOS, _PAD, _EOS, _UNKNOWN = 0, 1, 2, 3
_SPECIALS: Final = (_BOS, _PAD, _EOS, _UNKNOWN)

# Dimensions: the first are the piece's own; then one for each thing that the start knows of.
_OWN: Final = 52
_SIDE, _RARITY, _FOUND, _FIRST, _END, _SCORE, _COMMON = range(_OWN, _OWN + 7)

# Lengths before the layer norm brings each token to the same: of the piece's own vector, of the side, of marks.
_VECTOR_LENGTH: Final = 6.0
_SIDE_LENGTH: Final = 2.5
_MARK_LENGTH: Final = 6.0
# Pieces with an inverse document frequency below it are like no other piece: the lower, the less.
_COMMON_IDF: Final = 1.5
_LEAST_RARITY: Final = -3.0
# Attention of a token to its like, and the cosine that outweighs finding nothing.
_SHARPNESS: Final = 18.0
_LIKE: Final = 0.8
# Logits that part the sides, and keep marks out of both layers.
_APART: Final = 6.0
_MARKS_OUT: Final = 20.0
_MARKS_OUT_OF_MEAN: Final = 12.0
_DRAWN: Final = 0.01  # standard deviation of all other weights


@dataclass(frozen=True)
class SmallCrossEncoder:
    """A model and its tokenizer, as `transformers` has them."""

    model: Any
    tokenizer: Any

    def ids(self, text: str) -> list[int]:
        """Pieces of a text, without marks."""
        found: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def scores(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Any:
        """`(pairs,)` tensor: scores of pairs of `ids`, a question and a passage, read from short to long."""
        import torch

        rows = [_row(question, passage) for question, passage in pairs]
        order = sorted(range(len(rows)), key=lambda number: len(rows[number][0]))
        parts = []
        for start in range(0, len(order), _TOGETHER):
            chosen = [rows[number] for number in order[start : start + _TOGETHER]]
            longest = len(chosen[-1][0])
            ids = torch.tensor([[*row, *[_PAD] * (longest - len(row))] for row, _ in chosen])
            sides = torch.tensor([[*side, *[0] * (longest - len(side))] for _, side in chosen])
            read = self.model(input_ids=ids, token_type_ids=sides, attention_mask=(ids != _PAD).long())
            parts.append(read.logits[:, 0])
        return torch.cat(parts)[torch.argsort(torch.tensor(order))]

    def write(self, folder: Path) -> Path:
        """Write a folder that `CrossEncoder(folder)` loads."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        return folder


_TOGETHER: Final = 16  # pairs of one pass: they are of about one length
_LONGEST_QUESTION: Final = 120  # pieces


def _row(question: Sequence[int], passage: Sequence[int]) -> tuple[list[int], list[int]]:
    """A pair as the tokenizer joins it, with the side of each token."""
    asked = question[:_LONGEST_QUESTION]
    read = passage[: WINDOW - len(asked) - 4]
    ids = [_BOS, *asked, _EOS, _EOS, *read, _EOS]
    return ids, [0] * (len(asked) + 2) + [1] * (len(read) + 2)


def untrained(folder: Path, texts: Iterable[str], passages: Sequence[str], seed: int) -> SmallCrossEncoder:
    """The model as it is before training.

    Args:
        folder: for the whole tokenizer.
        texts: every text that will be read: of the vocabulary, the pieces in them are kept.
        passages: of the training, from which the rarity of pieces is counted. A piece in none of them is the rarest.
        seed: of the weights that are drawn.
    """
    tokenizer, kept = _tokenizer(folder, texts)
    vectors = read_weights(source_file()).words.dequantised()[kept]
    counts = np.zeros(len(kept))
    for passage in passages:
        counts[list(set(tokenizer(passage, add_special_tokens=False)["input_ids"]))] += 1
    idf = np.log((len(passages) + 1) / (counts + 0.5))
    return SmallCrossEncoder(_model(_embeddings(vectors, idf), seed), tokenizer)


def _tokenizer(folder: Path, texts: Iterable[str]) -> tuple[Any, list[int]]:
    """The embedded model's tokenizer with the pieces of some texts alone, which it cuts as before; their old ids."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    export_tokenizer(folder)
    file = folder / "tokenizer.json"
    whole = Tokenizer.from_file(str(file))
    encoded = whole.encode_batch([*texts], add_special_tokens=False)
    kept = sorted({number for one in encoded for number in one.ids} | set(_SPECIALS))
    described = json.loads(file.read_text(encoding="utf-8"))
    described["model"]["vocab"] = [described["model"]["vocab"][number] for number in kept]
    described["added_tokens"] = [token for token in described["added_tokens"] if token["id"] in _SPECIALS]
    for place, part in enumerate(described["post_processor"]["pair"]):
        # The second text and the marks around it are of the second side.
        (content,) = part.values()
        content["type_id"] = int(place > 2)
    small = Tokenizer.from_str(json.dumps(described))
    names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=small,
        model_max_length=WINDOW,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        unk_token="<unk>",
        **names,
    )
    return tokenizer, kept


def _embeddings(vectors: NDArray[np.float32], idf: NDArray[np.float64]) -> NDArray[np.float32]:
    """`(pieces, WIDTH)`: main components, all of equal weight, and rarity."""
    components, _, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    own = components[:, :_OWN] / np.linalg.norm(components[:, :_OWN], axis=1, keepdims=True)
    share = np.minimum(1.0, idf / _COMMON_IDF).clip(0.0)
    rarity = np.log(np.maximum(idf, 0.1))
    table = np.zeros((len(vectors), WIDTH), dtype=np.float32)
    table[:, :_OWN] = _VECTOR_LENGTH * share[:, None] * own
    table[:, _COMMON] = _VECTOR_LENGTH * np.sqrt(1.0 - share**2)
    table[:, _RARITY] = (rarity - rarity.max()).clip(_LEAST_RARITY)
    table[list(_SPECIALS)] = 0.0
    table[_BOS, _FIRST] = table[_EOS, _END] = _MARK_LENGTH
    table[_BOS, _SIDE] = -_SIDE_LENGTH  # it is of no side
    table[_UNKNOWN, _COMMON] = _VECTOR_LENGTH
    return table


def _model(table: NDArray[np.float32], seed: int) -> Any:
    """The two layers described above; all other weights are drawn."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(table),
            hidden_size=WIDTH,
            num_hidden_layers=2,
            num_attention_heads=1,
            intermediate_size=WIDTH,
            max_position_embeddings=WINDOW,
            pad_token_id=_PAD,
            num_labels=1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=_DRAWN,
            layer_norm_eps=1e-6,
        )
    )
    root = math.sqrt(WIDTH)  # of attention's division, and the length of every token behind a layer norm
    token = root / math.hypot(_VECTOR_LENGTH, _SIDE_LENGTH, 1.0)  # what the norm multiplies a piece by
    embeddings, (first, second) = model.bert.embeddings, model.bert.encoder.layer
    with torch.no_grad():
        embeddings.word_embeddings.weight.copy_(torch.from_numpy(table))
        sides = embeddings.token_type_embeddings.weight
        sides.zero_()
        sides[0, _SIDE], sides[1, _SIDE] = _SIDE_LENGTH, -_SIDE_LENGTH

        look, written = first.attention.self, first.attention.output.dense.weight
        own = torch.arange(_OWN)
        for part in (look.query.weight, look.key.weight):
            part[own, own] += math.sqrt(_SHARPNESS * root) / (token * _VECTOR_LENGTH)
        apart = math.sqrt(_APART * root) / (token * _SIDE_LENGTH)
        look.query.weight[_SIDE, _SIDE] += apart
        look.key.weight[_SIDE, _SIDE] -= apart
        look.query.bias[_FIRST] = 1.0
        look.key.weight[_FIRST, _FIRST] += _APART + _SHARPNESS * _LIKE
        look.key.weight[_FIRST, _END] -= _MARKS_OUT
        look.value.bias[_FOUND] = 1.0
        look.value.weight[_FOUND, _FIRST] -= 1 / root
        written[_FOUND, _FOUND] += 4.0

        look, written = second.attention.self, second.attention.output.dense.weight
        look.query.bias[[_RARITY, _SIDE, _END, _FIRST]] = 1.0
        look.key.weight[_RARITY, _RARITY] += root / token
        look.key.weight[_SIDE, _SIDE] += _APART * root / (token * _SIDE_LENGTH)
        look.key.weight[_END, _END] -= _MARKS_OUT_OF_MEAN
        look.key.weight[_FIRST, _FIRST] -= _MARKS_OUT_OF_MEAN
        look.value.weight[_SCORE, _FOUND] += 1.0
        written[_SCORE, _SCORE] += 3.0

        # Within the middle of tanh; the factor behind it gives scores the spread of log-odds.
        model.bert.pooler.dense.weight[0, _SCORE] += 0.5
        model.bert.pooler.dense.bias[0] = -1.0
        model.classifier.weight[0, 0] += 8.0
    return model
