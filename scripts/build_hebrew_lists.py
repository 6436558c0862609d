"""Write `search_config/lists/`: which words begin with no prefix, and which forms belong to one word.

Run it by hand when the method or a source changes, with the two sources installed beside the project:
`pip install wordfreq==3.1.1 simplemma==2.0.0`, `python -m scripts.build_hebrew_lists`,
`python -m scripts.write_templates`. The result is committed; the running software needs neither package.

Sources (licences and attribution in NOTICE)
    wordfreq's large Hebrew list      how frequent a written word is, prefixes and all
    simplemma's Hebrew dictionary     forms and their lemma, from Wiktionary and Wikidata

A prefix letter in front of a word is cut unless statistics speak against it. The frequency of `p + rest` is compared
with what that prefix usually adds to a word of the frequency of `rest`; a word far more frequent than that (SURPRISE)
is a word of its own (מצב beside צב), and so is a less surprising one that itself takes the article or a preposition
(TAKES_PREFIXES): what begins with an article does not take another.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import median

from search_config.hebrew_inflection import shortening_pattern
from search_config.hebrew_prefixes import HEBREW_LETTER, MIN_STEM_LETTERS, PREFIX_LETTERS, readings

LISTS = Path(__file__).resolve().parent.parent / "search_config" / "lists"
SOURCES = {"wordfreq": "3.1.1", "simplemma": "2.0.0"}

# --- whole words
# Rarer words than one in a million are seldom met, and their statistics are thin (the list ends at 1e-8).
MIN_WORD_FREQUENCY = 1e-6
# The frequency taken for a word that is not in the list.
UNSEEN = 1e-8
# Decimal exponents by which a word is more frequent than its reading with a prefix predicts.
SURPRISE = 4.0
SURPRISE_WITH_PREFIXES = 0.5
# Frequency of the word with article or preposition, relative to its own.
TAKES_PREFIXES = 0.25
ARTICLE_AND_PREPOSITIONS = "הבלמ"
# Verbs take shin as freely as nouns take the article, but the usual factor is measured on nouns; without this allowance
# the relative clauses in shin would count as surprising.
VERB_ALLOWANCE = {"ש": 0.7}
# What a prefix usually adds is measured on nouns: words of which a share of the uses carries the article.
NOUN_ARTICLE_SHARE = (0.2, 3.0)
NOUNS_AMONG_FIRST = 40_000
MIN_NOUN_LETTERS = 3

# --- inflections
# A form is listed when it (with all its prefixes) is about this frequent.
MIN_FORM_FREQUENCY = 1.6e-6
# A form that the dictionary lacks belongs to a base that is at least this frequent relative to it.
MIN_BASE_SHARE = 0.1
MIN_BASE_LETTERS = 3
# Endings of forms that the dictionary lacks (most construct forms in tav), with the endings that their base may have.
# Only one regular step from base to form, so that a chance likeness seldom passes.
REGULAR_STEPS = (
    ("ויות", ("ות",)),
    ("יות", ("ית", "יה", "י")),
    ("יים", ("י",)),
    ("ית", ("י",)),
    ("תו", ("ה",)),
    ("תה", ("ה",)),
    ("תם", ("ה",)),
    ("ים", ("", "ה")),
    ("ות", ("ה", "ת", "")),
    ("ת", ("ה",)),
)
# Endings of a feminine noun's construct and possessives. Not -tah, which ends more verbs, and not what ends in -it,
# which is an adjective or a language.
CONSTRUCT_ENDINGS = ("ת", "תו", "תם", "תנו")
ADJECTIVE_ENDING = "ית"
# Shorter forms are imperatives of rare verbs more often than what is meant.
MIN_FORM_LETTERS = 3
# Pronouns and the like, for which the dictionary has rows mined from treebanks of other licences. Left out; such words
# carry no content.
FUNCTION_WORDS = frozenset(
    (
        *("אותה", "אותם", "אותן", "איזו", "איזושהי", "אינה", "איני", "אינם", "אינן", "איננה", "אינני"),
        *("איתם", "אתו", "היו", "הייתי", "היתה", "יהיה", "יהיו", "כל", "כלשהי", "כלשהם", "להיות"),
        *("מהו", "מהם", "מנת", "עצמה", "עצמי", "עצמם", "עצמן", "עצמנו", "שלה", "שלהם", "שלו", "שניהם", "תהיה"),
    )
)

Frequencies = Mapping[str, float]
HEBREW_WORD = re.compile(f"[{HEBREW_LETTER}]{{2,}}")
MARKS = re.compile("['\"\u05f3\u05f4\u2019\u201d]")


def load_frequencies() -> dict[str, float]:
    """Share of each Hebrew word in running text."""
    from wordfreq import get_frequency_dict  # type: ignore[import-not-found, unused-ignore]

    return {w: f for w, f in get_frequency_dict("he", wordlist="large").items() if HEBREW_WORD.fullmatch(w)}


def load_lemmas() -> dict[str, str]:
    """Lemma by form; geresh and gershayim dropped, as the analyzer drops them."""
    from simplemma.strategies.dictionaries import (  # type: ignore[import-not-found, unused-ignore]
        DefaultDictionaryFactory,
    )

    dictionary = DefaultDictionaryFactory().get_dictionary("he")
    pairs = ((MARKS.sub("", form), MARKS.sub("", dictionary[form])) for form in dictionary)
    return {
        form: lemma
        for form, lemma in pairs
        if HEBREW_WORD.fullmatch(form) and HEBREW_WORD.fullmatch(lemma) and form not in FUNCTION_WORDS
    }


def prefix_factors(frequency: Frequencies) -> dict[str, float]:
    """What each prefix letter usually makes of a noun's frequency: the median of f(prefix + noun) / f(noun)."""
    first = sorted(frequency, key=lambda word: (-frequency[word], word))[:NOUNS_AMONG_FIRST]
    low, high = NOUN_ARTICLE_SHARE
    nouns = [
        word
        for word in first
        if len(word) >= MIN_NOUN_LETTERS and low < frequency.get("ה" + word, 0.0) / frequency[word] < high
    ]
    return {
        letter: median(frequency.get(letter + noun, UNSEEN) / frequency[noun] for noun in nouns)
        for letter in PREFIX_LETTERS
    }


def find_whole_words(frequency: Frequencies) -> list[str]:
    """Frequent words that begin with a prefix letter which is none, sorted."""
    factors = prefix_factors(frequency)

    def is_whole(word: str) -> bool:
        letter, rest = word[0], word[1:]
        predicted = frequency.get(rest, UNSEEN) * factors[letter]
        surprise = math.log10(frequency[word] / predicted) - VERB_ALLOWANCE.get(letter, 0.0)
        taken = sum(frequency.get(one + word, 0.0) for one in ARTICLE_AND_PREPOSITIONS) / frequency[word]
        return surprise >= SURPRISE or (surprise >= SURPRISE_WITH_PREFIXES and taken >= TAKES_PREFIXES)

    return sorted(
        word
        for word, share in frequency.items()
        if share >= MIN_WORD_FREQUENCY and len(word) > MIN_STEM_LETTERS and word[0] in PREFIX_LETTERS and is_whole(word)
    )


def with_participles_joined(lemmas: Mapping[str, str]) -> dict[str, str]:
    """The dictionary sometimes has a participle's singular as a noun of its own (עובד) and its other forms (עובדת,
    עובדים) as forms of the verb (עבד): the singular joins them."""
    joined = dict(lemmas)
    for word, lemma in lemmas.items():
        verb = lemmas.get(word + "ים", word)
        if word == lemma and verb != word and lemmas.get(word + "ת") == verb:
            joined[word] = verb
    return joined


def with_constructs_preferred(lemmas: Mapping[str, str], frequency: Callable[[str], float]) -> dict[str, str]:
    """What may be a noun's construct is one: the dictionary has ברכת as a verb's second person, texts as a blessing's.

    A participle's feminine (עובדת beside עובד, עובדים) stays with the participle.
    """

    def is_participle(form: str) -> bool:
        base = form.removesuffix("ת")
        return base != form and lemmas.get(base) == lemmas.get(base + "ים") == lemmas[form]

    preferred = dict(lemmas)
    for form in lemmas:
        nouns = [form.removesuffix(one) + "ה" for one in CONSTRUCT_ENDINGS if form.endswith(one)]
        for noun in nouns:
            if (
                lemmas.get(noun) == noun
                and not form.endswith(ADJECTIVE_ENDING)
                and not is_participle(form)
                and frequency(noun) >= MIN_BASE_SHARE * frequency(form)
            ):
                preferred[form] = noun
    return preferred


def second_reading(form: str, representative: Mapping[str, str]) -> str | None:
    """The participle behind a plural in -ot that the dictionary knows only as a noun's: עובדות, facts or workers."""
    base = form.removesuffix("ות")
    other = representative.get(base)
    if base == form or other is None or other == representative[form]:
        return None
    siblings = {representative.get(base + ending) for ending in ("ת", "ים")}
    return other if siblings == {other} else None


def regular_base(form: str, representative: Mapping[str, str], frequency: Callable[[str], float]) -> str | None:
    """The representative of a form that the dictionary lacks, one regular step away and frequent enough."""
    for ending, base_endings in REGULAR_STEPS:
        stem = form.removesuffix(ending)
        if stem == form or len(stem) < MIN_BASE_LETTERS:
            continue
        enough = MIN_BASE_SHARE * frequency(form)
        bases = [base for base in (stem + one for one in base_endings) if frequency(base) >= enough]
        known = [base for base in bases if base in representative]
        if bases:
            best = max(known or bases, key=frequency)
            return representative.get(best, best)
    return None


def find_inflections(
    frequency: Frequencies, lemmas: Mapping[str, str], whole: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Representatives by form, of the frequent forms."""

    def total(word: str) -> float:
        return frequency.get(word, 0.0) + sum(frequency.get(letter + word, 0.0) for letter in PREFIX_LETTERS)

    representative = with_constructs_preferred(with_participles_joined(lemmas), total)
    found: dict[str, tuple[str, ...]] = {}
    for form, lemma in representative.items():
        if total(form) >= MIN_FORM_FREQUENCY and len(form) >= MIN_FORM_LETTERS:
            second = second_reading(form, representative)
            found[form] = (lemma,) if second is None else (lemma, second)
    for form in frequency:
        if form in representative or total(form) < MIN_FORM_FREQUENCY:
            continue
        # What is a known word behind a prefix is no form of its own.
        if any(rest in representative or total(rest) > total(form) for rest in readings(form, whole)[1:]):
            continue
        base = regular_base(form, representative, total)
        if base is not None:
            found[form] = (base,)
    # A base must lead to itself too, unless nothing would be cut from it anyway.
    shortened = re.compile(shortening_pattern())
    for bases in list(found.values()):
        for base in bases:
            found.setdefault(base, (base,))
    return {
        form: bases
        for form, bases in sorted(found.items())
        if bases != (form,) or shortened.fullmatch(form) is not None
    }


def write(name: str, what: str, lines: Iterable[str]) -> None:
    """One list with its head."""
    head = [
        f"# {what}",
        "# Written by scripts/build_hebrew_lists.py from "
        + " and ".join(f"{package} {number}" for package, number in SOURCES.items())
        + "; CC BY-SA 4.0, see NOTICE.",
    ]
    (LISTS / name).write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


def main() -> None:
    """Build both lists."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for package, wanted in SOURCES.items():
        if (present := version(package)) != wanted:
            raise SystemExit(f"{package} {present} is installed; the lists are built from {package} {wanted}.")
    frequency = load_frequencies()
    whole = find_whole_words(frequency)
    found = find_inflections(frequency, load_lemmas(), frozenset(whole))
    lines: dict[str, list[str]] = defaultdict(list)
    for form, bases in found.items():
        for base in bases:
            lines[base].append(form)
    write("whole_words.txt", "Words whose first letter looks like a prefix and is none.", whole)
    write(
        "inflections.txt",
        "A representative, then the forms that it stands for.",
        (" ".join([base, *forms]) for base, forms in sorted(lines.items())),
    )
    print(f"{len(whole)} whole words, {len(found)} forms of {len(lines)} words")


if __name__ == "__main__":
    main()
