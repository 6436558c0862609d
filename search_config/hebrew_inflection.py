"""Inflection as data: from a word's form to the one form that stands for all of them. Pure; reads packaged lists.

`lists/inflections.txt` names, for frequent words, a representative and its forms (plural, construct, gender,
possessives, tenses); a form of two words stands on two lines and gets both. Other words lose one regular suffix when
enough is left. The lists are written by `scripts/build_hebrew_lists.py`; sources and licences are in NOTICE.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Final

from search_config.hebrew_prefixes import GERSHAYIM, HEBREW_LETTER

# Stands behind each representative: between two of them, and behind the last, whose suffix then is not cut.
# The standard tokenizer ends a word at it, so that no text can bring it in.
REPRESENTATIVE_END: Final = "/"

# Regular endings of nouns, adjectives and participles, with possessives; the longest that fits is cut.
SUFFIXES: Final = (
    *("ותיהם", "ותיהן", "ותינו", "ותיו", "ותיה", "ותי"),
    *("יהם", "יהן", "ינו", "יו", "יה", "נו"),
    *("יות", "יים", "ים", "ות", "ית"),
    *("ה", "ת", "י"),
)
# What must be left of a word; shorter rests are too often another word (docs/analyzer.md has the figures).
MIN_SHORTENED_LETTERS: Final = 4

# Common abbreviations, spelled with gershayim before their last letter, and the word that tells most of what they stand
# for (beit ha-mishpat: mishpat). General knowledge of the language, no source.
ABBREVIATIONS: Final[Mapping[str, str]] = {
    "ביהמש": "משפט",
    "בימש": "משפט",
    "ביהס": "ספר",
    "ביהח": "חולים",
    "עוד": "עורך",
    "יור": "יושב",
    "מנכל": "מנהל",
    "סמנכל": "סגן",
    "יועמש": "יועץ",
    "ארהב": "ארצות",
    "תז": "תעודת",
    "חוד": "חוות",
    "תבע": "תוכנית",
    "רוהמ": "ממשלה",
}


def whole_words() -> tuple[str, ...]:
    """Words whose first letter looks like a prefix and is none."""
    return tuple(_lines("whole_words.txt"))


def inflections() -> dict[str, tuple[str, ...]]:
    """Representatives by form; the first is the likelier."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in _lines("inflections.txt"):
        representative, *forms = line.split()
        for form in forms:
            found[form].append(representative)
    return {form: tuple(representatives) for form, representatives in found.items()}


def shortening_pattern() -> str:
    """The regular expression that cuts a suffix; its group is what stays. The lazy quantifier finds the longest one."""
    return f"^([{HEBREW_LETTER}]{{{MIN_SHORTENED_LETTERS},}}?)(?:{'|'.join(SUFFIXES)})$"


def inflection_rules(representatives: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Rules of `stemmer_override`; forms of the same representatives share one."""
    forms_of: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for form, found in representatives.items():
        forms_of[found].append(form)
    return [f"{','.join(forms)}=>{_ended(found)}" for found, forms in forms_of.items()]


def representatives_of(words: Iterable[str], listed: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What each word ends as: its listed representatives, else itself without a suffix.

    Whole words need it at once: `stemmer_override` passes over a word that another one has changed.
    """
    suffix = re.compile(shortening_pattern())
    return {word: listed.get(word, (suffix.sub(r"\1", word),)) for word in words}


def abbreviation_rules(representatives: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Rules of `stemmer_override`: an abbreviation gives itself and the representative of the word behind it."""
    return [
        f"{short[:-1]}{GERSHAYIM}{short[-1]}=>" + _ended((short, representatives.get(word, (word,))[0]))
        for short, word in ABBREVIATIONS.items()
    ]


def _ended(representatives: Iterable[str]) -> str:
    return "".join(one + REPRESENTATIVE_END for one in representatives)


def _lines(name: str) -> Iterable[str]:
    text = files("search_config").joinpath("lists", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))
