"""The Hebrew-aware analysis, as data: built-in filters only, so that it loads on a stock OpenSearch image. Pure.

Analyzers
    hebrew_prefix   words, each with every plausible prefix combination stripped, the original kept at the same position
    hebrew_exact    words and identifiers as they are written: E-4031 is one token that E-4032 does not match
    english_stem    Latin words, stemmed; Hebrew words are left to the other two

Prefix letters (otiyot ha-shimush, mnemonic "moshe ve-kalev") follow the order that grammar allows:
conjunction vav, subordinating shin with its compounds, preposition, article.
"""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]

# Changes whenever a text would be analysed otherwise than before; written into the index's `_meta`.
ANALYZER_VERSION: Final = "he-1"

PREFIX_ANALYZER: Final = "hebrew_prefix"
EXACT_ANALYZER: Final = "hebrew_exact"
ENGLISH_ANALYZER: Final = "english_stem"

# What is left of a word after its prefix: one letter is no word (U+05F3 and U+05F4 inside abbreviations do not count).
MIN_STEM_LETTERS: Final = 2

HEBREW_LETTER: Final = "\u05d0-\u05ea"
GERESH: Final = "\u05f3"
GERSHAYIM: Final = "\u05f4"
# Unicode 16, block Hebrew: cantillation U+0591-05AF, points U+05B0-05BD, 05BF, 05C1-05C2, 05C4-05C5, 05C7.
POINTS: Final = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
MAQAF: Final = "\u05be"
# Code points that stand for gershayim inside a word: ASCII and typographic double quotes, U+05F4, doubled single ones.
DOUBLE_QUOTES: Final = '"\u05f4\u201c\u201d\u201e\u201f\u2033'
# ... and for geresh: ASCII apostrophe, typographic single quotes, U+05F3, acute, grave, prime.
SINGLE_QUOTES: Final = "'\u05f3\u2018\u2019\u201a\u201b\u00b4`\u2032"
# Zero-width and directional marks (U+200B-200F, 202A-202E, 2060, 2066-2069, FEFF, soft hyphen): never part of a word.
INVISIBLE: Final = "\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\u00ad"

PREFIX_LETTERS: Final = "\u05de\u05e9\u05d4\u05d5\u05db\u05dc\u05d1"  # mem shin he vav kaf lamed bet

# Every combination that grammar allows, by its length: a vav before anything; shin alone or with its compounds
# (kaf-shin "when", mem-shin "since", lamed-kaf-shin "once"); then a preposition and, after mem, the article.
PREFIXES: Final[dict[int, tuple[str, ...]]] = {
    1: ("ו", "ה", "ב", "ל", "כ", "מ", "ש"),
    2: ("וה", "וב", "ול", "וכ", "ומ", "וש", "שה", "שב", "של", "שכ", "שמ", "כש", "מש", "מה", "בה", "לה", "כה"),
    3: ("ושה", "ושב", "ושל", "ושכ", "ושמ", "וכש", "ומש", "ומה", "כשה", "כשב", "כשל", "כשמ", "משה", "לכש", "שמה"),
    4: ("וכשה", "וכשב", "וכשל", "וכשמ", "ולכש", "ושמה", "לכשה", "לכשב"),
}


def prefix_patterns() -> list[str]:
    """One regular expression a prefix length; its group captures what is left. All of them apply to each token."""
    rest = f"([{HEBREW_LETTER}][{HEBREW_LETTER}{GERESH}{GERSHAYIM}]{{{MIN_STEM_LETTERS - 1},}})"
    return [f"^(?:{'|'.join(prefixes)}){rest}$" for prefixes in PREFIXES.values()]


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
        # 12,500 and 12500 are one number.
        "thousands": _replace(r"(?<=\d),(?=\d{3}(?!\d))", ""),
        "invisible_spaces": _replace("[\u00a0\u2000-\u200a\u202f\u205f\u3000]", " "),
    }


def _filters() -> Json:
    return {
        "hebrew_prefixes": {"type": "pattern_capture", "preserve_original": True, "patterns": prefix_patterns()},
        # After stripping, so that a prefix before an abbreviation is seen; then צה״ל is צהל and דו״ח is דוח.
        "hebrew_marks_dropped": {"type": "pattern_replace", "pattern": f"[{GERESH}{GERSHAYIM}]", "replacement": ""},
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


def analysis() -> Json:
    """The `analysis` block of the index settings."""
    hebrew = ["hebrew_points", "hebrew_maqaf", "hebrew_quoted_word", "hebrew_gershayim", "hebrew_geresh"]
    return {
        "char_filter": _char_filters(),
        "filter": _filters(),
        "tokenizer": _tokenizers(),
        "analyzer": {
            PREFIX_ANALYZER: {
                "type": "custom",
                "char_filter": [*hebrew, "hebrew_before_latin", "thousands"],
                "tokenizer": "standard",
                "filter": [
                    "lowercase",
                    "asciifolding",
                    "hebrew_prefixes",
                    "hebrew_marks_dropped",
                    "not_empty",
                    "unique_at_position",
                ],
            },
            EXACT_ANALYZER: {
                "type": "custom",
                "char_filter": [*hebrew, "invisible_spaces"],
                "tokenizer": "identifier",
                "filter": ["lowercase", "edge_marks_dropped", "identifier_prefixes", "not_empty", "unique_at_position"],
            },
            ENGLISH_ANALYZER: {
                "type": "custom",
                "char_filter": [*hebrew, "hebrew_before_latin"],
                "tokenizer": "standard",
                "filter": [
                    "english_possessive",
                    "lowercase",
                    "asciifolding",
                    "latin_only",
                    "not_empty",
                    "english_stop",
                    "english_stemmer",
                ],
            },
        },
    }
