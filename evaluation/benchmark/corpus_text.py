"""Hebrew passages at any number: sentences of `examples/` recombined, with figures and dates of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from search_config.errors import InvalidDataset
from search_config.sentences import sentence_starts

# The generator's own order of draws; a change of it makes another corpus.
CORPUS_VERSION: Final = 1
SENTENCES_MIN, SENTENCES_MAX = 2, 4
# Shorter is a heading or the rest of a table, longer a list without stops.
SENTENCE_CHARS_MIN, SENTENCE_CHARS_MAX = 40, 260
_SUFFIXES: Final = (".md", ".txt")
_NUMBER: Final = re.compile(r"\d+")
# Marks of lists, headings, quotations and tables, and what Markdown puts around words.
_LINE_MARK: Final = re.compile(r"^\s*(?:#+|[-*>•]|\d+(?:\.\d+)*[.)])\s+")
_INLINE: Final = re.compile(r"[*_`|]+")


@cache
def examples_folder() -> Path:
    """The project's own documents: in the checkout, else below the working directory.

    Raises:
        InvalidDataset: they are not part of an installed package.
    """
    for folder in (Path(__file__).resolve().parents[2] / "examples", Path.cwd() / "examples"):
        if (folder / "documents").is_dir():
            return folder
    raise InvalidDataset(
        "The benchmark's text is made of the project's example documents, which are not here.",
        where=str(Path.cwd() / "examples"),
        remedy="Run it in a checkout of the project.",
    )


@cache
def sentences(folder: Path) -> tuple[str, ...]:
    """All different sentences of the example documents, in a fixed order.

    Raises:
        InvalidDataset: there are too few.
    """
    found: dict[str, None] = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file()):
        if path.name != "README.md":
            found.update(dict.fromkeys(_sentences_of(path.read_text(encoding="utf-8"))))
    if len(found) < SENTENCES_MAX:
        raise InvalidDataset("These documents have too few sentences.", where=str(folder))
    return tuple(found)


def _sentences_of(text: str) -> list[str]:
    kept = []
    for line in text.splitlines():
        plain = _INLINE.sub("", _LINE_MARK.sub("", line)).strip()
        starts = [0, *sentence_starts(plain, 0, len(plain)), len(plain)]
        pieces = (plain[first:last].strip() for first, last in pairwise(starts))
        kept += [piece for piece in pieces if SENTENCE_CHARS_MIN <= len(piece) <= SENTENCE_CHARS_MAX]
    return kept


def recombined(source: Sequence[str], dice: np.random.Generator) -> tuple[str, ...]:
    """Sentences of one passage, each with other figures."""
    count = int(dice.integers(SENTENCES_MIN, SENTENCES_MAX + 1))
    return tuple(renumbered(source[place], dice) for place in dice.choice(len(source), size=count, replace=False))


def renumbered(sentence: str, dice: np.random.Generator) -> str:
    """A sentence in which every number is another one of as many digits."""

    def other(match: re.Match[str]) -> str:
        digits = len(match.group())
        return str(dice.integers(10 ** (digits - 1), 10**digits)) if digits < _DIGITS_MAX else match.group()

    return _NUMBER.sub(other, sentence)


# What is longer is an identifier that the generator's integers can't hold.
_DIGITS_MAX: Final = 18
