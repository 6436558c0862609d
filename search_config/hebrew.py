"""The Hebrew-aware analysis, as data: built-in filters only, so that it loads on a stock OpenSearch image. Pure.

Analyzers
    hebrew_prefix      words, each with its prefix letters cut one by one, the original kept at the same position
    hebrew_inflected   the same, each brought to the one form that stands for all its inflections
    hebrew_exact       words and identifiers as they are written: E-4031 is one token that E-4032 does not match
    english_stem       Latin words, stemmed; Hebrew words are left to the others

All tokens of a word keep its offsets, so that a highlight marks the whole written word. `docs/analyzer.md` says what
each step is worth.
"""

from __future__ import annotations

from typing import Any, Final

from search_config.hebrew_inflection import (
    REPRESENTATIVE_END,
    abbreviation_rules,
    inflection_rules,
    inflections,
    representatives_of,
    shortening_pattern,
    whole_words,
)
from search_config.hebrew_prefixes import (
    GERESH,
    GERSHAYIM,
    HEBREW_LETTER,
    PREFIX_LETTERS,
    STAGES,
    UNCUT,
    stage_pattern,
)

Json = dict[str, Any]

# Changes whenever a text would be analysed otherwise than before; written into the index's `_meta`.
ANALYZER_VERSION: Final = "he-3"

# Words that ask or join and say nothing of the subject. Texts seldom ask, so these words are rare in an index and BM25
# would take them for telling ones; English ones the more so in an index that is mostly Hebrew. Dropped from queries
# alone: phrases in texts stay whole. "not" and "no" stay, for they say something.
QUERY_FUNCTION_WORDS: Final = tuple(
    # Written for this project.
    """
    מה מהו מהי מהם מהן מי מיהו מיהי מיהם מתי איך כיצד איפה היכן לאן מאין האם כמה בכמה מדוע למה איזה איזו אילו
    באיזה באיזו באילו מאיזה מאיזו לאיזה לאיזו של את על עם זה זו זאת הוא היא הם הן a an and are as at be been but
    by can could did do does for from had has have how i if in into is it its may might must of on or our shall
    should than that the their them then there these they this to us was we were what when where which who whom
    whose why will with would you your
    """.split()  # noqa: SIM905 - read as text, not as a column of quotes
)

PREFIX_ANALYZER: Final = "hebrew_prefix"
INFLECTED_ANALYZER: Final = "hebrew_inflected"
EXACT_ANALYZER: Final = "hebrew_exact"
ENGLISH_ANALYZER: Final = "english_stem"

# Marks are written as escapes of the regular expressions, so that the JSON holds no invisible character.
# Unicode 16, block Hebrew: cantillation U+0591-05AF, points U+05B0-05BD, 05BF, 05C1-05C2, 05C4-05C5, 05C7.
POINTS: Final = r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
MAQAF: Final = "\u05be"
# Code points that stand for gershayim inside a word: ASCII and typographic double quotes, U+05F4, doubled single ones.
DOUBLE_QUOTES: Final = '"\u05f4\u201c\u201d\u201e\u201f\u2033'
# ... and for geresh: ASCII apostrophe, typographic single quotes, U+05F3, acute, grave, prime.
SINGLE_QUOTES: Final = "'\u05f3\u2018\u2019\u201a\u201b\u00b4`\u2032"
# Zero-width and directional marks (U+200B-200F, 202A-202E, 2060, 2066-2069, FEFF, soft hyphen): never part of a word.
INVISIBLE: Final = r"\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u00ad"
# What parts thousands: comma, no-break space, thin space, narrow no-break space. A plain space also parts numbers.
THOUSANDS: Final = r",\u00a0\u2009\u202f"


def _char_filters() -> Json:
    letter = f"[{HEBREW_LETTER}]"
    return {
        "hebrew_points": _replace(f"[{POINTS}{INVISIBLE}]", ""),
        "hebrew_maqaf": _replace(f"[{MAQAF}]", " "),
        # A quoted word with its prefix outside the quotes, as in be-"telephone": the quote is no gershayim.
        "hebrew_quoted_word": _replace(
            f"(?<![{HEBREW_LETTER}])([{PREFIX_LETTERS}]{{1,3}})[{DOUBLE_QUOTES}](?={letter}{{3,}})", "$1 "
        ),
        "hebrew_gershayim": _replace(
            f"(?<={letter})(?:[{DOUBLE_QUOTES}]|[{SINGLE_QUOTES}]{{2}})(?={letter})", GERSHAYIM
        ),
        "hebrew_geresh": _replace(f"(?<={letter})[{SINGLE_QUOTES}](?![{SINGLE_QUOTES}])", GERESH),
        # ב2024, בWindows, ה-CEO: a Hebrew prefix before Latin letters or digits is a word of its own.
        "hebrew_before_latin": _replace(f"(?<={letter})(?=[A-Za-z0-9])", " "),
        # 12,500 and 12500 are one number; 2024,500 are two.
        "thousands": _replace(rf"(?<=(?<!\d)\d{{1,3}})[{THOUSANDS}](?=\d{{3}}(?!\d))", ""),
        "invisible_spaces": _replace(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]", " "),
    }


def _filters() -> Json:
    listed = inflections()
    whole = representatives_of(whole_words(), listed)
    others = {form: found for form, found in listed.items() if form not in whole}
    cuts = {
        name: {"type": "pattern_capture", "preserve_original": True, "patterns": [stage_pattern(prefixes)]}
        for name, prefixes in zip(_cut_names(), STAGES, strict=True)
    }
    return {
        "hebrew_whole_words": {"type": "stemmer_override", "rules": [f"{word}=>{word}{UNCUT}" for word in whole]},
        "hebrew_whole_words_inflected": {"type": "stemmer_override", "rules": inflection_rules(whole)},
        **cuts,
        # After cutting, so that a prefix before an abbreviation is seen; then צה״ל is צהל and דו״ח is דוח.
        "hebrew_marks_dropped": {
            "type": "pattern_replace",
            "pattern": f"[{GERESH}{GERSHAYIM}{UNCUT}]",
            "replacement": "",
        },
        "hebrew_abbreviations": {"type": "stemmer_override", "rules": abbreviation_rules(listed)},
        "hebrew_inflections": {"type": "stemmer_override", "rules": inflection_rules(others)},
        "hebrew_suffixes": {"type": "pattern_replace", "pattern": shortening_pattern(), "replacement": "$1"},
        # Each representative becomes a token.
        "hebrew_representatives": {
            "type": "pattern_capture",
            "preserve_original": False,
            "patterns": [f"([^{REPRESENTATIVE_END}]+)"],
        },
        # Marks at the ends of an identifier are the sentence's, not the identifier's.
        "edge_marks_dropped": {
            "type": "pattern_replace",
            "pattern": r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$",
            "replacement": "",
        },
        # בE-4031, ל-E-4031: the identifier itself is a token beside the whole.
        "identifier_prefixes": {
            "type": "pattern_capture",
            "preserve_original": True,
            "patterns": [rf"^[{PREFIX_LETTERS}]{{1,3}}[-\u2010-\u2015]?([a-z0-9].*)$"],
        },
        "latin_only": {"type": "pattern_replace", "pattern": "^[^a-z]+$", "replacement": ""},
        "not_empty": {"type": "length", "min": 1},
        "unique_at_position": {"type": "unique", "only_on_same_position": True},
        "english_possessive": {"type": "stemmer", "language": "possessive_english"},
        "english_stop": {"type": "stop", "stopwords": "_english_"},
        "query_function_words": {"type": "stop", "stopwords": list(QUERY_FUNCTION_WORDS)},
        "english_stemmer": {"type": "stemmer", "language": "english"},
    }


def _replace(pattern: str, replacement: str) -> Json:
    return {"type": "pattern_replace", "pattern": pattern, "replacement": replacement}


def _tokenizers() -> Json:
    return {
        # Blanks and marks that never stand inside an identifier; a colon parts unless digits stand on both sides.
        "identifier": {
            "type": "pattern",
            "pattern": r"[\s,;|(){}\[\]<>=\"\u201c-\u201f*?!]+|:(?!\d)|(?<!\d):|[\u2013\u2014]",
        },
    }


def _cut_names() -> list[str]:
    return [f"hebrew_cut_{number}" for number in range(1, len(STAGES) + 1)]


def _cut_after(protection: str) -> list[str]:
    return [step for name in _cut_names() for step in (protection, name)]


def analysis() -> Json:
    """The `analysis` block of the index settings."""
    hebrew = ["hebrew_points", "hebrew_maqaf", "hebrew_quoted_word", "hebrew_gershayim", "hebrew_geresh"]
    words = [*hebrew, "hebrew_before_latin", "thousands"]
    folded = ["lowercase", "asciifolding"]
    tidied = ["not_empty", "unique_at_position"]
    analyzers = {
        PREFIX_ANALYZER: (
            words,
            "standard",
            folded,
            [*_cut_after("hebrew_whole_words"), "hebrew_marks_dropped", *tidied],
        ),
        INFLECTED_ANALYZER: (
            words,
            "standard",
            folded,
            [
                *_cut_after("hebrew_whole_words_inflected"),
                "hebrew_abbreviations",
                "hebrew_marks_dropped",
                # What only the last cut laid bare.
                "hebrew_whole_words_inflected",
                "hebrew_inflections",
                "hebrew_suffixes",
                "hebrew_representatives",
                *tidied,
            ],
        ),
        EXACT_ANALYZER: (
            [*hebrew, "invisible_spaces"],
            "identifier",
            ["lowercase", "edge_marks_dropped"],
            ["identifier_prefixes", *tidied],
        ),
        ENGLISH_ANALYZER: (
            [*hebrew, "hebrew_before_latin"],
            "standard",
            ["english_possessive", *folded, "latin_only", "not_empty", "english_stop"],
            ["english_stemmer"],
        ),
    }
    return {
        "char_filter": _char_filters(),
        "filter": _filters(),
        "tokenizer": _tokenizers(),
        "analyzer": {
            **{
                name: _custom(characters, tokenizer, [*first, *rest])
                for name, (characters, tokenizer, first, rest) in analyzers.items()
            },
            **{
                query_analyzer(name): _custom(characters, tokenizer, [*first, "query_function_words", *rest])
                for name, (characters, tokenizer, first, rest) in analyzers.items()
            },
        },
    }


def query_analyzer(name: str) -> str:
    """The analyzer of queries beside one of texts: the same, but for the words that only ask."""
    return f"{name}_query"


def _custom(char_filter: list[str], tokenizer: str, filters: list[str]) -> Json:
    return {"type": "custom", "char_filter": char_filter, "tokenizer": tokenizer, "filter": filters}
