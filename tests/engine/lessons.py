"""What a small cross-encoder is trained by: questions with their passages, and questions made of passages' words."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tests.engine.small_cross_encoder import SmallCrossEncoder

NEGATIVES: Final = 8
# Of each step: questions that people wrote, and made ones, without which those few are learnt by heart.
_ASKED: Final = 3
_MADE: Final = 7
_STEPS: Final = 100
_WARM_UP: Final = 10
_RATE: Final = 2e-3
_LEAST_RATE: Final = 0.05
_LARGEST_GRADIENT: Final = 1.0

_FORGOTTEN: Final = 0.15  # words of a question left out, each time others
_INFLECTED: Final = 0.6  # words of a made question that may have another prefix than in the passage
_CHATTY: Final = 0.8  # made questions that stand beside words of another question
_PREFIXES: Final = "הבלמשוכ"
_LEAST_LETTERS: Final = 4


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question, and the passages that answer it by their places among those of the training."""

    query: str
    right: tuple[int, ...]


class _Lessons:
    """Draws what is learnt from."""

    def __init__(self, small: SmallCrossEncoder, lessons: Sequence[Lesson], passages: Sequence[str], seed: int) -> None:
        self._small, self._lessons = small, lessons
        self._words = [passage.split() for passage in passages]
        self._random = random.Random(seed)
        self._left: list[Lesson] = []
        self.read = [small.ids(passage) for passage in passages]
        self._holds = np.zeros((len(passages), len(small.tokenizer)), dtype=np.bool_)
        for number, ids in enumerate(self.read):
            self._holds[number, ids] = True
        self._idf = np.log((len(passages) + 1) / (self._holds.sum(axis=0) + 0.5))

    def asked(self) -> tuple[list[int], list[int]]:
        """A question of the set, and the places of a right and of wrong passages."""
        if not self._left:
            self._left = self._random.sample(self._lessons, len(self._lessons))
        lesson = self._left.pop()
        words = lesson.query.split()
        words = [word for word in words if self._random.random() > _FORGOTTEN] or words
        return self._with_wrong(words, self._random.choice(lesson.right), lesson.right)

    def made(self) -> tuple[list[int], list[int]]:
        """Some words of a passage, others before or behind them."""
        draw = self._random
        right = draw.randrange(len(self._words))
        near = self._part(self._words[right], 6, 14)
        chosen = sorted(draw.sample(range(len(near)), min(len(near), draw.randint(3, 6))))
        words = [self._inflected(near[place]) if draw.random() < _INFLECTED else near[place] for place in chosen]
        if draw.random() < _CHATTY:
            other = self._part(draw.choice(self._lessons).query.split(), 2, 8)
            words = [*other, *words] if draw.random() < 0.5 else [*words, *other]
        return self._with_wrong(words, right, (right,))

    def _part(self, words: list[str], least: int, most: int) -> list[str]:
        length = self._random.randint(least, most)
        start = self._random.randrange(max(1, len(words) - length))
        return words[start : start + length]

    def _inflected(self, word: str) -> str:
        if len(word) < _LEAST_LETTERS or not "א" <= word[0] <= "ת":
            return word
        if word[0] in _PREFIXES and self._random.random() < 0.6:
            word = word[1:]
        return self._random.choice(_PREFIXES) + word if self._random.random() < 0.5 else word

    def _with_wrong(self, words: list[str], right: int, answers: Sequence[int]) -> tuple[list[int], list[int]]:
        """Two thirds of the wrong passages are those that share most with the question."""
        ids = self._small.ids(" ".join(words))
        pieces = sorted(set(ids))
        shared = (self._holds[:, pieces] * self._idf[pieces]).sum(axis=1)
        wrong = [int(place) for place in np.argsort(-shared, kind="stable") if place not in answers]
        hard = NEGATIVES * 2 // 3
        drawn = self._random.sample(wrong[: 2 * hard], hard)
        return ids, [right, *drawn, *self._random.sample(wrong[2 * hard :], NEGATIVES - hard)]


def train(small: SmallCrossEncoder, lessons: Sequence[Lesson], passages: Sequence[str], seed: int) -> None:
    """Train in place, half a minute on one core: the right passage of each question against wrong ones (softmax)."""
    import torch

    drawn = _Lessons(small, lessons, passages, seed)
    weights = [*small.model.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=_RATE, weight_decay=0.0)
    small.model.train()
    for step in range(_STEPS):
        rate = min(1.0, (step + 1) / _WARM_UP) * max(_LEAST_RATE, 1 - step / _STEPS)
        for group in optimizer.param_groups:
            group["lr"] = _RATE * rate
        questions = [drawn.asked() for _ in range(_ASKED)] + [drawn.made() for _ in range(_MADE)]
        pairs = [(ids, drawn.read[place]) for ids, places in questions for place in places]
        scores = small.scores(pairs).view(len(questions), NEGATIVES + 1)
        loss = torch.nn.functional.cross_entropy(scores, torch.zeros(len(questions), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, _LARGEST_GRADIENT)
        optimizer.step()
    small.model.eval()
